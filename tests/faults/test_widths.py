"""What is shown takes as many cells as it was counted for, whichever table of widths a terminal has."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from wcwidth import wcwidth

from dflashtui.text import printable
from tests.faults.hostile_host import messages, worst_line
from tests.faults.marks import fault
from tests.faults.seed import seeded

LAST = 0x110000


def differing(characters: range) -> list[str]:
    """Those that a terminal would draw in another width."""
    shown = (printable(chr(code)) for code in characters if code > ord(" "))
    return [ascii(text) for text in shown if cell_len(text) != sum(map(wcwidth, text))]


def require_same(line: bytes) -> None:
    text = printable(line.decode("utf-8", "backslashreplace"), limit=900).expandtabs()
    assert sum(map(wcwidth, text)) == cell_len(text), ascii(text)


@fault(
    "H2", how="single characters of all kinds against a terminal's table of widths", result="the same number of cells"
)
def test_characters_are_as_wide_as_counted() -> None:
    chance = seeded("widths")
    for code in (0x1F1E6, 0x1F3FB, 0xFE0F, 0x3164, 0x200B, *(chance.randrange(33, LAST - 1) for _ in range(2000))):
        assert differing(range(code, code + 1)) == []


@fault("H2", how="lines of the worst text against the same table", result="the same number of cells")
def test_lines_are_as_wide_as_counted() -> None:
    chance = seeded("wide lines")
    for _ in range(150):
        require_same(worst_line(chance))


@pytest.mark.long
@pytest.mark.timeout(600)
@fault("H2", how="every character there is, and 50 000 lines", result="as wide as counted")
def test_everything_is_as_wide_as_counted() -> None:
    assert differing(range(LAST)) == []
    for line in messages(seeded("many wide lines"), 50_000):
        require_same(line)
