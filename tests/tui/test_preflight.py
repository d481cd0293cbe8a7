"""The preflight on the screen: findings, the plan that cures them, and where nothing may be changed."""

from __future__ import annotations

import json
import shlex
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import given

from dflashtui.model.preflight import Preflight, PreflightFinding, worst_first
from dflashtui.ops.preflight_fix import fix_confirmation, fixes
from dflashtui.tui.details.parts import folded
from dflashtui.tui.preflight import words
from dflashtui.tui.preflight.desk import STALE_SECONDS
from dflashtui.tui.preflight.fixing import FixScreen
from dflashtui.tui.preflight.screen import PreflightScreen
from dflashtui.tui.preflight.words import Look, Place
from dflashtui.tui.screen import MainScreen
from dflashtui.tui.styled import plain
from tests.tui.fake import console
from tests.tui.hostile import check_lines, patient, texts
from tests.tui.stage import HOSTILE, LIVE, NOW, READY, host

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

UNIT = READY.name
HOST = LIVE.name
PLACE = Place(HOST, UNIT)
RELOAD, UNMASK = ("systemctl", "daemon-reload"), ("systemctl", "unmask", "--", UNIT)


def finding(level: str, message: str, where: str = HOST, **more: object) -> PreflightFinding:
    fields = {"id": message, "level": level, "check": "unit", "host": where, "unit": UNIT, "message": message}
    return PreflightFinding.model_validate(fields | more)


def found(*findings: PreflightFinding, where: str = HOST) -> Preflight:
    return Preflight(host=where, unit=UNIT, findings=worst_first(findings), elapsed_seconds=1.24)


MASKED = finding(
    "fatal", "it is masked", evidence=("/etc/x -> /dev/null",), remedy="take back the mask", command=UNMASK
)
OLD = finding("warning", "it changed on disk", remedy="load it", command=RELOAD)
PORT = finding("fatal", "port 30001 is taken", evidence=("pid 7, other.service",), remedy="choose another port")
NOTE = finding("note", "late import of soundfile")
WHOLE = found(NOTE, OLD, MASKED, PORT)


def text_of(lines: object) -> str:
    return "\n".join(map(plain, lines))  # type: ignore[call-overload]


def test_findings_stand_worst_first_below_the_head_of_their_host() -> None:
    other = Place("gpu-b", UNIT)
    looks = {PLACE: Look(WHOLE, is_looking=False), other: Look(failure="no route to host", is_looking=False)}
    assert text_of(one.line for one in words.entries(looks)).splitlines() == [
        f"× sglang-a on {HOST}  would fail: 2 fatal, 1 warning, 1 note  (1.2 s)",
        "  × $ it is masked",
        "  ×   port 30001 is taken",
        "  ▲ $ it changed on disk",
        "  ·   late import of soundfile",
        "⊘ sglang-a on gpu-b  no route to host",
    ]


def test_what_was_found_stays_while_it_is_looked_at_again() -> None:
    assert "looking …" in plain(words.head_line(PLACE, Look()))
    assert plain(words.head_line(PLACE, Look(WHOLE))).endswith("1 note  looking again …")
    assert plain(words.head_line(PLACE, Look(found(), is_looking=False))) == (
        f"● sglang-a on {HOST}  no fault found  (1.2 s)"
    )


def test_a_finding_has_evidence_remedy_and_command() -> None:
    page = text_of(words.finding_page(MASKED, can_fix=True))
    for part in ("fatal · unit", "/etc/x -> /dev/null", "take back the mask", shlex.join(UNMASK), "f runs it"):
        assert part in page
    assert "f runs it" not in text_of(words.finding_page(MASKED, can_fix=False))
    assert "choose another port" in words.copied({PLACE: Look(WHOLE)})


def test_the_plan_has_each_command_once_on_each_host() -> None:
    twice = WHOLE.model_copy(update={"unit": "sglang-b.service"})
    elsewhere = found(OLD.model_copy(update={"host": "gpu-b"}), where="gpu-b")
    plan = fixes((WHOLE, twice, elsewhere))
    assert [(one.host, one.argv) for one in plan] == [(HOST, UNMASK), (HOST, RELOAD), ("gpu-b", RELOAD)]
    asked = fix_confirmation(plan, {})
    question = words.fix_question(asked, plan)
    assert (asked.word, question.verb) == ("2", "run all")
    assert f"2  {shlex.join(RELOAD)}  on {HOST}" in text_of(question.lines)
    assert "the first failure stops the rest" in text_of(question.lines)
    assert fix_confirmation(plan[:2], {}).word is None
    assert fix_confirmation(plan[:1], {HOST: host(HOST, protected=True)}).word == "lab"


