"""Tracebacks that rich and typer draw in boxes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.diagnosis import grammar
from dflashtui.diagnosis.frames import FRAME
from dflashtui.diagnosis.reader import Fate, TraceReader

if TYPE_CHECKING:
    from dflashtui.diagnosis.trace import Trace

TOP = "╭┌+"
BOTTOM = "╰└+"
SIDE = "│|┃"
BELOW = 1000
"""More than any line below a box is indented: logging handlers put the whole traceback in a column."""
BOX_FRAME = re.compile(r"(?P<file>(?:[/~.<]|[A-Za-z]:\\).{0,4096}?):(?P<line>\d{1,9}) in (?P<function>\S{0,300})\s*$")
SYNTHETIC = re.compile(r"in \S{1,300}:\d{1,9}$")


def is_box(text: str) -> bool:
    """The top of a box, not the header of a plain traceback."""
    return (text.lstrip()[:1] in tuple(TOP) and "─" in text) or ("---" in text and text.lstrip()[:1] == "+")


class BoxReader(TraceReader):
    """From the top of a box to the exception below it, which is wrapped at the box's width."""

    def __init__(self, trace: Trace, top: str, number: int | None) -> None:
        super().__init__(trace, number)
        self._width = len(top.strip())
        self._is_inside = True
        self._unfinished = ""
        self._line_length = 0

    def feed(self, text: str, number: int | None) -> Fate:
        """Take the line, or say whose it is."""
        if self._is_inside:
            self._inside(text)
            self.current.last = number
            return Fate.TAKEN
        if self.is_in_message and self._is_wrapped(text):
            self.current.message += f" {text.strip()}"
            self._line_length = len(text.strip())
            return Fate.TAKEN
        if grammar.HEADER in text and is_box(text):
            return self._next_box(text, number)
        was_in_message = self.is_in_message
        fate = super().feed(text, number)
        if self.is_in_message and not was_in_message:
            self._line_length = len(text.strip())
        elif was_in_message:
            self._line_length = 0
        return fate

    def _next_box(self, text: str, number: int | None) -> Fate:
        fate = super().feed(text, number)
        if fate is Fate.TAKEN:
            self._is_inside, self._width = True, len(text.strip())
        return fate

    def _is_wrapped(self, text: str) -> bool:
        """The first word of this line had no room behind the line before."""
        words = text.split(maxsplit=1)
        return bool(words and self._line_length and self._line_length + 1 + len(words[0]) > self._width)

    def _inside(self, text: str) -> None:
        bare = text.strip()
        if bare[:1] in tuple(BOTTOM) and bare[-1:] not in tuple(SIDE):
            self._is_inside = False
            self._indent = BELOW
            return
        content = bare.strip(SIDE).strip()
        if content[:1] in tuple(SIDE + TOP + BOTTOM) or SYNTHETIC.match(content):
            return
        self._add(content)

    def _add(self, content: str) -> None:
        """A frame; a long path or name goes on in the box's next row."""
        joined = self._unfinished + content
        match = BOX_FRAME.match(joined)
        if match and match["function"]:
            self._unfinished = ""
            frame = FRAME.match(f'File "{match["file"]}", line {match["line"]}, in {match["function"]}')
            if frame:
                self.current.frames.add(frame)
        elif match:
            self._unfinished = f"{joined.rstrip()} "
        else:
            self._unfinished = content if content.startswith("/") and " " not in content else ""
