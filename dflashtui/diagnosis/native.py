"""Ends that no Python exception tells of: native crashes, Rust and Go panics (crash-log forms, part 6).

Each reader takes the lines of its form behind the opening line, as `TraceReader` does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.diagnosis.frames import FRAME, is_own, is_standard
from dflashtui.diagnosis.reader import Fate
from dflashtui.model.finding import Location

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.diagnosis.trace import Trace

FAULT = re.compile(r"Fatal Python error: (?P<text>.*)$")
TERMINATE = re.compile(r"terminate called after throwing an instance of '(?P<type>[^']{1,300})'")
TERMINATE_BARE = re.compile(r"terminate called (?:without an active exception|recursively)")
LIBCXX = re.compile(
    r"libc\+\+abi: terminating (?:due to|"
    r"with) uncaught exception of type (?P<type>[\w:<> ,*&]{1,300}?)(?:: (?P<text>.*))?$"
)
WHAT = re.compile(r"\s*what\(\):\s{0,4}(?P<text>.*)$")
PANIC = re.compile(
    r"thread '[^']{0,200}'(?: \(\d+\))? panicked at (?:'(?P<quoted>.*)', )?"
    r"(?P<file>[^:',]{1,1000}):(?P<line>\d+)(?::\d+)?:?$"
)
GO_PANIC = re.compile(r"(?:panic|fatal error): (?P<text>.+)$")
GO_FILE = re.compile(r"\s+(?P<file>/?[\w./@~+-]{1,1000}\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?")
GO_FUNCTION = re.compile(r"(?P<function>\S.{0,300})\(.{0,400}\)$")
FAULT_LINES = 400
OF_FAULT = (
    *(
        "Python runtime state:",
        "Extension modules:",
        "Binary file",
        "<no Python frame>",
        "<Cannot",
        "<truncated",
        "...",
    ),
    *("ModuleNotFoundError:", "LookupError:", "sys.", "Current thread", "Thread 0x"),
)
GO_LINES = 60


class FaultReader:
    """`Fatal Python error: …` and the stacks that faulthandler prints, deepest frame first."""

    def __init__(self, trace: Trace, opening: re.Match[str], number: int | None) -> None:
        self.trace = trace
        self._raised = trace.push("", number)
        self._raised.message = opening.group().strip()
        self._is_current = False
        self._lines = 0

    @property
    def is_in_message(self) -> bool:
        """The text has come; what follows may be more of it."""
        return False

    def feed(self, text: str, number: int | None) -> Fate:
        """Take what belongs to the stacks."""
        self._lines += 1
        frame = FRAME.match(text)
        bare = text.strip()
        if self._lines > FAULT_LINES or not (frame or _is_of_fault(bare)):
            return Fate.OVER if bare else Fate.TAKEN
        self._raised.last = number
        if bare.endswith("(most recent call first):"):
            self._is_current = bare.startswith("Current thread 0x") and not self._raised.frames.count
        elif frame and self._is_current:
            self._frame(frame)
        elif not frame:
            self._raised.add(bare)
        return Fate.TAKEN

    def _frame(self, frame: re.Match[str]) -> None:
        frames = self._raised.frames
        place = Location(file=frame["file"], line=int(frame["line"]), function=frame["function"])
        frames.count += 1
        frames.last = frames.last or place
        frames.deepest = frames.deepest or (None if is_standard(place.file) else place)
        frames.own = frames.own or (place if is_own(place.file) else None)


def _is_of_fault(bare: str) -> bool:
    return bare.endswith("(most recent call first):") or bare.startswith(OF_FAULT)


class TerminateReader:
    """`terminate called after throwing …`, and its `what():` with all its lines."""

    def __init__(self, trace: Trace, opening: re.Match[str], number: int | None) -> None:
        self.trace = trace
        self._raised = trace.push("", number)
        named = opening.groupdict()
        self._raised.type = named.get("type")
        self._raised.message = named.get("text") or opening.group().strip()
        self._awaits_what = True
        self._lines = 0

    @property
    def is_in_message(self) -> bool:
        """The text has come; what follows may be more of it."""
        return not self._awaits_what

    def feed(self, text: str, number: int | None) -> Fate:
        """Take the text of the C++ exception."""
        what = WHAT.match(text)
        self._lines += 1
        if what and self._awaits_what:
            self._awaits_what = False
            self._raised.message = what["text"].strip()
        elif self._awaits_what or self._lines > GO_LINES:
            return Fate.OVER if self._lines > 3 or not text.strip() else Fate.PASSED  # noqa: PLR2004 - another rank may write between
        elif text.strip():
            self._raised.add(text)
        self._raised.last = number
        return Fate.TAKEN


class PanicReader:
    """A Rust panic: the text stands on the next line, or quoted on the same."""

    def __init__(self, trace: Trace, opening: re.Match[str], number: int | None) -> None:
        self.trace = trace
        self._raised = trace.push("", number)
        self._raised.message = opening["quoted"] or ""
        place = Location(file=opening["file"], line=int(opening["line"]))
        self._raised.frames.deepest = self._raised.frames.last = place
        if not place.file.startswith(("/rustc/", "/root/.cargo", "/usr/local/cargo")):
            self._raised.frames.own = place
        self._lines = 0

    @property
    def is_in_message(self) -> bool:
        """The text has come; what follows may be more of it."""
        return bool(self._raised.message)

    def feed(self, text: str, number: int | None) -> Fate:
        """Take the panic's text."""
        self._lines += 1
        if self._lines > GO_LINES or text.startswith("note: run with `RUST_BACKTRACE"):
            return Fate.OVER
        if text.strip():
            self._raised.add(text)
            self._raised.last = number
        return Fate.TAKEN


