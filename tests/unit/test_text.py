"""Text from hosts becomes harmless, whatever it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.text import human_bytes, human_span, printable, shortened, times

HOSTILE = st.text(st.sampled_from("a[/]\x1b\x07\x9b\x9d\\;0mxJ]\x00\r\n\u202e\u200b\u0301\U000e0001é漢"))


@given(st.text() | HOSTILE)
def test_no_control_or_format_character_survives(text: str) -> None:
    assert all(char == "\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"} for char in printable(text))


@given(st.text() | HOSTILE)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_is_kept_letter_by_letter(text: str) -> None:
    assert printable(text) == text


def test_an_escape_sequence_vanishes_with_its_payload() -> None:
    assert printable("a\x1b]0;title\x07b\x1b[31mc\x1b]52;c;eA==\x1b\\d\x9b2Je") == "abcde"


def test_an_unfinished_sequence_swallows_nothing_visible_beyond_the_line() -> None:
    assert "\x1b" not in printable("x\x1b]0;never ends")


def test_long_text_is_cut_and_says_so() -> None:
    assert printable("x" * 50, limit=10) == "xxxxxxxxx…"


@pytest.mark.parametrize("mark", ["\u0301", "\u20dd", "\u0e31"])
def test_stacked_marks_are_bounded(mark: str) -> None:
    assert len(printable("e" + mark * 10_000, limit=20_000)) == 4


def test_names_are_cut_in_the_middle() -> None:
    assert shortened("sglang-dflash-smoke.service", 11) == "sglan…rvice"
    assert shortened("short", 11) == "short"


def test_quantities() -> None:
    assert human_bytes(None) == "–"
    assert human_bytes(0) == "0 B"
    assert human_bytes(54 * 2**30) == "54.0 GiB"
    assert human_span(None) == "–"
    assert [human_span(s) for s in (0, 45, 70, 120, 4000, 90_000)] == ["0s", "45s", "1m10s", "2m", "1h06m", "1d01h"]
    assert [times(count) for count in (0, 1, 4)] == ["0 times", "once", "4 times"]
