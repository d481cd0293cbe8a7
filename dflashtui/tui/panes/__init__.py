"""What the views are made of: details drawn from values that are handed down."""
