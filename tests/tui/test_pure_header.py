"""Header and footer, the help, and the outline that the first picture is drawn from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.tui import help as help_text
from dflashtui.tui.bar import balanced
from dflashtui.tui.header import footer_left, footer_right, header_left, header_right
from dflashtui.tui.opening import opening_row
from dflashtui.tui.outline import DEFAULT_THEME, Outline, read_outline
from dflashtui.tui.picture import Picture
from dflashtui.tui.rows.tables import FLEET
from dflashtui.tui.styled import measured, plain
from tests.tui.hostile import WIDTHS, check_pieces, check_row, hosts, patient, texts
from tests.tui.stage import CONNECTING, LIVE, LOST, LOST_GPU, NOW, WITH_FAILURE, ago, host

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.styled import Cell

KEYS = (("enter", "open"), ("a", "actions"), ("/", "filter"), ("?", "help"))


def untabbed(pieces: Cell) -> Cell:
    return tuple((text.replace("\t", " "), tone) for text, tone in pieces)


@patient
@given(st.lists(hosts, max_size=3).map(tuple), WIDTHS, st.booleans())
def test_both_bars_fill_their_line_and_are_safe(found: tuple[HostSnapshot, ...], width: int, is_demo: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    picture = Picture(NOW, found, is_demo=is_demo, read_only=is_demo, frozen_since=NOW if is_demo else None)
    right = header_right(picture)
    names = [one.name for one in found]
    bars = (
        balanced(header_left(picture, "fleet", width - measured(right)), right, width),
        balanced(footer_left(KEYS, width), footer_right(picture, names), width),
    )
    for bar in bars:
        check_pieces(untabbed(bar))
        assert measured(bar) == width


@patient
@given(st.integers(0, 300))
def test_the_longest_form_that_fits(room: int) -> None:
    picture = Picture(NOW, (LIVE, WITH_FAILURE, LOST))
    shown, shortest = header_left(picture, "fleet", room), header_left(picture, "fleet", 0)
    assert measured(shown) <= room or shown == shortest
    assert measured(header_left(picture, "fleet", room + 1)) >= measured(shown) or shown == shortest


def test_the_header_counts_and_says_what_is_wrong() -> None:
    words = plain(header_left(Picture(NOW, (LIVE, WITH_FAILURE, LOST)), "fleet", 300))
    assert words.split() == (
        "lab fleet hosts 2/3 up services 2/6 ready GPUs 16/24 in use 1 alarm 1 unseen".split()  # noqa: SIM905 - as it reads
    )


def test_the_narrowest_header_says_what_is_wrong_first() -> None:
    words = plain(header_left(Picture(NOW, (LOST_GPU,)), "fleet", 0)).split()
    assert words[:3] == ["fleet", "2", "alarms"]


def test_nothing_known_is_not_zero() -> None:
    words = plain(header_left(Picture(NOW, (CONNECTING,)), "fleet", 300))
    assert "services –" in words
    assert "GPUs –" in words


def test_the_header_names_the_one_group_or_the_program() -> None:
    other = host("other", group="other")
    assert plain(header_left(Picture(NOW, (LIVE,)), "fleet", 300)).startswith(" lab  fleet")
    assert plain(header_left(Picture(NOW, (LIVE, other)), "fleet", 300)).startswith(" dflashtui  fleet")


def test_badges() -> None:
    assert plain(header_right(Picture(NOW))).strip().startswith("03:00")
    whole = Picture(NOW, is_demo=True, read_only=True, frozen_since=ago(60))
    words = plain(header_right(whole)).split()
    assert (words[:2], words[3:5]) == (["FROZEN", "since"], ["DEMO", "READ-ONLY"])
    assert words[2].startswith("02:59")
    assert words[5].startswith("03:00")


def test_the_footer_says_how_far_the_values_can_be_believed() -> None:
    slow = host("slow", observed_at=ago(9), journal_dropped_count=7)
    assert plain(footer_right(Picture(NOW, (LIVE,)), ["h-live"])).strip() == "3 channels"
    words = plain(footer_right(Picture(NOW, (LIVE, slow, LOST)), ["slow", "h-lost"]))
    assert words.strip() == "oldest value 9s · 6 channels · 7 lines dropped"
    assert "oldest" not in plain(footer_right(Picture(NOW, (slow,)), []))


@patient
@given(st.integers(0, 100))
def test_the_footer_has_whole_keys_and_never_loses_the_one_for_help(room: int) -> None:
    words = plain(footer_left(KEYS, room))
    shown = [key for key, what in KEYS if f"{key} {what}" in words]
    assert shown[-1] == "?"
    assert shown[:-1] == [key for key, _ in KEYS[: len(shown) - 1]]
    assert words.split() == [word for pair in KEYS if pair[0] in shown for word in pair]
    assert measured(footer_left(KEYS, room)) <= room or shown == ["?"]


def test_help_marks_keys() -> None:
    assert help_text.marked_up("\n  Move with `j`.\n  [/x]\n") == (
        (("Move with ", ""), ("j", "accent"), (".", "")),
        (("[/x]", ""),),
    )


def test_help_explains_every_sign_in_the_colour_it_has() -> None:
    signs = help_text.signs()
    for line in signs:
        check_pieces(line)
    words = "\n".join(map(plain, signs))
    assert all(glyph in words for glyph in "●◐↻▲×○◌⊘–▁█?")


def test_all_keys_under_the_title_of_their_part() -> None:
    lines = help_text.all_keys({"lists": [(["j", "↓"], "Down")], "log": [(["F"], "Follow")]})
    assert [plain(line).split() for line in lines] == [["lists"], ["j", "↓", "Down"], [], ["log"], ["F", "Follow"]]


def written(folder: Path, text: str) -> Path:
    path = folder / "hosts.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_outline_has_the_hosts_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, '[console]\ntheme = "high-contrast"\nmouse = false\n[hosts.b]\n[hosts.a]\n[hosts.gpu07]\n')
    assert read_outline(path) == Outline(("b", "a", "gpu07"), "high-contrast", mouse=False)
    assert read_outline(path, ["gpu*", "a"]).hosts == ("a", "gpu07")


def test_without_a_file_there_is_this_machine() -> None:
    assert read_outline(None) == Outline((os.uname().nodename,), DEFAULT_THEME)


@pytest.mark.parametrize("text", ["", "[hosts", "hosts = 3", "console = 3\nhosts = []", "\x00", "[console]\ntheme = 3"])
def test_a_file_that_cannot_be_used_gives_an_empty_outline(tmp_path: Path, text: str) -> None:
    assert read_outline(written(tmp_path, text)) == Outline()


def test_a_file_that_is_not_there_gives_an_empty_outline(tmp_path: Path) -> None:
    assert read_outline(tmp_path / "none.toml") == Outline()
    assert read_outline(tmp_path) == Outline()
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    assert read_outline(tmp_path / "bytes.toml") == Outline()


@patient
@given(texts, WIDTHS)
def test_the_first_row_of_a_host_is_exact_safe_and_knows_nothing(name: str, width: int) -> None:
    row = opening_row(name)
    check_row(row, FLEET, width)
    assert {plain(pieces) for pieces in row.cells[3:8]} == {"–"}
    assert set(row.values[2:]) == {None}
