"""On which line each key of a TOML text stands. `tomllib` does not say; this is loaded when there is an error.

Expects text that `tomllib` has accepted. On other text it stops at what it cannot read; what stands before is known.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflashtui.config.problems import Keys

BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
SPACE = re.compile(r"[ \t]*")
KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'")
STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'",
    re.DOTALL,
)
BARE_VALUE = re.compile(r"[^,\[\]{}#\n]+")


class _Unreadable(Exception):
    """The text goes on in a way that no TOML does."""


@dataclass(frozen=True, slots=True)
class Places:
    """The lines of a text, by keys."""

    lines: dict[Keys, int] = field(default_factory=dict)
    repeated: dict[Keys, int] = field(default_factory=dict)
    """Keys that are set twice: the line of the second time, which TOML forbids."""

    @classmethod
    def of(cls, text: str) -> Places:
        """Where everything stands."""
        scan = _Scan(text)
        with suppress(_Unreadable, RecursionError):  # what stands behind gets the line of the table around it
            scan.document()
        return cls(scan.lines, scan.repeated)

    def line(self, keys: Keys) -> int:
        """The line of that key, or of the nearest table around it; 1 of the whole file."""
        around = (keys[:end] for end in range(len(keys), 0, -1))
        return next((self.lines[part] for part in around if part in self.lines), 1)


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Keys, int] = {}
        self.repeated: dict[Keys, int] = {}
        self._values: set[Keys] = set()
        self._array_lengths: dict[Keys, int] = {}
        self._line_ends = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> None:
        table: Keys = ()
        self._take(BLANK)
        while self.at < len(self.text):
            if self._skip("["):
                table = self._header()
            else:
                self._pair(table)
            self._take(BLANK)

    def _header(self) -> Keys:
        is_array = self._skip("[")
        line = self._line()
        keys = self._path(self._dotted_key(), is_array=is_array)
        self._expect("]]" if is_array else "]")
        self._note(keys, line)
        return keys

    def _path(self, names: Keys, *, is_array: bool) -> Keys:
        """The keys of a table header: inside an array of tables its newest entry is meant."""
        path: Keys = ()
        for position, name in enumerate(names):
            path = (*path, name)
            if is_array and position == len(names) - 1:
                self._array_lengths[path] = self._array_lengths.get(path, 0) + 1
            if path in self._array_lengths:
                path = (*path, self._array_lengths[path] - 1)
        return path

    def _pair(self, table: Keys) -> None:
        line = self._line()
        keys = (*table, *self._dotted_key())
        self._note(keys, line)
        if keys in self._values:
            self.repeated.setdefault(keys, line)
        self._values.add(keys)
        self._expect("=")
        self._take(SPACE)
        self._value(keys)

    def _value(self, keys: Keys) -> None:
        if self._skip("["):
            self._list(keys)
        elif self._skip("{"):
            self._inline_table(keys)
        elif not (self._take(STRING) or self._take(BARE_VALUE)):
            raise _Unreadable

    def _list(self, keys: Keys) -> None:
        position = 0
        self._take(BLANK)
        while not self._skip("]"):
            self._note((*keys, position), self._line())
            self._value((*keys, position))
            position += 1
            self._next_item("]")

    def _inline_table(self, keys: Keys) -> None:
        self._take(BLANK)
        while not self._skip("}"):
            self._pair(keys)
            self._next_item("}")

    def _next_item(self, end: str) -> None:
        self._take(BLANK)
        if not self._skip(",") and not self.text.startswith(end, self.at):
            raise _Unreadable
        self._take(BLANK)

    def _dotted_key(self) -> Keys:
        names: list[str] = []
        while True:
            self._take(SPACE)
            names.append(_name(self._take(KEY)))
            self._take(SPACE)
            if not self._skip("."):
                return tuple(names)

    def _note(self, keys: Keys, line: int) -> None:
        for end in range(1, len(keys) + 1):
            self.lines.setdefault(keys[:end], line)

    def _line(self) -> int:
        return bisect_right(self._line_ends, self.at - 1) + 1

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def _skip(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def _expect(self, word: str) -> None:
        if not self._skip(word):
            raise _Unreadable


def _name(key: str) -> str:
    """A key without its quotes."""
    if not key:
        raise _Unreadable
    if key[0] not in "\"'":
        return key
    try:
        return str(tomllib.loads(f"k={key}")["k"])
    except tomllib.TOMLDecodeError as error:
        raise _Unreadable from error
