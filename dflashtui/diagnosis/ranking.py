"""Which candidate is the cause (crash-log forms, part 5)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from dflashtui.diagnosis import roles
from dflashtui.diagnosis.candidate import nested
from dflashtui.diagnosis.form import Weight
from dflashtui.diagnosis.run import LIVED_ON_LINES

if TYPE_CHECKING:
    from dflashtui.diagnosis.candidate import Candidate
    from dflashtui.diagnosis.run import Run

NEAR_THE_END_LINES = 40
"""An error line further from the end of a log that tells of no end was none."""


class Tier(IntEnum):
    """The smaller explains more; within one the earliest is the cause."""

    EXPLICIT = 0
    OWN = 1
    BARE = 2
    """An exception's line without its traceback."""
    TELLING = 3
    SIGNALLED = 4
    """A process was ended by a signal that tells a reason, and said nothing itself."""
    GENERAL = 5
    VICTIM = 6
    ABORTED = 7
    """A process ended itself behind words of its own."""
    WRAPPER = 8
    DOUBTFUL = 9
    CUT = 10
    """A traceback that has not come to its exception."""
    STATUS = 11
    NOTHING = 12


TIERS = {
    Weight.EXPLICIT: Tier.EXPLICIT,
    Weight.FATAL: Tier.OWN,
    Weight.SIGNALLED: Tier.SIGNALLED,
    Weight.ASSERTED: Tier.TELLING,
    Weight.STATUS: Tier.STATUS,
}


def tier(candidate: Candidate) -> Tier:
    """Where the candidate stands."""
    if candidate.is_survived or candidate.life >= LIVED_ON_LINES or candidate.is_doubtful:
        return Tier.DOUBTFUL
    if candidate.trace:
        return _tier_of_trace(candidate)
    if candidate.weight is Weight.EXPLICIT and candidate.kind == "timeout":
        return Tier.OWN  # an exception before it explains it
    if candidate.weight is Weight.SIGNALLED and candidate.told_kind == "abort":
        return Tier.ABORTED
    place = TIERS.get(candidate.weight)
    return _tier_of_words(candidate) if place is None else place


def _tier_of_trace(candidate: Candidate) -> Tier:
    told = candidate.root
    if told is None or not (told.type or told.message):
        return Tier.CUT if candidate.trace and any(one.frames.count for one in candidate.trace.raised) else Tier.NOTHING
    role = _role(told.type, told.text)
    if role is None and told.type and roles.NOISE_TYPES.search(told.type):
        return Tier.DOUBTFUL
    if role is Tier.WRAPPER and nested(candidate):
        return Tier.BARE
    return Tier.OWN if role is None else role


def _tier_of_words(candidate: Candidate) -> Tier:
    role = _role(candidate.exception, candidate.text)
    if candidate.exception:
        return Tier.BARE if role is None else role
    if candidate.told_kind and role is None:
        return Tier.TELLING
    return Tier.GENERAL if role is None else role


def _role(exception: str | None, text: str) -> Tier | None:
    if roles.is_wrapper(exception, text):
        return Tier.WRAPPER
    return Tier.VICTIM if roles.is_victim(exception, text) else None


def ranked(run: Run) -> list[Candidate]:
    """The candidates that count, the cause first."""
    run.age()
    placed = [(tier(one), one) for one in run.candidates]
    counted = [entry for entry in placed if _counts(*entry, run)]
    counted.sort(key=lambda entry: _rank(entry[0], entry[1], run))
    return [candidate for _, candidate in counted]


def _rank(place: Tier, candidate: Candidate, run: Run) -> tuple[int, int, bool, int]:
    """Among those that only tell of another's failure an exception says more than a line."""
    is_line = place in {Tier.VICTIM, Tier.WRAPPER} and not candidate.name
    order = -candidate.order if place is Tier.DOUBTFUL else candidate.order
    return (place, _guilt(candidate, run), is_line, order)


def _guilt(candidate: Candidate, run: Run) -> int:
    """0 for the process that a launcher's table names as the first to fail, if any is named."""
    if not run.guilty:
        return 0
    rank = "".join(char for char in candidate.label or "" if char.isdigit())
    return 0 if {f"rank{rank}", f"pid{candidate.pid}"} & run.guilty else 1


def _counts(place: Tier, candidate: Candidate, run: Run) -> bool:
    """Whether it can be the cause at all: an error line of a service that lives is none."""
    if run.stopped_at is not None and candidate.order > run.stopped_at:
        return False
    if run.is_dead or place in {Tier.EXPLICIT, Tier.OWN}:
        return place is not Tier.NOTHING
    match place:
        case Tier.BARE | Tier.TELLING | Tier.SIGNALLED | Tier.GENERAL | Tier.ABORTED:
            is_near = not run.is_ready and run.lines - candidate.since < NEAR_THE_END_LINES
            return is_near or candidate.trace is not None
        case Tier.VICTIM | Tier.WRAPPER | Tier.STATUS:
            return candidate.trace is not None or not run.is_ready
        case Tier.CUT:
            return not candidate.life
        case _:
            return False