@patient
@given(texts)
def test_whatever_a_host_says_is_inert(text: str) -> None:
    bad = finding("fatal", text, remedy=text, evidence=(text, HOSTILE), command=("x", text))
    looks = {PLACE: Look(found(bad)), Place(text, text): Look(failure=text, is_looking=False)}
    plan = fixes((found(bad),))
    question = words.fix_question(fix_confirmation(plan, {}), plan)
    listed = (one.line for one in words.entries(looks))
    page = (*words.finding_page(bad, can_fix=True), *question.lines, question.title, *listed)
    check_lines(folded(page, 80), 80)


def test_secrets_are_masked() -> None:
    bad = finding("fatal", "OPENAI_API_KEY=sk-verysecretvalue1234567890 is set twice", evidence=("--api-key hunter2",))
    shown = text_of((words.finding_line(bad), *words.finding_page(bad, can_fix=True)))
    assert "hunter2" not in shown
    assert "verysecret" not in shown


async def test_a_plan_is_asked_streamed_audited_and_stops_at_the_first_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with console(LIVE) as c:
        c.fleet.says, c.fleet.ends_with = ("cannot unmask",), 1
        await c.press("3", "v")
        await c.sees("preflight of", "1 fatal", "env: not found")
        sheet = c.app.screen
        assert isinstance(sheet, PreflightScreen)
        sheet.fill(WHOLE)
        await c.sees("× $ it is masked", "/etc/x -> /dev/null", "F fixes all (2)")
        await c.press("j")
        await c.sees("pid 7, other.service")
        await c.press("f")
        assert isinstance(c.app.screen, PreflightScreen)
        await c.press("F")
        await c.sees("run 2 remedies", shlex.join(UNMASK), shlex.join(RELOAD))
        assert not [one for one in c.fleet.commanded if "systemctl" in one]
        await c.press("right", "enter")
        await c.until(lambda: isinstance(c.app.screen, FixScreen))
        await c.sees("cannot unmask", "exit 1", "0 of 2 done, 1 not run")
        assert [one[-len(UNMASK) :] for one in c.fleet.commanded if "systemctl" in one] == [UNMASK]
        await c.press("escape")
        await c.until(lambda: not isinstance(c.app.screen, FixScreen) and not sheet.is_looking)
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)
    (line,) = (tmp_path / "dflashtui" / "audit.jsonl").read_text().splitlines()
    assert json.loads(line)["ok"] is False


async def test_where_nothing_may_be_changed_it_only_looks() -> None:
    async with console(LIVE, read_only=True, size=(80, 24)) as c:
        await c.press("3", "v")
        sheet = c.app.screen
        assert isinstance(sheet, PreflightScreen)
        await c.until(lambda: not sheet.is_looking)
        sheet.fill(WHOLE)
        await c.sees("it is masked", "r looks again")
        assert "fixes" not in c.text
        await c.press("f", "F")
        assert isinstance(c.app.screen, PreflightScreen)
        await c.press("enter")
        await c.sees("take back the mask")
        assert "late import" not in c.text
        await c.press("escape")
        await c.sees("late import")


async def test_marked_units_are_looked_at_together_and_the_menu_has_it() -> None:
    async with console(LIVE, host("h-two")) as c:
        await c.press("1")
        assert not c.screen.check_action("preflight", ())
        await c.press("3", "space", "space", "a")
        await c.sees("preflight …")
        await c.press("v")
        await c.sees("preflight of 2 units")


async def test_what_was_seen_long_ago_is_looked_at_again_before_anything_runs() -> None:
    async with console(LIVE) as c:
        await c.press("3", "v")
        sheet = c.app.screen
        assert isinstance(sheet, PreflightScreen)
        await c.until(lambda: not sheet.is_looking)
        sheet.fill(WHOLE)
        c.screen.clock = lambda: NOW + timedelta(seconds=STALE_SECONDS + 1)
        await c.press("F")
        await c.sees("looking again first", "env: not found")
        assert "it is masked" not in c.text
        assert not [one for one in c.fleet.commanded if "systemctl" in one]


async def test_a_first_escape_begins_nothing_more_and_a_second_ends_what_runs() -> None:
    ended: list[bool] = []
    async with console(LIVE) as c:
        steps = FixScreen(fixes((WHOLE,)), lambda: ended.append(True))
        c.app.push_screen(steps)
        steps.begin(0)
        steps.line(f"42 %\r{HOSTILE}")
        await c.sees("◐ h-live  systemctl unmask", "· h-live  systemctl daemon-reload", "it runs", "日本語")
        await c.press("escape")
        await c.sees("nothing more begins")
        assert (steps.is_stopping, ended) == (True, [])
        await c.press("escape")
        await c.until(lambda: ended == [True])
        steps.ended("0 of 2 done")
        await c.sees("– h-live  systemctl daemon-reload", "escape closes")
        await c.press("escape")
        await c.until(lambda: isinstance(c.app.screen, MainScreen))
