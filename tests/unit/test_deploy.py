"""The order of a deployment's steps, and what a failure or an interruption does to the rest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.model.deploy import HostDeploy, Outcome, Step, StepEnd, StepState
from dflashtui.ops.deploy import Deploy, Plan
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT = "sglang-a.service"
FINE = StepEnd(state=StepState.DONE, words="fine")
READY = StepEnd(state=StepState.DONE, words="ready")
CRASHED = StepEnd(state=StepState.FAILED, words="crashed")
LOST = StepEnd(state=StepState.UNKNOWN, words="the link was lost")


class Script:
    """Steps that end as told (`host step` → end; a list: one end after the other), and what was asked for."""

    def __init__(self, **ends: StepEnd | list[StepEnd]) -> None:
        self.ends = ends
        self.asked: list[str] = []
        self.trouble: str | None = None
        self.hangs = asyncio.Event()
        self.at_once = self.most_at_once = 0

    def _end(self, host: str, step: str) -> StepEnd:
        self.asked.append(f"{host} {step}")
        end = self.ends.get(f"{host}_{step}", FINE)
        return end.pop(0) if isinstance(end, list) else end

    async def preflight(self, host: str) -> StepEnd:
        return self._end(host, "preflight")

    async def push(self, host: str) -> StepEnd:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return self._end(host, "push")

    async def start(self, host: str, restarted: Callable[[StepEnd], None], under_way: Callable[[str], None]) -> StepEnd:
        end = self._end(host, "start")
        restarted(FINE)
        under_way("loading weights 62 %")
        if end.words == "hangs":
            self.hangs.set()
            await asyncio.Event().wait()
        return end

    async def put_back(self, host: str) -> StepEnd:
        return self._end(host, "put_back")

    async def settle(self, host: str) -> str | None:
        self.asked.append(f"{host} settle")
        return self.trouble

    async def stop(self, host: str) -> StepEnd:
        return self._end(host, "stop")


async def deployed(script: Script, *hosts: str, **wanted: object) -> tuple[HostDeploy, ...]:
    return await Deploy(Plan(UNIT, hosts, **wanted), script, lambda _: None).run()  # type: ignore[arg-type]


def outcomes(rows: tuple[HostDeploy, ...]) -> list[Outcome | None]:
    return [row.outcome for row in rows]


async def test_the_first_host_goes_alone_and_the_others_follow_in_waves() -> None:
    script = Script()
    rows = await deployed(script, "a", "b", "c", "d", wave=2)
    assert outcomes(rows) == [Outcome.READY] * 4
    assert script.asked[:4] == ["a preflight", "a push", "a start", "a settle"]
    assert script.most_at_once == 2
    assert script.asked.index("d preflight") > script.asked.index("b settle")


@fault("E10", how="the second of three hosts fails", result="the third is not begun")
async def test_the_first_failure_stops_the_rest() -> None:
    script = Script(b_start=CRASHED)
    rows = await deployed(script, "a", "b", "c", wave=1)
    assert outcomes(rows) == [Outcome.READY, Outcome.FAILED, Outcome.SKIPPED]
    assert not any(asked.startswith("c ") for asked in script.asked)
    assert {news.state for news in rows[2].steps} == {StepState.SKIPPED}
    assert "b put_back" not in script.asked


async def test_a_fatal_finding_pushes_nothing() -> None:
    script = Script(a_preflight=CRASHED)
    (row,) = await deployed(script, "a", rolls_back=True)
    assert row.outcome is Outcome.FAILED
    assert script.asked == ["a preflight"]
    push = row.step(Step.PUSH)
    assert push is not None
    assert push.state is StepState.SKIPPED


async def test_preflight_can_be_left_out() -> None:
    script = Script(a_preflight=CRASHED)
    assert outcomes(await deployed(script, "a", preflights=False)) == [Outcome.READY]
    assert "a preflight" not in script.asked


async def test_a_host_that_fails_is_put_back_and_probed_again() -> None:
    script = Script(a_start=[CRASHED, READY])
    (row,) = await deployed(script, "a", rolls_back=True)
    assert row.outcome is Outcome.PUT_BACK
    assert script.asked == ["a preflight", "a push", "a start", "a put_back", "a start", "a settle"]
    assert [news.step for news in row.steps][-2:] == [Step.PUT_BACK, Step.PROBE_AGAIN]


@fault("E7", how="the old text fails after the roll-back", result="failed; put back once, not again")
async def test_an_old_text_that_fails_too_is_a_failure() -> None:
    (row,) = await deployed(Script(a_start=[CRASHED, CRASHED]), "a", rolls_back=True)
    assert row.outcome is Outcome.FAILED


async def test_what_nobody_knows_is_left_to_the_host() -> None:
    script = Script(a_start=LOST)
    (row,) = await deployed(script, "a", rolls_back=True)
    assert row.outcome is Outcome.UNKNOWN
    assert "a put_back" not in script.asked
    assert "a settle" not in script.asked


async def test_trouble_with_the_hosts_own_undo_is_told() -> None:
    script = Script()
    script.trouble = "the timer could not be stopped"
    (row,) = await deployed(script, "a")
    push = row.step(Step.PUSH)
    assert push is not None
    assert push.lines == ("the timer could not be stopped",)


async def test_a_push_that_is_refused_leaves_nothing_to_put_back() -> None:
    script = Script(a_push=CRASHED)
    (row,) = await deployed(script, "a", rolls_back=True)
    assert row.outcome is Outcome.FAILED
    assert script.asked == ["a preflight", "a push"]


async def test_a_text_that_was_there_already_is_not_put_back() -> None:
    script = Script(a_push=StepEnd(state=StepState.SKIPPED, words="nothing to do"), a_start=CRASHED)
    (row,) = await deployed(script, "a", rolls_back=True)
    assert row.outcome is Outcome.FAILED
    assert "a put_back" not in script.asked


async def test_the_old_host_is_stopped_only_after_the_new_one_is_ready() -> None:
    good, bad = Script(), Script(a_start=CRASHED)
    rows = await deployed(good, "a", stops_on=("old",))
    assert [(row.host, row.outcome) for row in rows] == [("a", Outcome.READY), ("old", Outcome.STOPPED)]
    assert good.asked[-1] == "old stop"
    await deployed(bad, "a", stops_on=("old",))
    assert "old stop" not in bad.asked


async def test_an_interruption_leaves_the_watch_and_begins_nothing_more() -> None:
    script = Script(a_start=StepEnd(state=StepState.DONE, words="hangs"))
    deploy = Deploy(Plan(UNIT, ("a", "b"), rolls_back=True), script, lambda _: None)
    running = asyncio.create_task(deploy.run())
    await script.hangs.wait()
    deploy.interrupt()
    first, second = await running
    assert first.outcome is Outcome.INTERRUPTED
    probe = first.step(Step.PROBE)
    assert probe is not None
    assert "no longer watched" in probe.words
    assert second.outcome is Outcome.SKIPPED
    assert "a put_back" not in script.asked
