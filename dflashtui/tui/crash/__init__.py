"""The crash card, and the starts that lead to it."""
