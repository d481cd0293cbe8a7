"""One modal screen for each question."""
