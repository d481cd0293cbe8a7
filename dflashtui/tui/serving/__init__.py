"""Real requests to services, from the console: smoke and bench."""
