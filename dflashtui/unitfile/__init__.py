"""Unit files: read as systemd reads them, quoted as it unquotes them, and what in them will bite. Pure."""
