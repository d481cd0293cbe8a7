"""The order of cleaning a line: escape sequences, carriage returns, length (crash-log forms, part 2)."""

from __future__ import annotations

from dflashtui.text import ESCAPE_SEQUENCE

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
