"""Why a unit may have fewer lines in the journal than it wrote: they go elsewhere, or are not kept. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.source.systemd_show import blocks
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.transport.base import Completed

LOOK = """
echo "Kept=$(ls -t /run/log/journal/*/system.journal /var/log/journal/*/system.journal 2>/dev/null | head -n 1)"
systemd-analyze cat-config systemd/journald.conf 2>/dev/null | grep '^Storage=' | tail -n 1
exec systemctl "$@"
"""
"""A constant program of sh(1): where journald wrote last, what it was told, what the unit says of its output."""
TO_JOURNAL = frozenset({"", "inherit", "journal", "journal+console", "kmsg", "kmsg+console", "syslog"})
DAMAGED = re.compile(rb"^Journal file .+, ignoring file\.?$", re.MULTILINE)
VOLATILE = "the journal of this host is kept in memory: what is older than its boot is gone"
NOTHING_KEPT = "journald keeps nothing on this host (Storage=none)"


def where_argv(unit: str, manager: ManagerKind) -> tuple[str, ...]:
    """Asks where the lines of a unit are."""
    user = ("--user",) if manager == "user" else ()
    show = ("show", "--property=StandardOutput,LogNamespace", "--", unit)
    return ("env", "LC_ALL=C", "sh", "-c", LOOK, "sh", *user, *show)


def where(done: Completed) -> str | None:
    """In words; `None`: in the journal, or nobody knows."""
    found = blocks(done.stdout)
    if done.exit_status != 0 or not found:
        return None
    if found[0].get("Storage") == "none":
        return NOTHING_KEPT
    return _elsewhere(found[0]) or (VOLATILE if found[0].get("Kept", "").startswith("/run/") else None)


def _elsewhere(unit: Mapping[str, str]) -> str | None:
    namespace, output = unit.get("LogNamespace", ""), unit.get("StandardOutput", "")
    if output not in TO_JOURNAL:
        return f"what it prints does not go to the journal: StandardOutput={printable(output, limit=80)}"
    if namespace:
        name = printable(namespace, limit=80)
        return f"its lines are in the journal namespace {name}, not here: journalctl --namespace={name}"
    return None


def damaged(stderr: bytes) -> str | None:
    """What journalctl says of files that it cannot read; it reads the others, and its status is 0."""
    count = len(DAMAGED.findall(stderr))
    if not count:
        return None
    files = "a journal file" if count == 1 else f"{count} journal files"
    return f"{files} of this host cannot be read: the lines in there are missing"
