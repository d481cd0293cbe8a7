"""The carrier as bytes for the stdin of an environment's interpreter. Runs on the console."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from dflashtui.shipped.pack import BOOTSTRAP, packed, program

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "dflashtui.carrier"
MODULES = ("places", "sending", "receiving", "swapping", "main")
"""In the order of their imports."""


def argv(python: str, *words: str) -> tuple[str, ...]:
    """The command that `payload` is for: isolated from the environment that it works on.

    `words` do nothing there: they tell who reads the command what it is for.
    """
    return (python, "-I", "-S", "-u", "-c", BOOTSTRAP, *words)


def payload(order: Mapping[str, object]) -> bytes:
    """What the command reads first; for `apply` the files' bytes follow."""
    return _program() + json.dumps(order).encode() + b"\n"


@lru_cache(maxsize=1)
def _program() -> bytes:
    return packed(program(PACKAGE, MODULES))
