"""The inventory: hosts.toml as values."""
