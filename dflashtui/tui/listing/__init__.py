"""Lists with a cursor that stays on its row."""
