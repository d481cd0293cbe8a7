"""The pusher as bytes for the stdin of a host's python3. Runs on the console; standard library alone."""

from __future__ import annotations

import json
from functools import lru_cache

from dflashtui.shipped.pack import ARGV, packed, program

PACKAGE = "dflashtui.pusher"
MODULES = (
    "trouble",
    "places",
    "files",
    "lock",
    "pending",
    "manager",
    "records",
    "look",
    "change",
    "overlays",
    "stage",
    "undo",
    "undoing",
    "program",
    "main",
)
"""In the order of their imports."""
__all__ = ["ARGV", "MODULES", "PACKAGE", "payload", "text"]


@lru_cache(maxsize=1)
def text() -> str:
    """The program."""
    return program(PACKAGE, MODULES)


@lru_cache(maxsize=1)
def _packed() -> bytes:
    return packed(text())


def payload(*, manager: str, who: str, root: str = "") -> bytes:
    """What `ARGV` reads first: a length, the packed program, and the first order.

    `manager`: `system` or `user`; `who`: the person, for the lock and the records; `root`: a folder in place of `/`.
    """
    return _packed() + json.dumps({"manager": manager, "who": who, "root": root}).encode() + b"\n"
