"""Advice about lines that systemd reads otherwise than they look, or not at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.unitfile.look import EXEC_KEYS, Advice, at
from dflashtui.unitfile.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look
    from dflashtui.unitfile.reading import Entry

BLANK_BEHIND_BACKSLASH = re.compile(r"^(?![ \t]*[#;]).*(?<!\\)(?:\\\\)*\\[ \t]+$", re.MULTILINE)
COMMENT_BEHIND = re.compile(r"\s[#;]")
FREE_TEXT = frozenset({"Description", "Documentation", "Environment", "SyslogIdentifier", "StandardInputText"})
LONGEST_LINE = 1 << 20
SLIPS = {
    "section-header": ("this section has no closing ]; systemd skips it", "write it as [Service], alone on its line"),
    "no-assignment": ("this line has no =; systemd skips it", "remove it, or write it as Key=value"),
    "outside-section": ("stands above the first section; systemd skips it", "move it below [Unit] or [Service]"),
}


def form(look: Look) -> Iterator[Advice]:
    """Marks and line ends of another world."""
    if not look.text.strip():
        yield _about(1, "empty", "error", "an empty unit file counts as masked: it cannot be started", "write the unit")
    if look.text.startswith("\ufeff"):
        yield _about(1, "byte-order-mark", "note", "begins with a byte order mark", "save it as UTF-8 without a mark")
    if found := re.search(r"\r(?!\n)|\0", look.text):
        message = "a lone carriage return or a NUL ends the line for systemd: the rest is read as a new line"
        yield _about(_line_of(look, found.start()), "line-end", "error", message, "remove it")
    elif "\r\n" in look.text:
        yield _about(1, "crlf", "note", "has the line ends of Windows", "save it with plain newlines")
    for number, line in enumerate(look.text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            yield _about(number, "long-line", "error", "is longer than 1 MiB: systemd refuses the file", "shorten it")


def skipped(look: Look) -> Iterator[Advice]:
    """Lines that systemd skips."""
    for slip in look.unit.slips:
        message, remedy = SLIPS[slip.id]
        yield at(slip, slip.id, "error", message, remedy)


def continuations(look: Look) -> Iterator[Advice]:
    """A backslash that is not the last character of its line."""
    for found in BLANK_BEHIND_BACKSLASH.finditer(look.text):
        message = "blanks behind the backslash: the next line is not part of this one"
        yield _about(_line_of(look, found.start()), "broken-continuation", "error", message, "remove the blanks")


def comments(look: Look) -> Iterator[Advice]:
    """`Restart=always # why`: comments stand on lines of their own."""
    for entry in look.unit.entries:
        if _has_comment(entry):
            message = f"{entry.key}=: what looks like a comment is part of the value"
            yield at(entry, "trailing-comment", "error", message, "put the comment on a line of its own")


def _has_comment(entry: Entry) -> bool:
    if entry.key not in EXEC_KEYS:
        return entry.key not in FREE_TEXT and COMMENT_BEHIND.search(entry.value) is not None
    try:
        return any(word.raw.startswith("#") for word in words(entry.value))
    except ValueError:
        return False


def quotes(look: Look) -> Iterator[Advice]:
    """Quotes that never close, escapes that systemd does not know."""
    for entry in look.unit.entries:
        if entry.section == "Service" and entry.key in {*EXEC_KEYS, "Environment"}:
            yield from _quotes(entry)


def _quotes(entry: Entry) -> Iterator[Advice]:
    try:
        found = words(entry.value)
    except ValueError as unbalanced:
        remedy = 'close it; an apostrophe inside stands between double quotes: "it\'s"'
        yield at(entry, "unbalanced-quotes", "error", f"{entry.key}=: {unbalanced}: systemd ignores the line", remedy)
        return
    if any(word.has_unknown_escape and word.raw != r"\;" for word in found):
        message = f"{entry.key}=: a backslash before a character that needs none stays in the value, with a warning"
        yield at(entry, "unknown-escape", "warning", message, r"write the backslash itself as \\")


def _about(line: int, id_: str, level: str, message: str, remedy: str) -> Advice:
    return Advice.model_validate({"id": id_, "level": level, "line": line, "message": message, "remedy": remedy})


def _line_of(look: Look, position: int) -> int:
    return look.text.count("\n", 0, position) + 1


RULES = (form, skipped, continuations, comments, quotes)
