"""SVG pictures of crash cards, at two sizes; `pytest --snapshot-update` after looking at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.model.failed_run import UnitText
from dflashtui.model.gpu import Xid
from dflashtui.model.kernel import OomKill
from dflashtui.ops.failed_runs import FailedRuns
from dflashtui.paths import state_folder
from dflashtui.tui.crash.card import CrashCard
from tests.tui.crash_stage import NEXT_RUN, TRACEBACK, UNIT, crashed, entries, host_with, inventory, prepare
from tests.tui.fake import FakeFleet, app_on, settled, until
from tests.tui.stage import HOSTILE, ago, gpu, process
from tests.tui.test_crash import starting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.app import DflashApp

    Compare = Callable[..., bool]

SIZES = {"80x24": (80, 24), "140x40": (140, 40)}
OUT_OF_MEMORY = (
    "Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/model_executor/model_runner.py", line 1903, in init_memory_pool',
    "    self.token_to_kv_pool = MHATokenToKVPool(",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 11.06 GiB. GPU 1 has 3.21 GiB free.",
    "Received sigquit from a child process. It usually means the child failed.",
)
LOST_GPU = (
    "Traceback (most recent call last):",
    '  File "/opt/sglang/srt/managers/scheduler.py", line 1088, in event_loop_overlap',
    "    self.copy_done.synchronize()",
    "torch.AcceleratorError: CUDA error: unspecified launch failure",
)
XID = Xid(pci_bus_id="00000000:01:00.0", xid=79, at=ago(66), pid=7, message="GPU has fallen off the bus.")
OOM = OomKill(at=ago(67), pid=9, process_name="python", unit=UNIT, is_cgroup_limit=True)
GPUS = (gpu(0), gpu(1, processes=(process(4711, "sglang-a.service", 80), process(28817, None, 18))))


def fleet_of(snapshot: HostSnapshot, *texts: str) -> FakeFleet:
    fleet = FakeFleet(snapshot)
    prepare(fleet, *texts)
    return fleet


def app_of(fleet: FakeFleet) -> DflashApp:
    return app_on(fleet, config=inventory(fleet.snapshot("h-crash")))


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """The card of the unit, once everything on it is known."""

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("enter", "down", "x")
        await known(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return before


async def known(pilot: Pilot[int]) -> None:
    def is_known() -> bool:
        card = pilot.app.screen
        return isinstance(card, CrashCard) and card.state.run is not None and card.state.remedies is not None

    await until(pilot, is_known, "the card is not complete")


STATES: dict[str, tuple[HostSnapshot, tuple[str, ...]]] = {
    "before-opening": (host_with(crashed()), TRACEBACK),
    "looping": (
        host_with(crashed(active_state="activating", sub_state="auto-restart", n_restarts=4, next_restart_at=ago(-6))),
        TRACEBACK,
    ),
    "out-of-memory": (host_with(crashed(), gpus=GPUS), OUT_OF_MEMORY),
    "lost-gpu": (host_with(crashed(), xids=(XID,), oom_kills=(OOM,)), LOST_GPU),
    "no-failure": (
        host_with(crashed(active_state="inactive", sub_state="dead", result="success", exec_main_status=0)),
        ("all well", "bye"),
    ),
    "hostile": (host_with(crashed()), (*TRACEBACK[:-1], f"{TRACEBACK[-1]} {HOSTILE}", HOSTILE)),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", STATES)
def test_card(snap_compare: Compare, state: str, size: str) -> None:
    snapshot, texts = STATES[state]
    app = app_of(fleet_of(snapshot, *texts))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=opened())


@pytest.mark.parametrize("size", SIZES)
def test_changed_unit(snap_compare: Compare, size: str) -> None:
    good = UnitText(at=ago(90_000), text="[Service]\nExecStart=/usr/bin/serve --old\n")
    FailedRuns(state_folder()).keep_text("h-crash", UNIT, good)
    app = app_of(fleet_of(host_with(crashed()), *TRACEBACK))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=opened())


@pytest.mark.parametrize("size", SIZES)
def test_fix_and_restart(snap_compare: Compare, size: str) -> None:
    app = app_of(fleet_of(host_with(crashed()), *TRACEBACK))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=opened("F"))


@pytest.mark.parametrize("size", SIZES)
def test_the_log_below(snap_compare: Compare, size: str) -> None:
    app = app_of(fleet_of(host_with(crashed()), *(f"line {number}" for number in range(90)), *TRACEBACK))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=opened("e"))


def suspecting(fleet: FakeFleet, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """A start that goes on after a child wrote its traceback."""

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("enter", "down", "R")
        await until(pilot, lambda: len(pilot.app.screen_stack) > 2, "no question")
        await pilot.press("right", "enter")
        await until(pilot, lambda: bool(fleet.performed), "not restarted")
        fleet.post(host_with(starting()))
        for entry in entries(*TRACEBACK, "child died", run=NEXT_RUN, first=100):
            fleet.journal = (*fleet.journal, entry)
            fleet.written.set()
            await until(pilot, lambda: not fleet.written.is_set(), "nobody follows")
        screen = pilot.app.screen_stack[1]
        await until(pilot, lambda: screen.starts.suspected is not None, "not suspected")  # type: ignore[attr-defined]
        pilot.app.clear_notifications()
        await pilot.press(*keys)
        if keys:
            await until(pilot, lambda: isinstance(pilot.app.screen, CrashCard), "no card")
            card = pilot.app.screen
            await until(pilot, lambda: card.state.remedies is not None, "no remedies")  # type: ignore[attr-defined]
        await pilot.pause()

    return before


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["card"])
def test_suspected(snap_compare: Compare, what: str, size: str) -> None:
    fleet = fleet_of(host_with(crashed()))
    assert snap_compare(app_of(fleet), terminal_size=SIZES[size], run_before=suspecting(fleet, "x"))
