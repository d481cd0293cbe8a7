"""The headless front end: --check."""
