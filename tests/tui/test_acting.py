"""Changes: asked by weight, bound to the run that was seen, told as events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from dflashtui.model.action import UnitAction, Verb
from dflashtui.tui.app import DflashApp
from dflashtui.tui.dialogs.confirm import Confirm, LightConfirm
from dflashtui.tui.dialogs.menu import Menu
from dflashtui.tui.dialogs.run import RunScreen
from dflashtui.tui.keys import bindings_of
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.detail_pane import DetailPane
from dflashtui.tui.screen import MainScreen
from tests.faults.marks import fault
from tests.tui.fake import console
from tests.tui.stage import FAILED, LIVE, LOST_GPU, READY, STOPPED, WITH_FAILURE, host

if TYPE_CHECKING:
    from pathlib import Path

RESTART = UnitAction(verb=Verb.RESTART, host="h-live", unit=READY.name)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "dflashtui" / "audit.jsonl"


async def test_restart_asks_with_the_focus_on_cancel_and_shows_the_command() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.sees("systemctl restart sglang-a.service", "on h-live", "gateway.service")
        assert c.app.focused is not None
        assert c.app.focused.id == "cancel"
        await c.press("enter")
        await c.until(lambda: c.app.screen is c.screen)
        assert c.fleet.performed == []


async def test_a_confirmed_restart_is_sent_audited_and_told(state: Path) -> None:
    async with console(LIVE) as c:
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.until(lambda: c.fleet.performed == [RESTART])
        await c.press("6")
        await c.sees("events 1", "systemctl restart sglang-a.service: done · 0.2 s · by ")
    line = json.loads(await asyncio.to_thread(state.read_text))
    assert (line["command"], line["host"], line["ok"]) == ("systemctl restart sglang-a.service", "h-live", True)


async def test_start_is_one_line_in_place() -> None:
    async with console(host("h-live", units=(STOPPED,))) as c:
        await c.press("enter", "a")
        await c.until(lambda: isinstance(c.app.screen, Menu))
        await c.press("s")
        await c.until(lambda: isinstance(c.app.screen, LightConfirm))
        await c.sees("systemctl start idle.service  on h-live")
        await c.press("enter")
        await c.until(lambda: [action.verb for action in c.fleet.performed] == [Verb.START])


async def test_the_menu_lists_only_what_fits() -> None:
    async with console(WITH_FAILURE) as c:
        await c.press("enter", "down", "a")
        await c.sees("start it", "reset-failed")
        assert "stop it and" not in c.text


async def test_a_protected_group_wants_its_name_typed() -> None:
    async with console(host("h-live", group="prod", protected=True)) as c:
        await c.press("enter", "R")
        await c.sees("type prod to go on", "group prod is protected")
        await c.press("p", "r", "o", "enter")
        await c.pilot.pause()
        assert c.fleet.performed == []
        await c.press("d", "enter")
        await c.until(lambda: c.fleet.performed == [RESTART])


async def test_marks_act_on_all_and_show_each() -> None:
    two = host("h-two")
    async with console(LIVE, two) as c:
        c.fleet.fails = {"vllm-b.service"}
        await c.press("3", "space", "space", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.until(lambda: isinstance(c.app.screen, RunScreen))
        await c.sees("done in 0.2 s", "exit 1: Unit is masked.", "escape closes")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)
        assert len(c.fleet.performed) == 2


async def test_ctrl_q_leaves_from_a_question_too_and_sends_nothing() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("ctrl+q")
        await c.until(lambda: c.app._exit)
        assert c.fleet.performed == []


async def test_escape_stops_what_has_not_started() -> None:
    two = host("h-two")
    async with console(LIVE, two) as c:
        c.fleet.may_end = asyncio.Event()
        await c.press("3", "space", "down", "down", "space", "R")
        await c.sees("type 2 to go on")
        await c.press("2", "enter")
        await c.until(lambda: len(c.fleet.performed) == 1)
        await c.press("escape")
        await c.sees("stopping: what runs is waited for")
        c.fleet.may_end.set()
        await c.sees("skipped", "escape closes")
        assert len(c.fleet.performed) == 1


@fault("H7", how="the unit starts anew while a question is open", result="nothing is sent")
async def test_a_unit_that_started_anew_meanwhile_is_not_touched() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        anew = READY.model_copy(update={"invocation_id": "f" * 32})
        c.fleet.post(LIVE.model_copy(update={"units": (anew,)}))
        await c.until(lambda: c.screen.newest.hosts[0].units == (anew,))
        await c.press("right", "enter")
        await c.sees("not sent: a unit was started anew")
        assert c.fleet.performed == []


@fault("H7", how="rows move while a question is open", result="the action is about the row it was asked on")
async def test_the_question_is_about_the_row_it_was_asked_on() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        c.fleet.post(LIVE.model_copy(update={"units": (FAILED, STOPPED, READY)}))
        await c.until(lambda: len(c.screen.newest.hosts[0].units or ()) == 3)
        await c.press("right", "enter")
        await c.until(lambda: c.fleet.performed == [RESTART])


async def test_a_failure_is_told_with_its_reason() -> None:
    async with console(LIVE) as c:
        c.fleet.fails = {READY.name}
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.sees("h-live: systemctl restart")
        await c.press("6")
        await c.sees("systemctl restart sglang-a.service: exit 1: Unit is masked.")


@fault("E15", how="the console with --read-only", result="no changing key is there")
async def test_read_only_has_no_changing_key() -> None:
    async with console(LIVE, read_only=True) as c:
        await c.press("enter")
        await c.sees("READ-ONLY", "d details")
        assert "R restart" not in c.text
        assert "a actions" not in c.text
        await c.press("R", "a")
        await c.pilot.pause()
        assert c.app.screen is c.screen


@fault("E15", how="a read-only group", result="no changing key is there")
async def test_a_read_only_group_has_no_changing_key() -> None:
    async with console(host("h-live", read_only=True)) as c:
        await c.press("enter")
        await c.sees("d details")
        assert "R restart" not in c.text


async def test_xid_faults_are_acknowledged_from_the_menu() -> None:
    async with console(LOST_GPU) as c:
        await c.press("a")
        await c.sees("acknowledge")
        await c.press("x")
        await c.until(lambda: c.fleet.acknowledged == ["h-lostgpu"])


async def test_q_asks_while_an_action_runs() -> None:
    async with console(LIVE) as c:
        c.fleet.may_end = asyncio.Event()
        await c.press("enter", "R")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.until(lambda: bool(c.fleet.performed))
        await c.press("escape", "q")
        await c.sees("1 actions are running")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)
        c.fleet.may_end.set()
        await c.until(lambda: c.screen.actor.running == 0)


LEAVING = {"q", "ctrl+q", "s", "M", *"123456"}
"""Keys that leave the console, lend its terminal, or show another view."""


@pytest.mark.parametrize("view", ["2", "3", "5"])
async def test_no_key_without_a_question_changes_a_host(view: str) -> None:
    scopes = (DflashApp, MainScreen, RowList, LogPane, DetailPane)
    bound = {key for scope in scopes for keys in bindings_of(scope).values() for key in keys}
    async with console(LIVE, WITH_FAILURE) as c:
        for key in sorted({*bound, "delete", "backspace"} - LEAVING):
            while c.app.screen is not c.screen:
                await c.press("escape")
            await c.press(view, key)
        await c.pilot.pause()
        assert c.fleet.performed == []
