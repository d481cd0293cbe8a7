"""What stands between every command and its output: no secret and no control character of a host gets through."""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from dflashtui.mask import masked, masked_in
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCUMENT = '{"schema"'
"""How every JSON document begins."""
LONGEST_LINE = 4096


class Discreet:
    """A text stream whose writes are masked; everything else is that of the stream behind it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Whole lines, or parts of one that hold no half of a secret."""
        shown = text if masked(text) == text and not _may_hide(text) else _hidden(text)
        self._stream.write(shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """See `write`."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)


def _may_hide(text: str) -> bool:
    """A document that writes characters as numbers: what stands there is known when it has been read."""
    return "\\u" in text and DOCUMENT in text


def _hidden(text: str) -> str:
    return "\n".join(_document(line) if line.startswith(DOCUMENT) else masked(line) for line in text.split("\n"))


def _document(line: str) -> str:
    """Value by value: a mask inside of the text would spoil its form."""
    return json.dumps(masked_in(json.loads(line)))


@contextmanager
def discreet_output() -> Iterator[None]:
    """Both streams, as long as the context lasts."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Discreet(before[0]), Discreet(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def tell_own_fault(fault: BaseException) -> None:
    """A fault of this program on stderr, with its way through the code; a host's text in it is made safe, too."""
    for line in "".join(traceback.format_exception(fault)).splitlines():
        sys.stderr.write(f"{printable(masked(line), limit=LONGEST_LINE)}\n")
    sys.stderr.write("dflashtui: ended by a fault of its own, so the answer is not known. Please report it.\n")
