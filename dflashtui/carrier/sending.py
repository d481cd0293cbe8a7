"""The giving side: bytes of files, one after the other, and nothing else on stdout."""

from __future__ import annotations

import sys
from typing import Any, BinaryIO, Dict

from dflashtui.carrier.places import Places, Refusal

CHUNK = 1 << 20


def send(order: Dict[str, Any], places: Places) -> None:
    """`order["files"]`: path and size of each. Raises `Refusal` if a file is not as it was when it was looked at."""
    for path, size in order["files"]:
        try:
            with open(places.target(path), "rb") as file:
                _copy(file, sys.stdout.buffer, size, path)
        except OSError as problem:
            raise Refusal("%s: %s" % (path, problem.strerror or problem)) from problem
    sys.stdout.buffer.flush()


def _copy(file: BinaryIO, out: BinaryIO, size: int, path: str) -> None:
    left = size
    while left:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            break
        out.write(chunk)
        left -= len(chunk)
    if left or file.read(1):
        raise Refusal("%s: changed while it was read" % path)
