"""Which entries are asked for, and how: arguments of journalctl(1). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

ManagerKind = Literal["system", "user"]

KERNEL = "kernel"
"""Asked for like a unit, for units have a suffix: the kernel's own entries."""

COREDUMP_STORED = "fc2e22bc6ee647b6b90729ab34a250b1"
SUPPRESSED = "a596d6fe7bfa4994828e72309e95d61e"
JOURNAL_STARTED = "f77379a8490b408bbe5f6940505a777b"
JOURNAL_STOPPED = "d93fb3c9c24d451a97cea615ce59c00b"
KERNEL_MISSED = "e9bf28e6e834481bb6f48f548ad13606"

OUTPUT_FIELDS = (
    "MESSAGE", "PRIORITY", "MESSAGE_ID", "SYSLOG_IDENTIFIER", "_COMM", "_PID", "_UID", "_TRANSPORT",
    "_STREAM_ID", "_LINE_BREAK", "N_DROPPED", "_SYSTEMD_UNIT", "_SYSTEMD_USER_UNIT", "UNIT", "USER_UNIT",
    "OBJECT_SYSTEMD_UNIT", "OBJECT_SYSTEMD_USER_UNIT", "COREDUMP_UNIT", "COREDUMP_USER_UNIT",
    "_SYSTEMD_INVOCATION_ID", "INVOCATION_ID", "USER_INVOCATION_ID",
)  # fmt: skip
JSON = ("--quiet", "--output=json", "--all", f"--output-fields={','.join(OUTPUT_FIELDS)}")
"""`--all`: without it a field of 4 KiB or more is null."""
PLACE = ("--quiet", "--output=json", "--output-fields=MESSAGE_ID")
"""Cursor, time and boot of an entry come with every field list."""


@dataclass(frozen=True, slots=True)
class JournalAccess:
    """How the journal of one host may be read."""

    manager: ManagerKind = "system"
    uid: int = 0
    """Of the login; whose user manager is meant when `manager` is `user`."""
    prefix: tuple[str, ...] = ()
    """`sudo -n --`, if that is what it takes."""
    kernel: bool = True
    """Whether the kernel's entries may be read."""

    def argv(self, *arguments: str) -> tuple[str, ...]:
        """The command."""
        return (*self.prefix, "journalctl", *arguments)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a person asked for besides the unit, in journalctl's own words."""

    since: str | None = None
    grep: str | None = None
    priority: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """`--since` cannot stand beside a cursor: see `filters`."""
        return (*((f"--since={self.since}",) if self.since else ()), *self.filters)

    @property
    def filters(self) -> tuple[str, ...]:
        """Those that hold for later entries too."""
        return (
            *((f"--grep={self.grep}",) if self.grep else ()),
            *((f"--priority={self.priority}",) if self.priority else ()),
        )


def unit_matches(units: Collection[str], access: JournalAccess) -> tuple[str, ...]:
    """What `-u` or `--user-unit` stands for, as plain matches (systemd 252, `add_matches_for_unit`); also `KERNEL`.

    `-u` itself cannot be used beside the kernel's entries: it is joined to other matches by AND.
    """
    names = sorted(set(units) - {KERNEL})
    groups = [["_TRANSPORT=kernel"]] if KERNEL in units else []
    if names:
        groups = [*(_user_groups(names, access.uid) if access.manager == "user" else _system_groups(names)), *groups]
    return _either(groups)


def _system_groups(names: Sequence[str]) -> list[list[str]]:
    return [
        [f"_SYSTEMD_UNIT={name}" for name in names],
        [*(f"UNIT={name}" for name in names), "_PID=1"],
        [*(f"OBJECT_SYSTEMD_UNIT={name}" for name in names), "_UID=0"],
        [*(f"COREDUMP_UNIT={name}" for name in names), "_UID=0", f"MESSAGE_ID={COREDUMP_STORED}"],
    ]


def _user_groups(names: Sequence[str], uid: int) -> list[list[str]]:
    return [
        [*(f"_SYSTEMD_USER_UNIT={name}" for name in names), f"_UID={uid}"],
        [*(f"USER_UNIT={name}" for name in names), f"_UID={uid}"],
        [*(f"OBJECT_SYSTEMD_USER_UNIT={name}" for name in names), f"OBJECT_UID={uid}", "_UID=0"],
        [*(f"COREDUMP_USER_UNIT={name}" for name in names), f"_UID={uid}"],
    ]


