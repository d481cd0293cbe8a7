"""The boots that a journal knows: `journalctl --list-boots`, of systemd 252 and of the table of later ones. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from dflashtui.model.base import Value
from dflashtui.text import decoded

BOOTS_ARGV = ("env", "TZ=UTC", "LC_ALL=C", "journalctl", "--quiet", "--no-pager", "--list-boots")
"""Times would be in the host's zone and words."""
STAMP = r"\w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC"
LINE = re.compile(rf"^\s*(-?\d+)\s+([0-9a-f]{{32}})\s+{STAMP}\s*(?:—|\s)\s*{STAMP}")
FORM = "%Y-%m-%d %H:%M:%S"


class Boot(Value):
    """One boot of a host, as far as its journal knows it."""

    number: int
    """0: the present one, -1: the one before."""
    boot_id: str
    first_at: datetime
    last_at: datetime


def boots_of(printed: bytes) -> tuple[Boot, ...]:
    """Newest first; lines in another form are left out."""
    boots = (_boot(line) for line in decoded(printed).splitlines())
    return tuple(sorted(filter(None, boots), key=lambda boot: boot.first_at, reverse=True))


def _boot(line: str) -> Boot | None:
    found = LINE.match(line)
    try:
        return _value(found) if found else None
    except ValueError:  # digits that are no time of any day
        return None


def _value(found: re.Match[str]) -> Boot:
    return Boot(number=int(found[1]), boot_id=found[2], first_at=_at(found[3]), last_at=_at(found[4]))


def _at(text: str) -> datetime:
    return datetime.strptime(text, FORM).replace(tzinfo=UTC)
