"""Which part of a unit's journal is wanted."""

from __future__ import annotations

from datetime import datetime

from dflashtui.model.base import Value
from dflashtui.model.journal import Priority


class JournalQuery(Value):
    """A page of a unit's journal: at most `lines` items that fit all the rest.

    The newest ones, unless `after` (a cursor), or `since` without an end, asks for those that come next to it. The
    entries of `before` and `after` themselves are never given. `grep` is what journalctl --grep takes (PCRE2).
    """

    lines: int | None = 500
    before: str | None = None
    after: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    invocation_id: str | None = None
    grep: str | None = None
    priority: Priority | None = None
    message_ids: tuple[str, ...] = ()
    """Only what the manager says about the unit with one of these ids (sd-messages.h)."""

    @property
    def is_forward(self) -> bool:
        """Whether the oldest fitting items are wanted."""
        return self.after is not None or (self.since is not None and self.until is None and self.before is None)
