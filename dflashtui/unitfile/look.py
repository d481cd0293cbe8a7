"""A unit taken apart once for all rules of the advice, and what a rule answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from dflashtui.model.base import Value
from dflashtui.unitfile.command import commands, settled, start_commands
from dflashtui.unitfile.reading import read_cat
from dflashtui.unitfile.words import words

if TYPE_CHECKING:
    from dflashtui.unitfile.command import Command
    from dflashtui.unitfile.reading import Entry, Header, Slip, UnitFile

VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
ENGINES = ("sglang", "vllm")
EXEC_KEYS = ("ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost", "ExecCondition")


class Advice(Value):
    """One thing in a unit file that will bite."""

    id: str
    """The rule; stable."""
    level: Literal["error", "warning", "note"]
    """`error`: systemd ignores or refuses it, or the start fails; `warning`: it bites later; `note`: worth knowing."""
    line: int | None
    """From 1 on, in `file`; `None`: something that is not there."""
    message: str
    """What it does, in a sentence. Never the value of a secret; may hold text of the file: not yet `printable()`."""
    remedy: str
    """What to write in its place."""
    file: str | None = None
    """The drop-in or unit file, where several were read."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One `NAME=value` of `Environment=`."""

    name: str
    value: str
    """`%%` as one character, other specifiers as they are. May be a secret."""
    entry: Entry


@dataclass(frozen=True)
class Look:
    """The unit as the rules see it."""

    text: str
    name: str | None = None
    """The unit's full name, where it is known."""

    @cached_property
    def unit(self) -> UnitFile:
        """Everything that is assigned."""
        return read_cat(self.text)

    @cached_property
    def starts(self) -> tuple[Command, ...]:
        """What `ExecStart=` runs."""
        return start_commands(self.unit)

    @cached_property
    def commands(self) -> tuple[tuple[Entry, Command], ...]:
        """Every command of every `Exec…=` that can be read."""
        found = []
        for key in EXEC_KEYS:
            for entry in self.unit.all("Service", key):
                try:
                    found += [(entry, command) for command in commands(entry.value, entry.line)]
                except ValueError:
                    continue
        return tuple(found)

    @cached_property
    def environment(self) -> tuple[Assignment, ...]:
        """What `Environment=` sets."""
        found = []
        for entry in self.unit.all("Service", "Environment"):
            try:
                each = [VARIABLE.match(settled(word.text)) for word in words(entry.value)]
            except ValueError:
                continue
            found += [Assignment(one[1], one[2], entry) for one in each if one]
        return tuple(found)

    @cached_property
    def variables(self) -> dict[str, Assignment]:
        """The assignments that count, by name."""
        return {each.name: each for each in self.environment}

    @cached_property
    def engine(self) -> str | None:
        """`sglang` or `vllm`, if the command names one."""
        started = [word for command in self.starts for word in command.argv[:4]]
        return next((engine for engine in ENGINES if any(engine in word for word in started)), None)

    @cached_property
    def is_python(self) -> bool:
        """A Python interpreter, or an engine's own console script, is started."""
        return self.engine is not None or any(command.is_python for command in self.starts)

    @property
    def is_service(self) -> bool:
        """It has something to start, or should have."""
        has_section = any(header.section == "Service" for header in self.unit.headers)
        return has_section or (bool(self.unit.entries) and (self.name or ".service").endswith(".service"))

    @property
    def type(self) -> str:
        """`Type=`, with systemd's default."""
        return self.unit.value("Service", "Type", "dbus" if self.unit.value("Service", "BusName") else "simple")


def at(
    place: Entry | Header | Slip | None, id_: str, level: Literal["error", "warning", "note"], message: str, remedy: str
) -> Advice:
    """Advice about a place in the file; `None`: about what is missing."""
    line, file = (place.line, place.file) if place else (None, None)
    return Advice(id=id_, level=level, line=line, message=message, remedy=remedy, file=file)
