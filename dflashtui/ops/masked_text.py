"""Secrets in whole files, line by line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.mask import MASK, masked

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBE = "a1b2c3d4"
"""Stands for the value that a continued line leaves for the next one."""


def masked_lines(lines: Sequence[str]) -> list[str]:
    """Each line masked as `mask.masked` does, also where a backslash leaves a secret for the next line."""
    found: list[str] = []
    is_secret = False
    for line in lines:
        found.append(_without_first_word(line) if is_secret else masked(line))
        body = line.rstrip()
        is_secret = body.endswith("\\") and masked(f"{body[:-1].rstrip()} {PROBE}").endswith(MASK)
    return found


def _without_first_word(line: str) -> str:
    body = line.lstrip()
    _, space, rest = body.partition(" ")
    return line[: len(line) - len(body)] + MASK + space + masked(rest)
