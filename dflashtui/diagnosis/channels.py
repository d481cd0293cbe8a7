"""Which open traceback a line belongs to: by process first, by prefix second (crash-log forms, part 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.diagnosis import grammar
from dflashtui.diagnosis.frames import FRAME
from dflashtui.diagnosis.reader import Fate, TraceReader
from dflashtui.diagnosis.run import LIVED_ON_LINES

if TYPE_CHECKING:
    from dflashtui.diagnosis.candidate import Candidate
    from dflashtui.diagnosis.native import NativeReader
    from dflashtui.diagnosis.prefixes import Stripped

MAX_OPEN = 64
FORGOTTEN_LINES = 600


@dataclass(slots=True)
class Channel:
    """An open traceback, and what its lines look like."""

    pid: int | None
    shape: str
    """Of the prefix of its first line."""
    label: str | None
    reader: TraceReader | NativeReader
    candidate: Candidate
    rest: str | None = None
    """Of the prefixes of its other lines, once known: many writers put theirs on a record's first line only."""
    seen_at: int = 0

    def is_torn(self, now: int) -> bool:
        """A terminal broke the line before this one; the rest has no prefix."""
        return isinstance(self.reader, TraceReader) and self.reader.is_torn and now - self.seen_at <= 1


class Channels:
    """The open tracebacks of all processes."""

    def __init__(self) -> None:
        self._open: list[Channel] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, channel: Channel) -> None:
        """Open one; another with the same look has ended by this."""
        self._open = [one for one in self._open if (one.pid, one.shape) != (channel.pid, channel.shape)][-MAX_OPEN:]
        self._open.append(channel)

    def take(self, text: str, look: Stripped, pid: int | None, number: int | None, now: int) -> Channel | None:
        """The channel that the line became a part of."""
        channel = self._for(text, look, pid, now)
        if channel is None:
            self._close_by_record(look, pid)
            return None
        fate = channel.reader.feed(text, number)
        if fate is Fate.OVER:
            self.close(channel)
            return None
        if fate is Fate.PASSED:
            return None
        channel.seen_at = now
        if channel.rest is None and text.strip():
            channel.rest = look.shape
        return channel

    def _for(self, text: str, look: Stripped, pid: int | None, now: int) -> Channel | None:
        for channel in reversed(self._open):
            if channel.rest is not None and channel.rest.startswith(look.shape) and channel.is_torn(now):
                return channel
            if channel.pid != pid:
                continue
            if channel.rest is not None:
                if channel.rest == look.shape:
                    return channel
                if channel.shape == look.shape and not look.text:
                    return channel
            elif channel.shape == look.shape or (channel.shape.startswith(look.shape) and _goes_on(text, channel)):
                return channel
        return None

    def _close_by_record(self, look: Stripped, pid: int | None) -> None:
        """A new record of the same process ends the message that it was printing."""
        if look.is_record:
            self._open = [
                one
                for one in self._open
                if one.pid != pid or one.label != look.process or not one.reader.is_in_message or one.rest == look.shape
            ]

    def close(self, channel: Channel) -> None:
        """It has ended."""
        self._open = [one for one in self._open if one is not channel]

    def close_all(self) -> None:
        """Another run begins."""
        self._open.clear()

    def close_shape(self, shape: str) -> None:
        """The record that had this look is complete."""
        self._open = [one for one in self._open if one.shape != shape]

    def close_lived(self) -> None:
        """Close those whose process went on: what it prints now is no part of them."""
        self._open = [
            one for one in self._open if one.candidate.life < LIVED_ON_LINES and not one.candidate.is_survived
        ]

    def forget(self, now: int) -> None:
        """Close those that nothing was added to for long."""
        self._open = [one for one in self._open if now - one.seen_at < FORGOTTEN_LINES]


def _goes_on(text: str, channel: Channel) -> bool:
    """Whether a line with fewer prefixes can be the record's second."""
    return (
        channel.reader.is_in_message
        or FRAME.match(text) is not None
        or grammar.HEADER in text
        or text[:1] in " │|╭╰"
        or not text.strip()
        or _is_named(text)
    )


def _is_named(text: str) -> bool:
    exception = grammar.exception_line(text)
    return exception is not None and exception.is_sure
