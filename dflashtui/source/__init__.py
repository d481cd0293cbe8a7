"""What can be asked of a host."""
