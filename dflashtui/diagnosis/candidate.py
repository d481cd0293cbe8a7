"""What may be the cause of a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.diagnosis import grammar, roles
from dflashtui.diagnosis.forms import Weight
from dflashtui.diagnosis.kinds import kind_of, module_of
from dflashtui.model.finding import Cause, Location

if TYPE_CHECKING:
    from dflashtui.diagnosis.line import Line
    from dflashtui.diagnosis.trace import Raised, Trace

LOOKUPS = frozenset({"KeyError", "LookupError", "StopIteration", "Empty", "IndexError"})
"""They say what was not found; the error raised in answer says what that means."""


@dataclass(slots=True)
class Candidate:
    """A traceback, or a line that tells a cause; which one `trace` says."""

    order: int
    weight: Weight
    line: Line
    """The first line."""
    last: int | None = None
    label: str | None = None
    pid: int | None = None
    trace: Trace | None = None
    message: str = ""
    exception: str | None = None
    kind: str | None = None
    location: Location | None = None
    folded: int = 0
    """Copies of it: other ranks, the same text printed again by a parent."""
    life: int = 0
    """Ordinary lines of the same process since."""
    is_survived: bool = False
    """The same process served on."""
    is_doubtful: bool = False
    """Not fatal by its shape: one request, a thread, a warning."""

    @property
    def root(self) -> Raised | None:
        """The exception of the chain that explains it."""
        return root(self.trace) if self.trace else None

    @property
    def key(self) -> tuple[str | None, str]:
        """Equal for copies."""
        told = self.root
        return (told.type, told.message[:300]) if told else (self.exception, self.message[:300])

    @property
    def text(self) -> str:
        told = self.root
        return told.text if told else self.message

    @property
    def name(self) -> str | None:
        told = self.root
        return told.type if told else self.exception

    @property
    def told_kind(self) -> str | None:
        """`None`: the words tell no kind."""
        return self.kind or kind_of(self.name, self.text)


def root(trace: Trace) -> Raised | None:
    """The exception that explains the chain: the first that says more than that another failed.

    Of an exception group: within its first member. A lookup that failed is explained by the error raised in answer.
    """
    named = [one for one in trace.raised if one.type or one.message]
    plain = [one for one in named if not (one.type and grammar.is_group(one.type))]
    telling = [one for one in plain if not _is_empty(one)]
    pool = telling or plain or named
    if not pool:
        return None
    pool = [one for one in pool if one.segment == pool[0].segment]
    return next((one for one in pool if kind_of(one.type, one.text)), None) or _explained(pool)


def _is_empty(one: Raised) -> bool:
    """Noise, a wrapper, or a victim."""
    noise = one.type and roles.NOISE_TYPES.search(one.type)
    return bool(noise) or roles.is_wrapper(one.type, one.text) or roles.is_victim(one.type, one.text)


def _explained(pool: list[Raised]) -> Raised:
    first = pool[0]
    is_lookup = (first.type or "").rpartition(".")[2] in LOOKUPS
    if is_lookup and len(pool) > 1 and " " in pool[1].message and pool[1].link in {"cause", "context"}:
        return pool[1]
    return first


def cause(candidate: Candidate) -> Cause:
    """The candidate as the contract's CAUSE."""
    told = candidate.root
    kind = candidate.told_kind or _fallback(candidate)
    line = candidate.line
    location = told.frames.location if told else candidate.location
    first = told.first if told and told.first is not None else line.number
    last = (told.last if told else None) or candidate.last or first
    return Cause(
        kind=kind,
        exception=candidate.name,
        message=candidate.text.partition("\n")[0].strip(),
        module=module_of(kind, candidate.text),
        location=location,
        own_location=told.frames.own if told else None,
        process=candidate.label,
        host=line.host,
        unit=line.unit,
        invocation_id=line.invocation_id,
        lines=(first, max(last, first)) if first is not None and last is not None else None,
        folded=candidate.folded,
    )


def _fallback(candidate: Candidate) -> str:
    """Of an exception whose words tell no kind: a bug, unless it only says that another failed."""
    name, text = candidate.name, candidate.text
    if roles.is_wrapper(name, text) or roles.is_victim(name, text):
        return "unknown"
    return "code-bug" if name or (candidate.trace and candidate.trace.raised) else "unknown"
