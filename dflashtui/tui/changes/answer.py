"""What a person wants next after a difference or a result."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """A wish, and the hosts that it is about."""

    wish: str
    """`push`, `deploy`, `undo`, `edit`, `why`."""
    hosts: tuple[str, ...]
