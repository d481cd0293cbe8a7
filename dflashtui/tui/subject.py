"""What a row is about: its identity through every refresh, sort and filter. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Kinds of rows."""

    GROUP = "group"
    HOST = "host"
    UNIT = "unit"
    GPU = "gpu"
    PROCESS = "process"
    EVENT = "event"


class Subject(NamedTuple):
    """One thing on the fleet. `name`: unit name, GPU index, pid or number of the event."""

    kind: Kind
    host: str
    name: str = ""


def host_subject(host: str) -> Subject:
    """A host."""
    return Subject(Kind.HOST, host)


def unit_subject(host: str, unit: str) -> Subject:
    """A unit of a host."""
    return Subject(Kind.UNIT, host, unit)


def gpu_subject(host: str, index: int) -> Subject:
    """A GPU of a host."""
    return Subject(Kind.GPU, host, str(index))
