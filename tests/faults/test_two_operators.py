"""Two operators at once on the same real hosts: one acts, the other is told; nobody is told what is not so."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli import main
from dflashtui.model.push import Outcome
from dflashtui.ops.push import Push, Terms, wanted_text
from tests.faults.marks import fault
from tests.faults.starts import PATH, UNIT, counted, text
from tests.faults.watcher import sha256, watched
from tests.fleet.push_hosts import entry, on, through
from tests.support.pty_screen import PtyScreen
from tests.support.tcp_proxy import tcp_proxy
from tests.support.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(120)
HOST = "gpu-b"
ROUNDS = 2
SLOW = "ExecStartPre=/bin/sleep 1.5\n"


REASONS = ("another push is under way: ", "was changed since its difference was shown", "by somebody since")


class Operator:
    """Somebody with an inventory, a state folder and a unit text of his own."""

    def __init__(self, fleet: TestFleet, folder: Path, name: str) -> None:
        folder.mkdir()
        self.folder = folder
        self.text = text(f"by {name}")
        lines = fleet.config_path.read_text().splitlines()
        kept = [f'units = ["{UNIT}"]' if line.startswith("units = ") else line for line in lines]
        self.config = folder / "hosts.toml"
        self.config.write_text("\n".join(kept) + f'\n[units."{UNIT}"]\nhosts = ["{HOST}"]\nfile = "{UNIT}"\n')
        (folder / UNIT).write_text(self.text)
        own = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        self.environment = {**own, "XDG_STATE_HOME": str(folder / "state"), "TERM": "xterm-256color"}
        self.argv = (sys.executable, "-m", "dflashtui", "-c", str(self.config), "--host", HOST)

    def begins(self, *arguments: str) -> subprocess.Popen[str]:
        """A command of his, under way."""
        return subprocess.Popen(
            (*self.argv, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )

    def console(self) -> PtyScreen:
        return PtyScreen(self.argv, columns=150, rows=44, environment=self.environment)

    def audit(self) -> list[dict[str, Any]]:
        lines = (self.folder / "state/dflashtui/audit.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def two(fleet: TestFleet, tmp_path: Path) -> tuple[Operator, Operator]:
    return Operator(fleet, tmp_path / "ana", "ana"), Operator(fleet, tmp_path / "bo", "bo")


@fault(
    "B13",
    how="two command lines push one unit at once",
    result="whole texts only; the refused one is told why",
)
def test_two_pushes_at_once(fleet: TestFleet, two: tuple[Operator, Operator]) -> None:
    old = text("old")
    with counted(fleet, HOST, old), watched(fleet.hosts[HOST], PATH) as watch:
        for _ in range(ROUNDS):
            running = [one.begins("push", "--yes", "--force", "--json", UNIT) for one in two]
            ended = [(process.communicate(timeout=60), process.returncode) for process in running]
            results = [json.loads(output) for (output, _), _ in ended]
            there = fleet.read_file(HOST, PATH).decode()
            done = [
                one.text for one, result in zip(two, results, strict=True) if result["outcome"] in {"done", "unchanged"}
            ]
            assert done, results
            assert there in done, "what stands there was said to be refused"
            for result in results:
                told = (
                    "another push is under way: ",
                    "was changed since its difference was shown",
                    "by somebody since",
                )
                assert result["ok"] or any(words in result["message"] for words in told), result
    watch.require_whole(PATH, old, two[0].text, two[1].text)
    watch.require_private_parts()
    assert {sha256(one.text) for one in two} & set(watch.hashes(PATH))


@fault(
    "B13",
    how="the link of the one who holds the lock is cut",
    result="who and since when; free within seconds",
)
async def test_a_lock_dies_with_its_holder(fleet: TestFleet, tmp_path: Path) -> None:
    direct = partial(on, entry(fleet, HOST))
    push = Push(wanted_text(HOST, UNIT, text("new"), "a test"), Terms(force=True))
    with counted(fleet, HOST):
        async with tcp_proxy(22, fleet.hosts[HOST].address) as proxy, AsyncExitStack() as stack:
            holder = await stack.enter_async_context(on(through(fleet, HOST, proxy.port, tmp_path)))
            await holder.prepare(UNIT, text("held"), before=sha256(text()))
            refused = await push.run(direct)
            assert refused.outcome is Outcome.REFUSED
            assert "another push is under way: a test since " in refused.message
            proxy.cut()
            async with asyncio.timeout(10):
                while (await push.run(direct)).outcome is not Outcome.DONE:
                    pass
            stack.push(lambda *_: True)  # the lost link
        assert fleet.read_file(HOST, PATH).decode() == text("new")


@pytest.mark.long
@fault("C10", how="one starts, the other stops; both start at once", result="stopped, not ready; one start for both")
async def test_a_start_that_the_other_overtakes(fleet: TestFleet, two: tuple[Operator, Operator]) -> None:
    ana, bo = two
    with counted(fleet, HOST, text(more=SLOW)) as starts:
        starting = ana.begins("start", "--json", UNIT)
        await until(lambda: starts.count == 1)
        stopping = bo.begins("stop", "--yes", UNIT)
        output, errors = await asyncio.to_thread(starting.communicate)
        assert stopping.wait(30) == 0
        stopping.communicate()
        verdict = json.loads(output)["verdict"]
        assert (verdict, starting.returncode) == ("stopped", 2), output + errors
        assert fleet.show(HOST, UNIT)["MainPID"] == "0"
        both = [one.begins("start", "--no-probe", "--json", UNIT) for one in two]
        results = [json.loads((await asyncio.to_thread(process.communicate))[0]) for process in both]
        assert [result["result"] for result in results] == ["done", "done"]
        assert starts.count == 2, "the two starts were one job"
        assert [line["action"] for line in ana.audit()] == [line["action"] for line in bo.audit()[1:]] + ["start"]


@pytest.mark.long
@fault(
    "I11",
    how="the other operator pushes while the question stands",
    result="the confirmed push is refused; then exactly what was shown is pushed",
)
def test_what_was_confirmed_is_not_pushed_over_what_came_meanwhile(
    fleet: TestFleet, two: tuple[Operator, Operator], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = two
    monkeypatch.setenv("XDG_STATE_HOME", str(bo.folder / "state"))
    old = text("old")
    with counted(fleet, HOST, old), watched(fleet.hosts[HOST], PATH) as watch, ana.console() as screen:
        screen.sees("hosts 1/1 up")
        screen.press("2")
        screen.sees("counted", "inactive")
        screen.press("P")
        screen.sees(f"push {UNIT.removesuffix('.service')} on {HOST}", "+Description=by ana", "Cancel")
        assert main(["-c", str(bo.config), "push", "--yes", UNIT]) == 0
        edited = text("edited behind the question")
        (ana.folder / UNIT).write_text(edited)
        screen.press("tab", "enter")
        screen.sees("was changed since its difference was shown")
        screen.press("escape")
        screen.wait(lambda text: "difference was shown" not in text)
        screen.press("P")
        screen.sees("-Description=by bo", "+Description=edited", "Cancel")
        (ana.folder / UNIT).write_text(text("edited again behind the question"))
        screen.press("tab", "enter")
        screen.sees("loaded by the manager")
        assert fleet.read_file(HOST, PATH).decode() == edited
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
    watch.require_whole(PATH, old, bo.text, edited)
    assert [line["result"] for line in ana.audit()] == ["refused", "done"]
