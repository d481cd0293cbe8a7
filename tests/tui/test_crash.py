"""Crash cards: for failures of before, and for starts that were asked for; what their keys do."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.unit import ActiveState, Readiness
from dflashtui.ops.failed_runs import FailedRuns
from dflashtui.paths import state_folder
from dflashtui.tui.crash.card import CrashCard
from dflashtui.tui.crash.command import CommandScreen
from dflashtui.tui.dialogs.confirm import Confirm
from tests.tui.crash_stage import (
    NEXT_RUN,
    PYTHON,
    TRACEBACK,
    UNIT,
    crashed,
    entries,
    host_with,
    inventory,
    prepare,
)
from tests.tui.fake import console
from tests.tui.stage import HOSTILE, ago

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.subject import Subject
    from tests.tui.fake import Console

INSTALL = (PYTHON, "-m", "pip", "install", "soundfile==0.13.1")
RESTART = UnitAction(verb=Verb.RESTART, host="h-crash", unit=UNIT)


@asynccontextmanager
async def on(snapshot: HostSnapshot, *texts: str, read_only: bool = False) -> AsyncIterator[Console]:
    """A console with the cursor on the unit."""
    async with console(snapshot, config=inventory(snapshot), read_only=read_only) as c:
        prepare(c.fleet, *texts)
        await c.press("enter", "down")
        await c.sees("log sglang-smoke@h-crash")
        yield c


def starting(**values: object) -> UnitStatus:
    usual: dict[str, object] = {
        "active_state": ActiveState.ACTIVE,
        "sub_state": "running",
        "result": "success",
        "exec_main_code": 0,
        "exec_main_status": 0,
        "main_pid": 8,
        "invocation_id": NEXT_RUN,
        "readiness": Readiness.LOADING,
        "readiness_detail": "GET /health 503",
        "started_at": ago(1),
        "since": ago(1),
        "exited_at": None,
    }
    return crashed(**(usual | values))


def audit() -> list[dict[str, object]]:
    file = state_folder() / "audit.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def restarted(c: Console) -> None:
    """Ask for a restart and say yes."""
    await c.press("R")
    await c.until(lambda: isinstance(c.app.screen, Confirm))
    await c.press("right", "enter")
    await c.until(lambda: RESTART in c.fleet.performed)


async def test_a_failure_of_before_shows_its_cause_and_what_to_do() -> None:
    async with on(host_with(crashed())) as c:
        await c.sees("x why")
        await c.press("x")
        await c.sees(
            "crash of sglang-smoke on h-crash",
            "a Python module is missing",
            "ModuleNotFoundError: No module named 'soundfile'",
            "…/sglang/srt/entrypoints/openai/streaming_asr.py:21 in <module>",
            "install soundfile 0.13.1 for the unit's own interpreter",
            f"$ {PYTHON} -m pip install soundfile==0.13.1",
            "sglang 0.5.11 asks for soundfile==0.13.1",
            "▶ ModuleNotFoundError",
            "F fix and restart",
        )
        assert [run.invocation_id for run in FailedRuns(state_folder()).of("h-crash", UNIT)] == ["a" * 32]
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)


async def test_x_does_nothing_on_a_unit_that_never_failed() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("up", "x")
        await c.pilot.pause()
        assert c.app.screen is c.screen


async def test_the_cause_and_the_whole_evidence_are_copied() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("what to do", "install soundfile")
        await c.press("c")
        await c.until(lambda: "No module named 'soundfile'" in c.app.clipboard)
        assert c.app.clipboard.startswith("sglang-smoke.service on h-crash: missing-module\n")
        await c.press("C")
        await c.until(lambda: "loading the model" in c.app.clipboard)
        assert "asks for soundfile==0.13.1" in c.app.clipboard


async def test_a_remedy_asks_first_and_escape_changes_nothing() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.sees("run a remedy for sglang-smoke on h-crash", "pip install soundfile==0.13.1")
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, CrashCard))
        assert c.fleet.commanded == []
        assert audit() == []


async def test_a_remedy_is_run_shown_and_audited() -> None:
    async with on(host_with(crashed())) as c:
        c.fleet.says = ("Collecting soundfile", "Successfully installed [/x]")
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.until(lambda: isinstance(c.app.screen, CommandScreen))
        await c.sees("Collecting soundfile", "Successfully installed [/x]", "done after", "escape closes")
        await c.press("escape")
        await c.until(lambda: isinstance(c.app.screen, CrashCard))
        assert [argv[4:] for argv in c.fleet.commanded] == [INSTALL]
        (line,) = audit()
        assert (line["action"], line["ok"], line["unit"]) == ("command", True, UNIT)
        assert c.fleet.performed == []


async def test_fix_and_restart_in_one_key_after_one_question() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("F")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.sees("1  /root/venv/bin/python -m pip install", "2  systemctl restart sglang-smoke.service")
        await c.press("right", "enter")
        await c.until(lambda: c.fleet.performed == [RESTART])
        assert [argv[4:] for argv in c.fleet.commanded] == [INSTALL]
        await c.until(lambda: isinstance(c.app.screen, CrashCard), "the card stays")
        c.fleet.post(host_with(starting()))
        await c.sees("now", "loading")
        c.fleet.post(host_with(starting(readiness=Readiness.READY, readiness_detail="GET /health 200")))
        await c.sees("● ready")
        assert [line["action"] for line in audit()] == ["command", "restart"]


async def test_a_cure_that_fails_restarts_nothing() -> None:
    async with on(host_with(crashed())) as c:
        c.fleet.ends_with = 1
        c.fleet.says = ("ERROR: No matching distribution found",)
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("F")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        await c.press("right", "enter")
        await c.sees("ERROR: No matching distribution found", "exit 1 after")
        assert c.fleet.performed == []


async def test_a_remedy_that_no_longer_holds_is_not_sent() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, Confirm))
        c.fleet.answers.clear()
        await c.press("right", "enter")
        await c.sees("not sent: the host says otherwise by now")
        assert c.fleet.commanded == []


async def test_a_read_only_console_shows_why_and_changes_nothing() -> None:
    async with on(host_with(crashed()), read_only=True) as c:
        await c.press("x")
        await c.sees("install soundfile", "READ-ONLY")
        for key in ("1", "F", "R"):
            await c.press(key)
        await c.pilot.pause()
        assert not c.app.screen.check_action("undo", ())
        assert isinstance(c.app.screen, CrashCard)
        assert "fix and restart" not in c.text
        assert (c.fleet.commanded, c.fleet.performed) == ([], [])


async def test_the_last_push_is_undone_from_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[Subject] = []

    async def undo(_screen: object, subject: Subject) -> None:
        undone.append(subject)

    monkeypatch.setattr("dflashtui.tui.screen.MainScreen.undo_push", undo)
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("u")
        await c.until(lambda: [(one.host, one.name) for one in undone] == [("h-crash", UNIT)])


async def test_a_start_that_fails_opens_its_card_by_itself() -> None:
    async with on(host_with(crashed())) as c:
        await restarted(c)
        c.fleet.post(host_with(starting()))
        await c.sees("◐ sglang-smoke on h-crash", "W stop watching")
        c.fleet.journal = entries("loading", *TRACEBACK, run=NEXT_RUN, first=100)
        c.fleet.post(host_with(crashed(invocation_id=NEXT_RUN, exited_at=ago(0))))
        await c.until(lambda: isinstance(c.app.screen, CrashCard))
        await c.sees("ModuleNotFoundError: No module named 'soundfile'", "confirmed", "install soundfile")
        await c.press("escape", "6")
        await c.sees("crashed after")


async def test_a_card_does_not_open_over_a_dialog() -> None:
    async with on(host_with(crashed())) as c:
        await restarted(c)
        c.fleet.post(host_with(starting()))
        await c.sees("◐ sglang-smoke on h-crash")
        await c.press("a")
        await c.sees("enter chooses")
        c.fleet.post(host_with(crashed(invocation_id=NEXT_RUN, exited_at=ago(0))))
        await c.sees("a start failed: x shows why")
        assert not any(isinstance(screen, CrashCard) for screen in c.app.screen_stack)


async def test_suspected_is_told_from_confirmed() -> None:
    async with on(host_with(crashed())) as c:
        await restarted(c)
        c.fleet.post(host_with(starting()))
        await c.sees("◐ sglang-smoke on h-crash")
        for entry in entries(*TRACEBACK, "child died", run=NEXT_RUN, first=100):
            c.fleet.journal = (*c.fleet.journal, entry)
            c.fleet.written.set()
            await c.until(lambda: not c.fleet.written.is_set())
        await c.sees("suspected: ModuleNotFoundError", "x why")
        await c.press("x")
        await c.sees("suspected: the start goes on", "install soundfile")
        c.fleet.post(host_with(crashed(invocation_id=NEXT_RUN, exited_at=ago(0))))
        await c.sees("a Python module is missing  ·  confirmed")
        assert "suspected" not in c.text


async def test_a_ready_start_is_said_and_its_unit_file_kept() -> None:
    async with on(host_with(crashed())) as c:
        await restarted(c)
        c.fleet.post(host_with(starting(readiness=Readiness.READY, readiness_detail="GET /health 200")))
        await c.sees("● sglang-smoke on h-crash  ready")
        await c.until(lambda: FailedRuns(state_folder()).good_text("h-crash", UNIT) is not None)


async def test_watching_can_be_left() -> None:
    async with on(host_with(crashed())) as c:
        await restarted(c)
        c.fleet.post(host_with(starting()))
        await c.sees("W stop watching")
        await c.press("W")
        await c.until(lambda: "◐ sglang-smoke on" not in c.text)
        c.fleet.post(host_with(crashed(invocation_id=NEXT_RUN)))
        await c.pilot.pause()
        assert c.app.screen is c.screen


async def test_a_failure_that_nobody_asked_for_is_kept() -> None:
    async with on(host_with(starting())) as c:
        c.fleet.journal = entries("loading", *TRACEBACK, run=NEXT_RUN)
        c.fleet.post(host_with(crashed(invocation_id=NEXT_RUN)))
        await c.until(lambda: bool(FailedRuns(state_folder()).of("h-crash", UNIT)))
        (run,) = FailedRuns(state_folder()).of("h-crash", UNIT)
        assert run.cause is not None
        assert run.gpus_before
        assert c.app.screen is c.screen


async def test_the_card_turns_over_the_kept_runs() -> None:
    async with on(host_with(crashed())) as c:
        older = crashed(invocation_id="c" * 32)
        kept = FailedRuns(state_folder())
        await c.press("x")
        await c.sees("install soundfile")
        (run,) = kept.of("h-crash", UNIT)
        await c.press("escape")
        c.screen._failed.keep(run.model_copy(update={"invocation_id": older.invocation_id, "words": "another one"}))
        await c.press("x")
        await c.sees("run 1 of 2")
        await c.press("right_square_bracket")
        await c.sees("run 2 of 2", "another one")


async def test_the_log_opens_at_the_cause() -> None:
    async with on(host_with(crashed())) as c:
        await c.press("x")
        await c.sees("install soundfile")
        await c.press("l")
        await c.sees("failed run", "import soundfile as sf")
        assert c.screen.way.here.view == "logs"


async def test_text_of_a_host_stays_text() -> None:
    texts = (*TRACEBACK[:-1], f"ModuleNotFoundError: No module named 'soundfile' {HOSTILE}", HOSTILE)
    async with on(host_with(crashed()), *texts) as c:
        await c.press("x")
        await c.sees("ModuleNotFoundError", "[/x]", "[@click=app.quit]")
        assert not set(c.text) & {"\x1b", "\x07", "\x9b", "\u202e", "\x00"}
        await c.press("C")
        await c.until(lambda: "[/x]" in c.app.clipboard)
        assert not set(c.app.clipboard) & {"\x1b", "\x07", "\x9b", "\u202e", "\x00"}
