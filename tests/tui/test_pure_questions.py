"""What a person is asked before a change: the exact commands, what they are about, and why it is heavy."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.ops.weight import confirmation
from dflashtui.tui.picture import Picture
from dflashtui.tui.questions import (
    DEPENDENTS,
    HINTS,
    LETTERS,
    SHOWN_TARGETS,
    SIGNALS,
    dependents,
    light_question,
    question,
    signal_choices,
    targets_in_words,
    verb_choices,
)
from dflashtui.tui.styled import plain
from dflashtui.tui.subject import unit_subject
from tests.tui.hostile import check_pieces, hosts, maybe, patient, texts
from tests.tui.stage import FAILED, LIVE, NOW, READY, STOPPED, WITH_FAILURE, host, process, unit
from tests.tui.stage import gpu as card

if TYPE_CHECKING:
    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.dialogs.confirm import Question
    from dflashtui.tui.styled import Cell

PICTURE = Picture(NOW, (LIVE, WITH_FAILURE))


def restart(host_name: str, name: str = READY.name) -> UnitAction:
    return UnitAction(verb=Verb.RESTART, host=host_name, unit=name)


def asked(*actions: UnitAction, picture: Picture = PICTURE) -> Question:
    return question(confirmation(actions, {one.name: one for one in picture.hosts}), actions, picture)


def words(lines: tuple[Cell, ...]) -> list[str]:
    return [plain(line) for line in lines]


def untabbed(lines: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return tuple(tuple((text.replace("\t", " "), tone) for text, tone in line) for line in lines)


def test_one_unit_on_one_host() -> None:
    found = asked(restart("h-live"))
    assert plain(found.title) == "restart sglang-a on h-live"
    assert (found.verb, found.word) == ("restart", None)
    assert found.commands == "systemctl restart sglang-a.service"
    assert words(found.lines) == [
        "systemctl restart sglang-a.service   on h-live", "", "now", "● h-live  sglang-a  ready   GPUs 0",
    ]  # fmt: skip


def test_what_is_copied_is_what_is_shown_and_sent() -> None:
    action = UnitAction(verb=Verb.KILL, host="h-live", unit="a b.service", signal="SIGTERM", manager="user")
    found = asked(action)
    assert found.commands in words(found.lines)[0]
    assert shlex.split(found.commands) == [part for part in action.argv if part != "--"]


def test_a_heavy_question_says_why_and_wants_a_word() -> None:
    protected = Picture(NOW, (host("a", group="prod", protected=True),))
    found = asked(restart("a"), picture=protected)
    assert found.word == "prod"
    assert words(found.lines)[-1] == "▲ group prod is protected"
    assert confirmation((restart("a"),), {"a": protected.hosts[0]}).weight is Weight.HEAVY


def test_one_command_for_several_hosts_is_said_once() -> None:
    found = asked(restart("h-live"), restart("h-failed"))
    assert plain(found.title) == "restart 2 units on 2 hosts"
    assert words(found.lines)[0] == "systemctl restart sglang-a.service   on h-live, h-failed"
    assert words(found.lines)[2] == "units"
    assert found.commands.splitlines() == ["systemctl restart sglang-a.service"] * 2


def test_many_units_are_counted_and_not_all_listed() -> None:
    many = tuple(unit(f"u{number}.service") for number in range(SHOWN_TARGETS + 3))
    picture = Picture(NOW, (host("h", units=many),))
    found = asked(*(restart("h", one.name) for one in many), picture=picture)
    assert words(found.lines).count("… and 3 more") == 2
    assert len(found.commands.splitlines()) == len(many)
    assert plain(found.title) == f"restart {len(many)} units on 1 host"


def test_a_unit_that_vanished_meanwhile_is_still_asked_about() -> None:
    assert asked(restart("h-live", "gone.service")).commands == "systemctl restart gone.service"


def test_a_light_question_is_one_line() -> None:
    found = light_question(UnitAction(verb=Verb.START, host="h-live", unit="idle.service"))
    assert plain(found.title) == "systemctl start idle.service  on h-live"
    assert (found.lines, found.word) == ((), None)


def test_targets_in_words() -> None:
    assert plain(targets_in_words((restart("h"),))) == "sglang-a on h"
    assert plain(targets_in_words((restart("h"), restart("h", "b")))) == "2 units on 1 host"


def test_every_verb_has_a_letter_of_its_own_and_words() -> None:
    assert set(LETTERS) == set(HINTS) == set(Verb)
    assert len(set(LETTERS.values())) == len(Verb)
    assert len({choice.key for choice in signal_choices()}) == len(SIGNALS)
    assert all(choice.value.startswith("SIG") for choice in signal_choices())


def test_the_menu_has_only_what_fits() -> None:
    def verbs(name: str, host_name: str = "h-live") -> set[str]:
        return {choice.value for choice in verb_choices((unit_subject(host_name, name),), PICTURE)}

    assert verbs(STOPPED.name) == {"start", "enable", "mask", "kill"} - {"kill"}
    assert verbs(READY.name) == {"stop", "restart", "disable", "mask", "kill"}
    assert "reset-failed" in verbs(FAILED.name, "h-failed")
    assert verbs("gone.service") == set()


def test_a_menu_for_several_says_how_many_a_verb_fits() -> None:
    subjects = (unit_subject("h-live", READY.name), unit_subject("h-live", STOPPED.name))
    hints = {choice.value: choice.hint for choice in verb_choices(subjects, PICTURE)}
    assert hints["start"] == "start it · 1 of 2"
    assert hints["mask"].endswith("2 of 2")


def test_what_depends_on_a_unit_comes_in_a_fixed_order() -> None:
    assert dependents({}) == dependents({"RequiredBy": "", "Wants": "x"}) == ()
    found = words(dependents({"WantedBy": "multi-user.target", "BoundBy": "a.service\x1b[2J", "Id": "x"}))
    assert [line.split() for line in found] == [
        [], ["needed", "by"], ["BoundBy", "a.service"], ["WantedBy", "multi-user.target"],
    ]  # fmt: skip


@patient
@given(st.dictionaries(st.sampled_from(DEPENDENTS), texts))
def test_dependents_are_safe(properties: dict[str, str]) -> None:
    for line in untabbed(dependents(properties)):
        check_pieces(line)


@patient
@given(st.lists(hosts, min_size=1, max_size=2).map(tuple), st.sampled_from(Verb), maybe)
def test_questions_are_safe(found: tuple[HostSnapshot, ...], verb: Verb, signal: str | None) -> None:
    picture = Picture(NOW, found)
    actions = [
        UnitAction(verb=verb, host=one.name, unit=name, signal=signal)
        for one in found
        for name in (*(each.name for each in one.units or ()), "x.service")
    ]
    shown = asked(*actions, picture=picture)
    for line in untabbed((shown.title, *shown.lines, light_question(actions[0]).title)):
        check_pieces(line)


@pytest.mark.parametrize("count", [1, 2, SHOWN_TARGETS, SHOWN_TARGETS + 1])
def test_no_command_is_hidden_without_a_word(count: int) -> None:
    actions = [restart("h-live", f"u{number}.service") for number in range(count)]
    lines = words(asked(*actions).lines)
    listed = sum(line.startswith("systemctl") for line in lines)
    assert listed == count or f"… and {count - listed} more" in lines


def test_gpus_that_would_be_freed_are_named() -> None:
    held = tuple(card(index, processes=(process(1, READY.name),)) for index in range(4))
    picture = Picture(NOW, (host("h", gpus=held),))
    assert "GPUs 0-3" in "\n".join(words(asked(restart("h"), picture=picture).lines))
