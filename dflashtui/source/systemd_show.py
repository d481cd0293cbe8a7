"""What `systemctl` prints, brought into the types of the bus. Pure.

Texts are those of systemctl under LC_ALL=C and TZ=UTC (systemd-ssh facts, part 4).
"""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError
from dflashtui.source.systemd_values import EPOCH, PROPERTIES, UNSET, Kind, Values
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROPERTY_LINE = re.compile(r"([A-Za-z][A-Za-z0-9]*)=(.*)", re.DOTALL)
MISSING = frozenset({"", "[not set]", "n/a", "infinity"})
SPAN_USEC = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
    "month": 2_629_800_000_000,
    "y": 31_557_600_000_000,
}
SPAN_PART = re.compile(r"(\d+)([a-z]+)")


def blocks(output: bytes) -> list[dict[str, str]]:
    """`systemctl show`: properties as text, one block a unit. A line without `Key=` continues the value before it."""
    return list(_blocks(decoded(output).split("\n")))


def _blocks(lines: list[str]) -> Iterator[dict[str, str]]:
    block: dict[str, str] = {}
    last = None
    for line in lines:
        if found := PROPERTY_LINE.match(line):
            last = found[1]
            block[last] = found[2]
        elif line and last:
            block[last] += f"\n{line}"
        elif block:
            yield block
            block, last = {}, None
    if block:
        yield block


def typed(block: dict[str, str]) -> Values:
    """The properties that `unit_status` reads, typed. Raises `DecodeError` for a number or time of unknown form."""
    return {name: _typed(name, kind, block[name]) for name, kind in PROPERTIES.items() if name in block}


def _typed(name: str, kind: Kind, text: str) -> object:
    try:
        return READERS[kind](text)
    except ValueError as problem:
        raise DecodeError("systemctl show", f"{name}={text}".encode()) from problem


def _error(text: str) -> list[str]:
    """`org.freedesktop.systemd1.NoSuchUnit "Unit x.service not found."`"""
    name, _, words = text.partition(" ")
    return [name, words.strip('"')]


def time_usec(text: str) -> int:
    """Microseconds since the epoch of `Tue 2026-12-01 04:33:12.201057 UTC`. Raises `ValueError`."""
    match text.split():
        case [_, date, time, "UTC"]:
            moment = datetime.fromisoformat(f"{date} {time}").replace(tzinfo=UTC)
        case _:
            raise ValueError(f"{text!r} is no time in UTC")
    span = moment - EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def span_usec(text: str) -> int:
    """Microseconds of `1min 30s`, `100ms`, `1month 2w`; `0`. Raises `ValueError`."""
    if text == "0":
        return 0
    total = 0
    for word in text.split():
        part = SPAN_PART.fullmatch(word)
        if part is None or part[2] not in SPAN_USEC:
            raise ValueError(f"{text!r} is no span of time")
        total += int(part[1]) * SPAN_USEC[part[2]]
    return total


def first_words(output: bytes) -> list[str]:
    """The first column of a list that systemctl prints with `--no-legend --plain`."""
    return [line.split(maxsplit=1)[0] for line in decoded(output).splitlines() if line.strip()]


READERS: dict[Kind, Callable[[str], object]] = {
    Kind.TEXT: str,
    Kind.NUMBER: lambda text: UNSET if text in MISSING else int(text),
    Kind.FLAG: {"yes": True, "no": False}.get,
    Kind.TIME: lambda text: 0 if text in MISSING else time_usec(text),
    Kind.SPAN: lambda text: UNSET if text in MISSING else span_usec(text),
    Kind.LIST: shlex.split,
    Kind.ID: bytes.fromhex,
    Kind.ERROR: _error,
}
