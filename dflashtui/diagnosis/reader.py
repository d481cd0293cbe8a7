"""Reads one traceback, line by line."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from dflashtui.diagnosis import grammar
from dflashtui.diagnosis.frames import FRAME, FRAME_BEGIN

if TYPE_CHECKING:
    from dflashtui.diagnosis.trace import Link, Raised, Trace

STRANGERS_ALLOWED = 12
"""Lines of others between two frames, after which the traceback counts as cut off."""
MESSAGE_LINES_ALLOWED = 40
DOUBTFUL_MESSAGE_LINES = 1
TORN_CHARACTERS = 50
"""A message shorter than this was not broken by a terminal; nor is one that ends like a sentence."""


class Fate(Enum):
    """What became of a line."""

    TAKEN = auto()
    PASSED = auto()
    """Not part of the traceback, which goes on."""
    OVER = auto()
    """Not part of the traceback, which has ended before."""


class _Place(Enum):
    FRAMES = auto()
    MESSAGE = auto()
    LINKED = auto()


class TraceReader:
    """The state between a header and the end of the last message of its chain."""

    def __init__(self, trace: Trace, number: int | None, *, is_group: bool = False) -> None:
        self.trace = trace
        self._place = _Place.FRAMES
        self._link: Link = ""
        self._in_group = is_group
        self._indent = -1
        """Of the last frame; -1 before the first."""
        self._frame_before = False
        self._torn = ""
        """The begin of a frame's line that a terminal broke at its width."""
        self._strangers = 0
        self._is_bare = False
        self._message_lines = 0
        self.message_lines_allowed = MESSAGE_LINES_ALLOWED
        """Lines of the service itself look like the rest of a message where no prefix tells them apart."""
        trace.push("", number)

    @property
    def is_in_message(self) -> bool:
        """The exception was named; what follows may be more of its message."""
        return self._place is _Place.MESSAGE

    @property
    def is_torn(self) -> bool:
        """The next line may be the rest of a frame's, or of a long message's, whatever its prefix."""
        message = self.current.message
        is_first = self.is_in_message and not self.current.detail
        return bool(self._torn) or (is_first and len(message) >= TORN_CHARACTERS and message[-1:].isalnum())

    @property
    def current(self) -> Raised:
        """The exception that is being read."""
        return self.trace.raised[-1]

    def feed(self, text: str, number: int | None) -> Fate:
        """Take the line, or say whose it is."""
        if self._in_group:
            text = self._without_margin(text, number)
        fate = self._feed(text, number)
        if fate is Fate.TAKEN and text.strip():
            self.current.last = number
        return fate

    def _without_margin(self, text: str, number: int | None) -> str:
        if grammar.LEAF.match(text):
            self._begin("leaf", number)
            return ""
        return "" if grammar.GROUP_END.match(text) else grammar.unmargined(text)

    def _begin(self, link: Link, number: int | None) -> None:
        self.trace.push(link, number)
        self._place, self._indent, self._strangers, self._frame_before = _Place.FRAMES, -1, 0, False

    def _feed(self, text: str, number: int | None) -> Fate:
        stripped = text.strip()
        if not stripped:
            return Fate.TAKEN
        if stripped in {grammar.CAUSED, grammar.DURING}:
            self._place = _Place.LINKED
            self._link = "cause" if stripped == grammar.CAUSED else "context"
            return Fate.TAKEN
        if grammar.HEADER in text:
            return self._header(text, number)
        match self._place:
            case _Place.FRAMES:
                return self._in_frames(text)
            case _Place.MESSAGE:
                return self._in_message(text, number)
            case _:
                return self._when_linked(text, number)

    def _header(self, text: str, number: int | None) -> Fate:
        is_empty_leaf = self.current.link == "leaf" and self._place is _Place.FRAMES and self._indent < 0
        if is_empty_leaf:
            self.current.first = number
        elif self._place is _Place.LINKED:
            self._begin(self._link, number)
        else:
            return Fate.OVER
        self._in_group |= grammar.GROUP_HEADER in text
        return Fate.TAKEN

    def _when_linked(self, text: str, number: int | None) -> Fate:
        """Behind a chaining sentence a header is due; a frame will do, for SyntaxErrors and cut logs have none."""
        if FRAME.match(text):
            self._begin(self._link, number)
            return self._in_frames(text)
        exception = grammar.exception_line(text)
        if exception and exception.is_sure:
            self._begin(self._link, number)
            return self._named(exception)
        return self._stranger()

    def _in_frames(self, text: str) -> Fate:
        frame = FRAME.match(text) or (FRAME.match(self._torn + text) if self._torn else None)
        self._torn = text if frame is None and FRAME_BEGIN.match(text) else ""
        if frame or self._torn:
            self._indent = len(frame["indent"]) if frame else len(text) - len(text.lstrip())
            self._frame_before, self._strangers = True, 0
            if frame:
                self.current.frames.add(frame)
            return Fate.TAKEN
        indent = len(text) - len(text.lstrip())
        if self._is_source(text, indent):
            return Fate.TAKEN
        exception = (
            grammar.exception_line(text.strip()) if indent <= max(self._indent - 2, 0) or self._indent == 0 else None
        )
        if exception and (exception.is_sure or self._indent > 0):
            return self._named(exception)
        if self._indent == 0 and self._frame_before:  # pasted without its blanks: the line behind a frame is its source
            self._frame_before = False
            return Fate.TAKEN
        return self._stranger()

    def _is_source(self, text: str, indent: int) -> bool:
        if self._indent < 0:
            return False
        if indent > self._indent or grammar.MARKERS.match(text) or grammar.REPEATED_FRAME.match(text):
            self._frame_before = False
            return True
        return False

    def _named(self, exception: grammar.ExceptionLine) -> Fate:
        self.current.name(exception.type, exception.text)
        self._place, self._message_lines, self._is_bare = _Place.MESSAGE, 0, exception.is_bare
        return Fate.TAKEN

    def _in_message(self, text: str, number: int | None) -> Fate:
        if FRAME.match(text):
            self._begin("nested", number)
            return self._in_frames(text)
        if self._is_bare:
            return self._stranger()
        self._message_lines += 1
        if self._message_lines > self.message_lines_allowed and not text.startswith(" "):
            return Fate.OVER
        self.current.add(text)
        return Fate.TAKEN

    def _stranger(self) -> Fate:
        self._strangers += 1
        return Fate.OVER if self._strangers > STRANGERS_ALLOWED else Fate.PASSED
