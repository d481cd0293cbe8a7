"""Text in pieces: cut, fitted and balanced to the cell, whatever the text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content

from dflashtui.text import printable
from dflashtui.tui import styled
from dflashtui.tui.ascii import GLYPHS, AsciiFilter
from dflashtui.tui.bar import balanced, content_of, lines_of
from dflashtui.tui.listing.draw import Painter
from dflashtui.tui.styled import (
    EMPTY,
    STYLES,
    Cell,
    cell,
    cut,
    cut_middle,
    fitted,
    join,
    measured,
    plain,
    style_of,
    toned,
    untabbed,
)
from dflashtui.tui.themes import DEFAULTS, ROLES, TONES
from tests.tui.hostile import WIDTHS, forbidden_in, patient, texts

pieces = st.lists(st.tuples(texts.map(printable), st.sampled_from([*STYLES, "", "ok dim"])), max_size=4).map(tuple)


@patient
@given(pieces, st.integers(-3, 300))
def test_cut_is_never_wider_and_says_that_something_is_missing(line: Cell, width: int) -> None:
    short = cut(line, width)
    assert measured(short) <= max(0, width)
    assert short == untabbed(line) or width <= 0 or plain(short).endswith("…")


@patient
@given(pieces, WIDTHS)
def test_cut_in_the_middle_is_never_wider(line: Cell, width: int) -> None:
    short = cut_middle(line, width)
    assert measured(short) <= width
    assert short == untabbed(line) or "…" in plain(short)


@patient
@given(pieces, WIDTHS, st.sampled_from(["left", "right"]))
def test_fitted_is_exact(line: Cell, width: int, align: str) -> None:
    assert measured(fitted(line, width, align)) == width


@patient
@given(pieces, pieces, WIDTHS)
def test_both_sides_of_a_bar_fill_it_exactly(left: Cell, right: Cell, width: int) -> None:
    assert measured(balanced(left, right, width)) == width


@patient
@given(pieces, WIDTHS)
def test_a_strip_is_exact_and_safe(line: Cell, width: int) -> None:
    strip = Painter(DEFAULTS).strip(cut(line, width), Style(), width)
    assert strip.cell_length == width
    assert not forbidden_in(strip.text)


@patient
@given(texts)
def test_a_cell_is_never_markup(text: str) -> None:
    safe = printable(text)
    content = content_of(cell(safe, "bad"))
    assert content.plain == safe.replace("\t", " ") or content.plain == safe
    assert all("@click" not in str(span.style) for span in content.spans)


def test_names_keep_both_ends() -> None:
    assert plain(cut_middle(cell("sglang-dflash-smoke"), 11)) == "sglan…smoke"
    assert plain(cut_middle(cell("sglang-dflash-smoke"), 4)) == "sgl…"
    assert plain(cut_middle(cell("漢漢漢漢漢漢"), 8)) == "漢漢… 漢"


def test_a_wide_character_is_not_halved() -> None:
    assert plain(fitted(cell("日本語"), 4)) == "日 …"


def test_numbers_stand_at_the_right() -> None:
    assert plain(fitted(cell("62 %"), 6, "right")) == "  62 %"


def test_cut_keeps_tones_of_what_is_left() -> None:
    assert cut((("ab", "ok"), ("cdef", "bad")), 4) == (("ab", "ok"), ("c…", "bad"))


def test_join_leaves_out_what_is_empty() -> None:
    assert plain(join((EMPTY, cell("a"), EMPTY, cell("b")), " · ")) == "a · b"
    assert join(()) == EMPTY


def test_toned_changes_the_tone_and_nothing_else() -> None:
    assert toned((("a", "ok"), ("b", "")), "stale") == (("a", "stale"), ("b", "stale"))


def test_lines_stay_lines() -> None:
    assert lines_of((cell("a"), EMPTY, cell("[/x]"))) == Content("a\n\n[/x]")


def test_tones_are_theme_variables_or_text_styles() -> None:
    variables = {word for style in STYLES.values() for word in style.split() if word.startswith("$")}
    assert {name.removeprefix("$") for name in variables} <= {*ROLES, *TONES}
    words = {word for style in STYLES.values() for word in style.split() if not word.startswith("$")}
    assert words <= {"bold", "underline", "on"}
    assert set(styled.ROLES) == {name.removeprefix("role-") for name in ROLES}


def test_two_tones_make_one_style() -> None:
    assert style_of("bad strong") == "$role-bad bold"
    with pytest.raises(KeyError):
        style_of("red")


def test_ascii_replaces_one_for_one() -> None:
    assert all(len(glyph) == len(letter) == 1 and letter.isascii() for glyph, letter in GLYPHS.items())
    line = [Segment("● sglang-a │ 62 % – …", Style(bold=True)), Segment("日本")]
    done = AsciiFilter().apply(line, Color(0, 0, 0))
    assert [segment.text for segment in done] == ["* sglang-a | 62 % - .", "日本"]
    assert done[0].style == Style(bold=True)


def test_glyphs_that_stand_for_different_states_differ_in_ascii() -> None:
    states = "●◐↻▲×○◌⊘"
    assert len({GLYPHS[glyph] for glyph in states}) == len(states)


@patient
@given(pieces)
def test_a_tab_is_one_blank(line: Cell) -> None:
    assert not any(forbidden_in(text) for text, _ in untabbed(line))
    assert plain(untabbed(cell("a\tb"))) == "a b"
