# ruff: noqa: E501 - a table reads best as one
"""`--ascii`: every glyph and border as a character that any terminal has, one for one, so that nothing moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.color import Color

GLYPHS = {
    "●": "*", "◐": "~", "↻": "r", "▲": "!", "×": "x", "○": "o", "◌": "?", "⊘": "#",
    "›": ">", "▪": "+", "…": ".", "–": "-", "·": "|", "▾": "v", "▴": "^", "▸": ">", "→": ">", "←": "<", "↑": "^", "↓": "v",
    "━": "=", "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "║": "|", "═": "=", "╔": "+", "╗": "+", "╚": "+", "╝": "+", "┃": "|",
    "▁": "0", "▂": "1", "▃": "3", "▄": "4", "▅": "6", "▆": "7", "▇": "8", "█": "9",
    "▏": "|", "▎": "|", "▍": "|", "▌": "|", "▋": "|", "▊": "#", "▉": "#", "▐": "|", "▔": "-", "▕": "|", "▀": "-", "╸": "=", "╺": "=",
    "°": "o", "✓": "+", "⏸": "=",
}  # fmt: skip
TABLE = str.maketrans(GLYPHS)


class AsciiFilter(LineFilter):
    """Replaces glyphs on their way to the terminal: one place for every widget."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's interface
        """The same line in ASCII glyphs; other text stays as it is."""
        return [Segment(text.translate(TABLE), style, control) for text, style, control in segments]