def _either(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Matches of one field are alternatives, of several fields conditions; `+` stands between whole groups."""
    words: list[str] = []
    for group in groups:
        words += ["+", *group] if words else [*group]
    return tuple(words)


def follow_matches(units: Collection[str], access: JournalAccess) -> tuple[str, ...]:
    """The units, the kernel, and what journald says about itself."""
    marks = ("_TRANSPORT=driver", *(f"MESSAGE_ID={mark}" for mark in (JOURNAL_STARTED, JOURNAL_STOPPED, KERNEL_MISSED)))
    kernel = ("+", "_TRANSPORT=kernel") if access.kernel else ()
    of_units = unit_matches(units, access)
    return (*of_units, *(("+",) if of_units else ()), *marks, *kernel)


def invocation_matches(invocation_id: str, access: JournalAccess) -> tuple[str, ...]:
    """One run of a unit: its own lines and the manager's about it."""
    own = [f"_SYSTEMD_INVOCATION_ID={invocation_id}"]
    if access.manager == "user":
        return _either([own, [f"USER_INVOCATION_ID={invocation_id}", f"_UID={access.uid}"]])
    return _either([own, [f"INVOCATION_ID={invocation_id}", "_PID=1"]])


def manager_matches(unit: str, message_ids: Iterable[str], access: JournalAccess) -> tuple[str, ...]:
    """What the manager itself says about a unit, by message id."""
    ids = [f"MESSAGE_ID={one}" for one in message_ids]
    if access.manager == "user":
        return (f"USER_UNIT={unit}", f"_UID={access.uid}", *ids)
    return (f"UNIT={unit}", "_PID=1", *ids)


def newest_argv(access: JournalAccess) -> tuple[str, ...]:
    """The newest entry of all."""
    return access.argv(*PLACE, "--lines=1")


def at_cursor_argv(access: JournalAccess, cursor: str) -> tuple[str, ...]:
    """The entry of a cursor, or whatever comes next to it: the filter of a follower would hide which."""
    return access.argv(*PLACE, f"--cursor={cursor}", "--lines=1")


def entry_argv(access: JournalAccess, cursor: str) -> tuple[str, ...]:
    """The entry of a cursor with all its fields."""
    return access.argv("--quiet", "--output=json", "--all", f"--cursor={cursor}", "--lines=1")


def from_cursor_argv(access: JournalAccess, cursor: str, matches: Sequence[str]) -> tuple[str, ...]:
    """From a cursor (inclusive) up to now."""
    return access.argv(*JSON, f"--cursor={cursor}", *matches)


def up_to_cursor_argv(access: JournalAccess, cursor: str, units: Collection[str], lines: int) -> tuple[str, ...]:
    """The last lines of these units up to a cursor (inclusive), newest first."""
    matches = unit_matches(units, access)
    return access.argv(*JSON, "--reverse", f"--cursor={cursor}", f"--lines={lines}", *matches)


def follow_argv(
    access: JournalAccess, matches: Sequence[str], position: Sequence[str], filters: Sequence[str] = ()
) -> tuple[str, ...]:
    """Endless, from a position: `--cursor=C` (inclusive, see `ResumePoint`), `--since=@T`, or the beginning."""
    return access.argv("--follow", "--no-tail", *JSON, *position, *filters, *matches)


def history_argv(
    access: JournalAccess, matches: Sequence[str], *, lines: int | None, before: str | None, narrowing: Narrowing
) -> tuple[str, ...]:
    """Newest first. With `before` that cursor's own entry comes first if it matches, so one more is asked for.

    `--after-cursor` is never used: with a filter it loses an entry up to systemd 254.
    """
    count = () if lines is None else (f"--lines={lines + 1 if before else lines}",)
    if before:
        return access.argv(*JSON, "--reverse", f"--cursor={before}", *count, *narrowing.filters, *matches)
    return access.argv(*JSON, "--reverse", *count, *narrowing.arguments, *matches)
