"""A simulated fleet for `--demo`, behind the same interface as the real one."""
