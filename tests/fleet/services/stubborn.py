"""Ignores SIGTERM: only SIGKILL ends it."""

import signal
import sys

signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write("ignoring SIGTERM\n")
sys.stdout.flush()
while True:
    signal.pause()
