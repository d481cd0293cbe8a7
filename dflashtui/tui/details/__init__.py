"""What a detail pane says, line by line. Pure."""
