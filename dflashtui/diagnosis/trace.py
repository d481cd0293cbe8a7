"""A traceback with its chain, as it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dflashtui.diagnosis.frames import Frames

Link = Literal["", "cause", "context", "leaf", "nested"]
"""How an exception hangs on the one printed before it: nothing, `raise … from`, an error while handling it, a member
of an exception group, a stack inside the message of the one before."""

MAX_DETAIL_LINES = 60
MAX_DETAIL_CHARACTERS = 4000
MAX_CHAIN = 64


@dataclass(slots=True)
class Raised:
    """One exception of a chain."""

    link: Link = ""
    type: str | None = None
    """`None`: cut off before it was named."""
    message: str = ""
    """The first line."""
    detail: list[str] = field(default_factory=list)
    """The message's lines after the first."""
    frames: Frames = field(default_factory=Frames)
    first: int | None = None
    last: int | None = None
    segment: int = 0
    """Members of exception groups are counted; a chain within one member shares a number."""

    def name(self, exception_type: str, text: str) -> None:
        """The exception's own line was read."""
        self.type, self.message = exception_type, text[:MAX_DETAIL_CHARACTERS]

    def add(self, text: str) -> None:
        """One more line of the message; it is the first one if that was empty."""
        if text.strip() == '"""':  # multiprocessing quotes a child's traceback
            return
        if not self.message and not self.detail:
            self.message = text.strip()[:MAX_DETAIL_CHARACTERS]
        elif len(self.detail) < MAX_DETAIL_LINES:
            self.detail.append(text[:MAX_DETAIL_CHARACTERS])

    @property
    def text(self) -> str:
        """The whole message."""
        return "\n".join((self.message, *self.detail))


@dataclass(slots=True)
class Trace:
    """The exceptions of one report in the order of printing, and what stood before them."""

    raised: list[Raised] = field(default_factory=list)
    context: str = ""
    """The text before the header, on its line or on the line before."""
    label: str | None = None
    pid: int | None = None
    level: str | None = None

    def push(self, link: Link, number: int | None) -> Raised:
        """The next exception of the chain. The middle of an endless chain is not kept."""
        segment = self.raised[-1].segment if self.raised else 0
        new = Raised(link, first=number, last=number, segment=segment + (link == "leaf"))
        if len(self.raised) >= MAX_CHAIN:
            del self.raised[MAX_CHAIN // 2]
        self.raised.append(new)
        return new
