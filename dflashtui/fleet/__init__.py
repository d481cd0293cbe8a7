"""All hosts: kept connected, their newest values, and what changed."""
