"""Where the console is and the way back; the language of its command line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dflashtui.tui import lines
from dflashtui.tui.lines import Line, LineError, completions, parse, seconds
from dflashtui.tui.places import FLEET, Place, Way
from dflashtui.tui.subject import host_subject, unit_subject
from tests.tui.hostile import patient, texts

VIEWS = ("fleet", "host", "services", "gpus", "logs", "events")
HOST = Place("host", host_subject("gpu07"))
LOGS = Place("logs", unit_subject("gpu07", "a.service"))
EVENTS = Place("events")


def test_up_comes_back_step_by_step() -> None:
    way = Way()
    way.enter(HOST)
    way.enter(LOGS)
    assert (way.up(), way.here) == (True, HOST)
    assert (way.up(), way.here) == (True, FLEET)
    assert (way.up(), way.here) == (False, FLEET)


def test_a_jump_has_the_fleet_above_it() -> None:
    way = Way()
    way.enter(HOST)
    way.jump(EVENTS)
    assert (way.up(), way.here, way.up()) == (True, FLEET, False)


def test_minus_goes_to_and_fro() -> None:
    way = Way()
    way.enter(HOST)
    way.jump(EVENTS)
    seen = []
    for _ in range(3):
        way.back()
        seen.append(way.here)
    assert seen == [HOST, EVENTS, HOST]


def test_minus_brings_back_what_was_above() -> None:
    way = Way()
    way.jump(HOST)
    way.jump(FLEET)
    way.back()
    assert way.here == HOST
    assert way.up(), "q would leave the console from a host"
    assert way.here == FLEET


def test_at_the_fleet_nothing_is_above_however_one_came() -> None:
    way = Way()
    way.enter(HOST)
    way.back()
    assert (way.here, way.up()) == (FLEET, False)


def test_the_number_of_this_view_is_no_step() -> None:
    way = Way()
    way.jump(EVENTS)
    way.look_at(host_subject("gpu07"))
    way.jump(EVENTS)
    way.back()
    assert way.here == FLEET


def test_the_way_back_finds_the_row() -> None:
    way = Way()
    way.look_at(host_subject("gpu07"))
    way.enter(HOST)
    way.up()
    assert way.here == Place("fleet", host_subject("gpu07"))


def test_entering_where_one_is_changes_nothing() -> None:
    way = Way()
    way.enter(HOST)
    way.enter(HOST)
    assert (way.up(), way.up()) == (True, False)


places = st.builds(Place, st.sampled_from(VIEWS), st.sampled_from([None, host_subject("a"), unit_subject("a", "b")]))
steps = st.tuples(st.sampled_from(["enter", "jump", "up", "back"]), places)


@patient
@given(st.lists(steps, max_size=20))
def test_up_always_ends_at_the_top(gone: list[tuple[str, Place]]) -> None:
    way = Way()
    for step, place in gone:
        if step in {"enter", "jump"}:
            getattr(way, step)(place)
        else:
            getattr(way, step)()
        assert way.here.view == FLEET.view or way.above, "every other view has something above it"
    depth = len(way.above)
    assert [way.up() for _ in range(depth + 1)] == [True] * depth + [False]
    assert way.here.view == FLEET.view


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("host gpu07", Line("host", "gpu07")),
        ("  unit   sglang-a gpu07 ", Line("unit", "sglang-a gpu07")),
        ("events", Line("events")),
        ("w a b.txt", Line("w", "a b.txt")),
        ("q", Line("q")),
    ],
)
def test_lines_that_are_understood(typed: str, meant: Line) -> None:
    assert parse(typed, VIEWS) == meant


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("hots gpu07", "did you mean host?"),
        ("", "there are host, unit"),
        ("host", ":host NAME: go to a host"),
        ("w ", ":w FILE"),
        ("[/x]", "no command"),
    ],
)
def test_lines_that_are_not(typed: str, words: str) -> None:
    with pytest.raises(LineError, match="(?s).*" + words.replace("?", r"\?")):
        parse(typed, VIEWS)


@patient
@example("filter")
@given(st.lists(texts | st.sampled_from([*lines.WORDS, *VIEWS]), max_size=3).map(" ".join))
def test_whatever_is_typed_is_understood_or_refused(typed: str) -> None:
    word, _, rest = typed.strip().partition(" ")
    is_whole = word in {*lines.WORDS, *VIEWS} and (rest.strip() or word not in {"host", "unit", "theme", "w", "filter"})
    try:
        said = parse(typed, VIEWS)
    except LineError:
        assert not is_whole
    else:
        assert is_whole
        assert said == Line(word, rest.strip())


@pytest.mark.parametrize(("span", "expected"), [("45s", 45), ("10m", 600), ("2 h", 7200), (" 1d ", 86400)])
def test_spans(span: str, expected: float) -> None:
    assert seconds(span) == expected


@pytest.mark.parametrize("span", ["", "10", "m", "-1m", "1.5h", "10mm", "10 min"])
def test_what_is_no_span(span: str) -> None:
    with pytest.raises(LineError, match="expected a number and s, m, h or d"):
        seconds(span)


def test_every_completion_is_a_line() -> None:
    found = completions(VIEWS, ["gpu07"], ["a.service"], ["dflash-dark"])
    assert {"host gpu07", "unit a.service", "theme dflash-dark", "events", "q"} <= {*found}
    whole = [line for line in found if " " in line or line in {"fleet", "events"}]
    assert [parse(line, VIEWS).word for line in whole] == [line.split()[0] for line in whole]
