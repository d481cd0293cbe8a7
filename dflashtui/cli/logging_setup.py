"""Where the program's own log goes: stderr with `-v`; for the console a file, as the terminal is taken."""

from __future__ import annotations

import logging
import os
import sys
from logging.handlers import RotatingFileHandler

from dflashtui import paths
from dflashtui.mask import masked
from dflashtui.text import printable

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"
LIMIT_BYTES = 2**20
LONGEST_LINE = 20_000


def log_to_stderr() -> None:
    """Everything, for `-v`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Discreet(FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.DEBUG)
    _quieten()


def log_to_file(*, verbose: bool) -> None:
    """Into the state folder, readable by its owner alone, 2 MiB at most; without a writable folder nowhere."""
    folder = paths.state_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler: logging.Handler = _PrivateFile(folder / paths.LOG_NAME, maxBytes=LIMIT_BYTES, backupCount=1)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(_Discreet(FORMAT))
    logging.basicConfig(handlers=[handler], level=logging.DEBUG if verbose else logging.WARNING)
    _quieten()


def _quieten() -> None:
    """The log of asyncssh has whole command lines, which may hold secrets."""
    for name in ("asyncio", "asyncssh", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)


class _Discreet(logging.Formatter):
    """Messages and tracebacks may quote a host: without secrets, and with nothing that a terminal acts upon."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(printable(masked(line), limit=LONGEST_LINE) for line in super().format(record).split("\n"))


class _PrivateFile(RotatingFileHandler):
    def _open(self):  # type: ignore[no-untyped-def] # noqa: ANN202 - the base class' own type
        return open(
            self.baseFilename,
            self.mode,
            encoding="utf-8",
            errors="backslashreplace",
            opener=lambda path, flags: os.open(path, flags, 0o600),
        )
