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
    found = (LINE.match(line) for line in decoded(printed).splitlines())
    boots = [
        Boot(number=int(one[1]), boot_id=one[2], first_at=_at(one[3]), last_at=_at(one[4])) for one in found if one
    ]
    return tuple(sorted(boots, key=lambda boot: boot.first_at, reverse=True))


def _at(text: str) -> datetime:
    return datetime.strptime(text, FORM).replace(tzinfo=UTC)
