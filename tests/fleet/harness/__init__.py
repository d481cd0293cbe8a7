"""Boots three real hosts (systemd, journald, sshd) in containers on this machine: see tests/fleet/README.md."""
