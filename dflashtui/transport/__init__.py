"""Ways to a host: the local machine or SSH, behind one protocol."""
