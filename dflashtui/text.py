"""Text from outside made safe, and quantities made readable. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|$)"  # OSC DCS SOS PM APC
    r"|\x1b[ -/]*[0-~]"  # two and three byte escapes
)
HARMLESS_ASCII = re.compile(r"[\t -~]*\Z")
UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MARKS = frozenset({"Mn", "Me"})
"""Drawn on the character before them; most, but not all, have a combining class."""
MAX_MARKS_IN_A_ROW = 3
UNSTEADY = re.compile("[\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
"""Halves of flags and shades of skin: each terminal gives them, and what they stand beside, another width."""
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""They ask for another picture of the same character, in some terminals a wider one."""
ELLIPSIS = "…"
WHOLE_NUMBER = re.compile(r"[0-9]{1,18}\Z")

BINARY_STEPS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
SPAN_STEPS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def decoded(data: bytes) -> str:
    """Text of bytes that claim to be UTF-8; a byte that is not stays visible as backslash, x and two digits."""
    return data.decode("utf-8", "backslashreplace")


def printable(text: str, *, limit: int = 4096) -> str:
    """One line of text that no terminal acts upon, at most `limit` characters.

    Escape sequences vanish; control, format (bidi, zero width), surrogate, private and unassigned characters
    become visible, as do parts of emoji whose width is anybody's guess; tab stays. Idempotent.
    Facts: systemd-ssh facts, part 8.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
    if HARMLESS_ASCII.match(cut):
        return cut
    shown = _marks_bounded("".join(map(_visible, ESCAPE_SEQUENCE.sub("", cut))))
    return shown if len(shown) <= limit else shown[: limit - 1] + ELLIPSIS  # one character may be shown as six


@lru_cache(maxsize=4096)
def _visible(char: str) -> str:
    if SELECTORS.match(char):
        return ""
    if char == "\t" or not (unicodedata.category(char) in UNSEEN_CATEGORIES or UNSTEADY.match(char)):
        return char
    code = ord(char)
    if char < " ":
        return chr(ord("␀") + code)
    return "␡" if char == "\x7f" else ascii(char)[1:-1]


def _marks_bounded(text: str) -> str:
    """Without the marks beyond the third on one character: hundreds of them paint over other lines."""
    kept: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in MARKS else 0
        if marks <= MAX_MARKS_IN_A_ROW:
            kept.append(char)
    return "".join(kept)


def whole_number(text: str) -> int | None:
    """`17`; `None` for anything else: other alphabets' digits, and more digits than anything here counts."""
    return int(text) if WHOLE_NUMBER.match(text) else None


def shortened(text: str, width: int) -> str:
    """`text` cut in the middle to `width` characters, for both ends of a name matter."""
    if len(text) <= width:
        return text
    if width < 2:  # noqa: PLR2004 - no room for two ends
        return text[:width]
    left = width // 2
    return text[:left] + ELLIPSIS + text[len(text) - (width - left - 1) :]


def human_bytes(count: int | None) -> str:
    """`54.0 GiB`; `–` for unknown."""
    if count is None:
        return "–"
    value, step = float(count), 0
    while abs(value) >= 1024 and step < len(BINARY_STEPS) - 1:  # noqa: PLR2004 - binary steps
        value, step = value / 1024, step + 1
    return f"{value:.0f} {BINARY_STEPS[step]}" if step == 0 or value >= 100 else f"{value:.1f} {BINARY_STEPS[step]}"  # noqa: PLR2004 - three digits


def times(count: int) -> str:
    """`once`, `4 times`."""
    return "once" if count == 1 else f"{count} times"


def human_span(seconds: float | None) -> str:
    """`3d4h`, `2h05m`, `1m10s`, `45s`; `–` for unknown."""
    if seconds is None:
        return "–"
    left = max(0, int(seconds))
    for position, (letter, size) in enumerate(SPAN_STEPS):
        if left >= size or size == 1:
            major, rest = divmod(left, size)
            if size == 1:
                return f"{major}s"
            small_letter, small = SPAN_STEPS[position + 1]
            return f"{major}{letter}{rest // small:02d}{small_letter}" if rest // small else f"{major}{letter}"
    return "0s"
