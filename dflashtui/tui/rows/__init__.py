"""Values as rows: one module for each kind of list. Pure."""
