"""The order of cleaning a line: escape sequences, carriage returns, length (crash-log forms, part 2)."""

from __future__ import annotations

from dflashtui.text import ESCAPE_SEQUENCE

FENCE = "```"
"""A line of a pasted log that is none of the log's."""
HEAD_CHARACTERS = 16_384
TAIL_CHARACTERS = 49_152
MAX_PIECES = 64


def pieces(text: str) -> list[str]:
    """The texts of one line: without escape sequences and NULs, split at carriage returns, each of bounded length.

    Of a progress bar's hundreds of states the last ones matter: a header may be glued to them.
    """
    if len(text) > HEAD_CHARACTERS + TAIL_CHARACTERS:
        text = f"{text[:HEAD_CHARACTERS]}\r{text[-TAIL_CHARACTERS:]}"
    if "\x1b" in text or "\x9b" in text:
        text = ESCAPE_SEQUENCE.sub("", text)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" not in text:
        return [text.rstrip()]
    split = [piece.rstrip() for piece in text.rstrip("\r").split("\r") if piece.strip()]
    return [*split[: MAX_PIECES // 4], *split[MAX_PIECES // 4 :][-MAX_PIECES:]] if len(split) > MAX_PIECES else split


class Margin:
    """What all lines so far begin with, of blanks: a log that was pasted into a list or a block is indented."""

    def __init__(self) -> None:
        self._blanks: str | None = None

    def without(self, text: str) -> str:
        """The text without the margin. Once a line begins without blanks there is none."""
        if self._blanks == "" or not text.strip():
            return text
        own = text[: len(text) - len(text.lstrip(" \t"))]
        margin = own if self._blanks is None else self._blanks
        while not own.startswith(margin):
            margin = margin[:-1]
        self._blanks = margin
        return text[len(margin) :]
