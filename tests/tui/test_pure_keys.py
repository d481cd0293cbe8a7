"""The key map: what a person may change, and what is told before the console starts."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding, BindingType
from textual.widget import Widget

from dflashtui.errors import ConfigError
from dflashtui.tui.keys import LONG_NAMES, bindings_of, check_keymap, described, normal_keys, shown_key
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.scopes import SCOPES
from dflashtui.tui.screen import MainScreen
from dflashtui.tui.travel import Travel
from dflashtui.tui.views import VIEWS
from tests.tui.hostile import patient, texts


class Parent(Widget):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a,f5", "one", "One", id="x.one", tooltip="Does one thing"),
        Binding("b", "two", "Two", id="x.two"),
    ]


class Child(Parent):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "three", "Three", id="x.three")]


class Elsewhere(Widget):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "four", "Four", id="y.four")]


def problems_of(keymap: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        check_keymap(keymap, (Child, Elsewhere))
    return caught.value.problems


def test_the_default_keys_clash_nowhere() -> None:
    check_keymap({}, SCOPES)


def test_two_actions_on_one_key_in_one_scope_name_both() -> None:
    assert problems_of({"x.two": "c"}) == ("console.keymap: the key 'c' is given to both 'x.two' and 'x.three'",)
    assert problems_of({"x.three": "a"}) == ("console.keymap: the key 'a' is given to both 'x.one' and 'x.three'",)


def test_a_key_of_another_scope_is_free() -> None:
    check_keymap({}, (Child, Elsewhere))
    check_keymap({"y.four": "b"}, (Child, Elsewhere))


def test_keys_may_be_exchanged() -> None:
    check_keymap({"x.one": "b", "x.two": "a,f5"}, (Child, Elsewhere))


def test_a_sign_and_its_long_name_are_one_key() -> None:
    assert problems_of({"x.one": "?", "x.two": "question_mark"}) == (
        "console.keymap: the key '?' is given to both 'x.one' and 'x.two'",
    )


def test_an_unknown_action_is_told_with_the_nearest_known_one() -> None:
    assert problems_of({"x.thre": "z"}) == ("console.keymap: no action 'x.thre'; did you mean 'x.three'?",)
    (problem,) = problems_of({"quite different": "z"})
    assert "lists them" in problem


@pytest.mark.parametrize("keys", ["", " ", "a,,b", ",", "a,"])
def test_a_missing_key_is_told_and_ends_nothing(keys: str) -> None:
    (problem,) = problems_of({"x.one": keys})
    assert "x.one" in problem
    assert "expected" in problem


def test_all_mistakes_at_once() -> None:
    found = problems_of({"nowhere.at_all": "z", "x.one": "", "x.two": "c"})
    assert len(found) == 3
    assert len({*found}) == 3


def test_the_same_mistake_in_two_scopes_is_told_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check_keymap({"x.two": "a"}, (Parent, Child))
    assert len(caught.value.problems) == 1


@patient
@given(st.dictionaries(st.sampled_from(["x.one", "x.two", "x.three"]) | texts, texts, max_size=4))
def test_whatever_the_keymap_says_is_accepted_or_told(keymap: dict[str, str]) -> None:
    known = {"x.one", "x.two", "x.three", "y.four"}
    try:
        check_keymap(keymap, (Child, Elsewhere))
    except ConfigError as error:
        told = error.problems
    else:
        told = ()
    assert bool(told) >= (not set(keymap) <= known or not all(keymap.values()))


def test_inherited_bindings_count() -> None:
    assert bindings_of(Child) == {"x.one": ["a", "f5"], "x.two": ["b"], "x.three": ["c"]}


def test_what_a_key_does_is_its_tooltip_or_its_description() -> None:
    assert described(Child)["x.one"] == (["a", "f5"], "Does one thing")
    assert described(Child)["x.two"] == (["b"], "Two")


@pytest.mark.parametrize(("short", "long"), sorted(LONG_NAMES.items()))
def test_signs_are_shown_as_they_are_written(short: str, long: str) -> None:
    assert shown_key(long) == short
    assert normal_keys(short) == [long]


def test_other_keys_are_shown_short() -> None:
    assert [shown_key(key) for key in ("escape", "pagedown", "up", "f5", "G")] == ["esc", "pgdn", "↑", "f5", "G"]


def test_the_views_have_the_numbers_of_the_key_map() -> None:
    assert VIEWS == ("fleet", "host", "services", "gpus", "logs", "events")
    keys = bindings_of(Travel)
    assert [keys[f"console.view_{name}"] for name in VIEWS] == [[str(place)] for place in range(1, 7)]


def test_a_list_takes_no_key_from_the_screen() -> None:
    on_lists = {key for keys in bindings_of(RowList).values() for key in keys}
    on_screen = {key for keys in bindings_of(MainScreen).values() for key in keys}
    assert on_lists & on_screen == set()


@pytest.mark.parametrize(
    "key", ["f6", "ctrl+r", "shift+pageup", "x", "+", "?", "question_mark", "ü", "ctrl+alt+delete"]
)
def test_keys_that_exist_are_taken(key: str) -> None:
    check_keymap({"x.three": key}, (Child,))


@pytest.mark.parametrize(
    ("key", "hint"), [("pagup", "did you mean 'pageup'?"), ("strg+r", "expected keys"), ("F99x", "expected keys")]
)
def test_a_key_that_no_terminal_has_is_told(key: str, hint: str) -> None:
    (problem,) = problems_of({"x.one": key})
    assert f"x.one: no key '{key}'" in problem
    assert hint in problem
