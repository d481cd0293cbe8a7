"""Environments of hosts on the screen: what differs."""