class GoReader:
    """A Go panic: its text, and the first frame outside the runtime."""

    def __init__(self, trace: Trace, opening: re.Match[str], number: int | None) -> None:
        self.trace = trace
        self._raised = trace.push("", number)
        self._raised.message = opening["text"].strip()
        self._function: str | None = None
        self._lines = 0

    @property
    def is_in_message(self) -> bool:
        """The text has come; what follows may be more of it."""
        return True

    def feed(self, text: str, number: int | None) -> Fate:
        """Take the goroutines' stacks."""
        self._lines += 1
        place = GO_FILE.match(text)
        function = GO_FUNCTION.match(text)
        if self._lines > GO_LINES:
            return Fate.OVER
        if place and self._function and not self._raised.frames.deepest:
            self._frame(Location(file=place["file"], line=int(place["line"]), function=self._function))
        elif function:
            self._function = function["function"]
        elif (
            not place
            and text.strip()
            and not text.startswith(("goroutine ", "created by", "[signal", "exit status", "\t", "    "))
        ):
            if self._raised.frames.count:
                return Fate.OVER
            self._raised.add(text)
        self._raised.last = number
        return Fate.TAKEN

    def _frame(self, place: Location) -> None:
        frames = self._raised.frames
        frames.count += 1
        frames.last = frames.last or place
        if (self._function or "").startswith(("runtime.", "panic", "runtime/")):
            return
        frames.deepest = place
        if "/pkg/mod/" not in place.file and "/src/runtime/" not in place.file:
            frames.own = place


NativeReader = FaultReader | TerminateReader | PanicReader | GoReader
OPENINGS: tuple[tuple[str, re.Pattern[str], Callable[[Trace, re.Match[str], int | None], NativeReader]], ...] = (
    ("Fatal Python error", FAULT, FaultReader),
    ("terminate called", TERMINATE, TerminateReader),
    ("terminate called", TERMINATE_BARE, TerminateReader),
    ("libc++abi", LIBCXX, TerminateReader),
    ("panicked at", PANIC, PanicReader),
    ("panic: ", GO_PANIC, GoReader),
    ("fatal error: ", GO_PANIC, GoReader),
)
"""A word of the opening line, its pattern (searched), and who reads on."""


def opening(text: str) -> tuple[re.Match[str], Callable[[Trace, re.Match[str], int | None], NativeReader]] | None:
    """The reader that this line calls for."""
    for word, pattern, reader in OPENINGS:
        if word in text:
            match = pattern.search(text) if pattern is not GO_PANIC else pattern.match(text)
            if match:
                return match, reader
    return None
