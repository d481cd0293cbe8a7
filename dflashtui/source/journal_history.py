"""What a one-shot read printed, newest first, as items, oldest first. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_entry import decode, decode_entry
from dflashtui.source.journal_reading import REBOOTED, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.transport.base import Completed

HISTORY_LIMIT_BYTES = 64 * 2**20
TOO_MUCH = "older lines are left out: their text is too large to be fetched at once"


def history_items(
    done: Completed, unit: str, manager: ManagerKind, *, lines: int | None, before: str | None
) -> tuple[JournalItem, ...]:
    """At most `lines` items and the gaps between them; the entry of `before` itself is not among them."""
    printed = done.stdout.split(b"\n")
    # the last piece is empty, or a line that was cut at the limit
    newest_first = list(_readable(printed[:-1], (unit,), manager))
    if before and newest_first and newest_first[0].cursor == before:
        newest_first = newest_first[1:]
    kept = newest_first[:lines]
    oldest_first = tuple(with_boots_marked(reversed(kept)))
    if done.truncated and oldest_first:
        return (JournalGap(at=oldest_first[0].at, reason=TOO_MUCH, unit=unit), *oldest_first)
    return oldest_first


def forward_items(
    done: Completed, unit: str, manager: ManagerKind, *, lines: int | None, after: str | None
) -> tuple[JournalItem, ...]:
    """What was printed oldest first, without the entry of `after`; text that is too large ends the page early."""
    printed = done.stdout.split(b"\n")
    items = list(_readable(printed[:-1], (unit,), manager))
    if after and items and items[0].cursor == after:
        items = items[1:]
    return tuple(with_boots_marked(items[:lines]))


def _readable(lines: Sequence[bytes], units: tuple[str, ...], manager: ManagerKind) -> Iterator[JournalItem]:
    """Entries; a spoilt one is a gap beside the entry before it."""
    last: JournalItem | None = None
    for line in lines:
        try:
            last = decode(line, units, manager)
        except DecodeError:
            if last is None or not line.startswith(b"{"):
                continue
            yield JournalGap(at=last.at, reason=UNREADABLE, unit=units[0], entries_lost=1)
        else:
            yield last


def with_boots_marked(items: Iterable[JournalItem]) -> Iterator[JournalItem]:
    """The same, with a gap between the entries of two boots."""
    boot_id: str | None = None
    for item in items:
        if isinstance(item, JournalEntry) and item.boot_id:
            if boot_id and item.boot_id != boot_id:
                yield JournalGap(at=item.at, reason=REBOOTED, unit=item.unit)
            boot_id = item.boot_id
        yield item


def first_entry(printed: bytes) -> JournalEntry | None:
    """`None`: nothing was printed. Raises `DecodeError` if something else than an entry was."""
    lines = [line for line in printed.split(b"\n") if line.startswith(b"{")]
    if not lines and printed.strip():
        raise DecodeError("journalctl", printed)
    return decode_entry(lines[0]) if lines else None
