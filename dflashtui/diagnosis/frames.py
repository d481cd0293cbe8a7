"""Stack frames: which of them tell where to look."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dflashtui.model.finding import Location

FRAME = re.compile(
    r"(?P<indent>\s*)File [\"“”](?P<file>.{1,4096}?)[\"“”], line (?P<line>\d{1,9})"
    r"(?:,? in(?: (?P<function>.{1,300}))?)?$"
)
FRAME_BEGIN = re.compile(r"\s*File \"[^\"]{20,4096}(?:\",? ?(?:line ?)?\d{0,9})?$")
STANDARD = re.compile(
    r"<frozen |<__array_function__|<attrs generated|"
    r".*[/\\]lib(?:32|64)?[/\\](?:python|pypy)3(?:\.\d+)?t?[/\\](?!(?:site|dist)-packages)"
    r"|.*[/\\]python3\d+\.zip[/\\]"
    r"|.*[/\\]Lib[/\\](?!site-packages)"
)
INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")


def is_standard(file: str) -> bool:
    """Of the standard library, or frozen code."""
    return STANDARD.match(file) is not None


def is_own(file: str) -> bool:
    """Of the service itself: neither the standard library, nor an installed package, nor text such as `<string>`."""
    return not (file.startswith("<") or is_standard(file) or INSTALLED.match(file))


@dataclass(slots=True)
class Frames:
    """Of one stack, what is kept: constant memory for any depth."""

    count: int = 0
    last: Location | None = None
    deepest: Location | None = None
    """The deepest that is not of a standard library; `location` of the contract (crash-log forms, part 9)."""
    own: Location | None = None
    without_function: Location | None = None
    """Of a SyntaxError: the place in the file that could not be read."""

    def add(self, match: re.Match[str]) -> None:
        """The next deeper frame."""
        file, function = match["file"], match["function"]
        place = Location(file=file, line=int(match["line"]), function=function)
        self.count += 1
        self.last = place
        self.without_function = None if function else place
        if not is_standard(file):
            self.deepest = place
        if is_own(file):
            self.own = place

    @property
    def location(self) -> Location | None:
        """The deepest frame outside the standard library, else the deepest."""
        return self.without_function or self.deepest or self.last
