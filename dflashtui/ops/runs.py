"""The runs of a unit, read off what its manager said; and what one run has said that another one has not. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from dflashtui.model.base import Value
from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.journal import JournalItem

STARTING, STARTED = "7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf"
FAILED_TO_START, STOPPED = "be02cf6855d2428ba40df7e9d022f03d", "9d1aaa27d60140bd96365438aad20286"
EXITED, FAILED = "98e322203f7a4ed290d09fe03c09fe15", "d9b373ed55a64feb8242e02dbe79a49c"
DEACTIVATED = "7ad2d189f7e94e70a38c781354912448"
RUN_IDS = (STARTING, STARTED, FAILED_TO_START, STOPPED, EXITED, FAILED, DEACTIVATED)
"""sd-messages.h: everything about begin and end."""
FAILED_IDS = (FAILED, FAILED_TO_START)
RESULT = re.compile(r"Failed with result '([\w-]{1,40})'")
UNTOLD = "its end was not told"
STATUS = re.compile(r"code=(\w+), status=(\w+/\w+|\d+)")


class Run(Value):
    """One start to one stop of a unit."""

    invocation_id: str
    started_at: datetime
    ended_at: datetime | None = None
    """`None`: it goes on, or its end was not told."""
    result: str | None = None
    """`exit-code`, `signal`, `success`, …, as systemd names them; `UNTOLD`: not the newest run, and no end was told
    (the host went down); `None`: not ended."""
    status: str | None = None
    """`exited 1/FAILURE`."""

    @property
    def is_good(self) -> bool:
        """Whether it goes on, or ended as it should; one that a host took down with it did not fail by itself."""
        return self.result in {None, "success", UNTOLD}


def runs_of(items: Iterable[JournalItem]) -> tuple[Run, ...]:
    """From the manager's words about one unit, oldest first; newest run first."""
    runs: dict[str, Run] = {}
    for item in items:
        if isinstance(item, JournalEntry) and item.from_manager and item.invocation_id:
            run = runs.get(item.invocation_id) or Run(invocation_id=item.invocation_id, started_at=item.at)
            runs[item.invocation_id] = run.model_copy(update=_change(item, run))
    newest, *others = sorted(runs.values(), key=lambda run: run.started_at, reverse=True) or (None,)
    return (*((newest,) if newest else ()), *map(_over, others))


def _over(run: Run) -> Run:
    """A unit has one run at a time: what came before the newest has ended."""
    return run if run.ended_at else run.model_copy(update={"result": run.result or UNTOLD})


def _change(entry: JournalEntry, run: Run) -> dict[str, object]:
    match entry.message_id:
        case str(mark) if mark == EXITED:
            found = STATUS.search(entry.message)
            return {"ended_at": entry.at, "status": f"{found[1]} {found[2]}" if found else None}
        case str(mark) if mark == FAILED:
            found = RESULT.search(entry.message)
            return {"ended_at": entry.at, "result": found[1] if found else "failed"}
        case str(mark) if mark in {DEACTIVATED, STOPPED}:
            return {"ended_at": run.ended_at or entry.at, "result": run.result or "success"}
        case _:
            return {}


MASKS = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<id>"),
    (re.compile(r"\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
    (re.compile(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?"), "#"),
)
LONGEST_MASKED = 2000


def without_numbers(text: str) -> str:
    """The text with numbers, addresses, ids and times masked: what two runs can have in common."""
    masked = text[:LONGEST_MASKED]
    for pattern, put in MASKS:
        masked = pattern.sub(put, masked)
    return masked.strip()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one run has said that the other one has not."""

    new: tuple[JournalEntry, ...]
    """Lines of this run that the other one did not have, one of each kind, in order."""
    missing: tuple[JournalEntry, ...]
    """Lines of the other run that this one did not have."""
    part_at: JournalEntry | None
    """The first line of this run that the other one did not have: here they part."""
    last_common: JournalEntry | None
    """The line before it."""
    expected: JournalEntry | None
    """What the other run said after that line."""


def compared(run: Sequence[JournalItem], good: Sequence[JournalItem]) -> Comparison:
    """Two runs of one unit, each oldest first; progress bars and order do not matter, only what is said at all."""
    ours, theirs = _kinds(run), _kinds(good)
    known, said = {kind for kind, _ in theirs}, {kind for kind, _ in ours}
    new, missing = _unlike(ours, known), _unlike(theirs, said)
    part = next((place for place, (kind, _) in enumerate(ours) if kind not in known), None)
    last = ours[part - 1] if part else None
    return Comparison(
        new=new,
        missing=missing,
        part_at=ours[part][1] if part is not None else None,
        last_common=last[1] if last else None,
        expected=_after(theirs, last[0]) if last else (theirs[0][1] if theirs else None),
    )


def _kinds(items: Sequence[JournalItem]) -> list[tuple[str, JournalEntry]]:
    entries = (item for item in items if isinstance(item, JournalEntry))
    return [(kind, entry) for entry in entries if (kind := without_numbers(entry.message.rsplit("\r", 1)[-1]))]


def _unlike(kinds: Iterable[tuple[str, JournalEntry]], known: set[str]) -> tuple[JournalEntry, ...]:
    found: dict[str, JournalEntry] = {}
    for kind, entry in kinds:
        if kind not in known:
            found.setdefault(kind, entry)
    return tuple(found.values())


def _after(kinds: Sequence[tuple[str, JournalEntry]], kind: str) -> JournalEntry | None:
    """What follows the last line of a kind."""
    places = [place for place, (other, _) in enumerate(kinds) if other == kind]
    return kinds[places[-1] + 1][1] if places and places[-1] + 1 < len(kinds) else None
