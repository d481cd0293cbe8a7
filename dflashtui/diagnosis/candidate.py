"""What may be the cause of a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.diagnosis import grammar, roles
from dflashtui.diagnosis.kinds import kind_of, module_of
from dflashtui.model.finding import Cause, Location

if TYPE_CHECKING:
    from dflashtui.diagnosis.form import Weight
    from dflashtui.diagnosis.line import Line
    from dflashtui.diagnosis.trace import Raised, Trace

CUT_OFF = "the traceback is cut off before its exception"
LOOKUPS = frozenset({"KeyError", "LookupError", "StopIteration", "Empty", "IndexError"})
"""They say what was not found; the error raised in answer says what that means."""
QUOTED = re.compile(
    r"(?:^|[\s('\":])(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception))(?:: |"
    r"\(['\"]?)(?P<text>[^\n]{3,2000})"
)


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
    since: int = 0
    """Lines of the run before it."""
    ordinary_before: int = 0
    """Ordinary lines of the run before it."""
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
        """The whole message."""
        told = self.root
        return told.text if told else self.message

    @property
    def name(self) -> str | None:
        """The exception's type."""
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


def nested(candidate: Candidate) -> tuple[str, str] | None:
    """The exception that a wrapper's message quotes: its type and text."""
    told = candidate.root
    lines = [told.message, *told.detail] if told else []
    for line in lines:
        match = QUOTED.search(line)
        if match and not roles.is_wrapper(match["type"], match["text"]):
            return match["type"], match["text"].rstrip(" )'\"")
    return None


def cause(candidate: Candidate) -> Cause:
    """The candidate as the contract's CAUSE."""
    told = candidate.root
    name, text, quoted = candidate.name, candidate.text, None
    if told and roles.is_wrapper(name, text):
        quoted = nested(candidate)
        name, text = quoted or (name, text)
    kind = (kind_of(name, text) if quoted else candidate.told_kind) or _fallback(name, text, is_trace=told is not None)
    line = candidate.line
    return Cause(
        kind=kind,
        exception=name,
        message=text.partition("\n")[0].strip() or (CUT_OFF if told is None and candidate.trace else ""),
        module=module_of(kind, text),
        location=told.frames.location if told else _cut_place(candidate) or candidate.location,
        own_location=_own_place(candidate),
        process=candidate.label,
        host=line.host,
        unit=line.unit,
        invocation_id=line.invocation_id,
        lines=_lines(candidate),
        folded=candidate.folded,
    )


def _cut_place(candidate: Candidate) -> Location | None:
    """Of a traceback that was cut off before its exception."""
    return candidate.trace.raised[-1].frames.location if candidate.trace and candidate.trace.raised else None


def _own_place(candidate: Candidate) -> Location | None:
    """Of the exception, else of the ones that were raised because of it."""
    told = candidate.root
    if told is None or candidate.trace is None:
        return None
    return told.frames.own or next((one.frames.own for one in candidate.trace.raised if one.frames.own), None)


def _lines(candidate: Candidate) -> tuple[int, int] | None:
    told = candidate.root
    first = told.first if told and told.first is not None else candidate.line.number
    last = (told.last if told else None) or candidate.last or first
    return (first, max(last, first)) if first is not None and last is not None else None


def _fallback(name: str | None, text: str, *, is_trace: bool) -> str:
    """Of an exception whose words tell no kind: a bug, unless it only says that another failed."""
    if not (name or (is_trace and text)) or roles.is_wrapper(name, text) or roles.is_victim(name, text):
        return "unknown"
    return "code-bug"
