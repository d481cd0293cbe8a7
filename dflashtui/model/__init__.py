"""Values that the whole program speaks in: frozen, compared by value, free of I/O."""
