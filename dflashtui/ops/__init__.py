"""What a person starts: actions, audit, and later push, probe, preflight."""
