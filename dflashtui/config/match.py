"""`--host GLOB` and `--unit GLOB` against the inventory. A glob that can match nothing is wrong use, not silence."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from dflashtui.config.names import GLOB_CHARACTERS, UNIT_SUFFIXES
from dflashtui.config.words import proposal, shown
from dflashtui.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.config.model import Config, Host

STEP = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)


def match_hosts(config: Config, globs: Sequence[str]) -> tuple[Host, ...]:
    """The hosts that any glob names, in the order of the inventory; no glob: all. Raises `ConfigError`."""
    names = [host.name for host in config.hosts]
    _refuse_idle("--host", [glob for glob in globs if not any(fnmatchcase(name, glob) for name in names)], names)
    if not globs:
        return config.hosts
    return tuple(host for host in config.hosts if any(fnmatchcase(host.name, glob) for glob in globs))


def match_units(config: Config, globs: Sequence[str]) -> tuple[str, ...]:
    """The globs, complete as systemctl would complete them (`sglang` is `sglang.service`).

    Raises `ConfigError` for one that no watched unit, known now or found later by a pattern, can match.
    """
    complete = tuple(map(complete_unit_glob, globs))
    watched = tuple(dict.fromkeys(name for host in config.hosts for name in config.watched(host)))
    _refuse_idle("--unit", [glob for glob in complete if not any(may_meet(glob, name) for name in watched)], watched)
    return complete


def complete_unit_glob(text: str) -> str:
    """A unit's name with its suffix; patterns as they are."""
    if GLOB_CHARACTERS & set(text) or text.rpartition(".")[2] in UNIT_SUFFIXES:
        return text
    return f"{text}.service"


def _refuse_idle(option: str, idle: Iterable[str], names: Sequence[str]) -> None:
    noun = option.removeprefix("--")
    problems = [f"{option} {shown(glob)}: matches no {noun}{proposal(glob, names, f'{noun}s')}" for glob in idle]
    if problems:
        raise ConfigError(problems)


def may_meet(one: str, other: str) -> bool:
    """Whether some name can match both globs. A set in brackets is taken for any character."""
    return _meet(_steps(one), _steps(other))


def _steps(glob: str) -> tuple[str, ...]:
    """One entry for each character to match; `*` and `?` for wildcards."""
    return tuple("?" if len(step) > 1 else step for step in STEP.findall(glob))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Step by step: `reached[j]` says that `one` so far and the first j steps of `other` have a name in common."""
    reached = [set(other[:end]) <= {"*"} for end in range(len(other) + 1)]
    for mine in one:
        row = [reached[0] and mine == "*"]
        for at, theirs in enumerate(other):
            if "*" in (mine, theirs):  # the star matches nothing, or this step too
                row.append(row[at] or reached[at + 1])
            else:
                row.append(reached[at] and (mine == theirs or "?" in (mine, theirs)))
        reached = row
    return reached[-1]
