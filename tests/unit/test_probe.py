"""One start, four witnesses: the first decisive word wins, and time alone never does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dflashtui.errors import SourceUnavailable, Unreachable
from dflashtui.model.gpu import Gpu, GpuProcess, Xid
from dflashtui.model.host import LinkState
from dflashtui.model.kernel import OomKill
from dflashtui.model.probe import ProbeResult, Verdict
from dflashtui.model.unit import ActiveState, LoadState, Readiness
from dflashtui.ops.evidence import Evidence
from tests.faults.marks import fault
from tests.unit.probe_fleet import (
    BORN,
    INACTIVE,
    NEXT,
    OLD,
    RUN,
    TRACEBACK,
    UNIT,
    Clock,
    ScriptedFleet,
    settle,
    watching,
)

EXITED = f"{UNIT}: Main process exited, code=exited, status=1/FAILURE"


async def test_the_cause_of_an_import_error_is_told_with_the_first_reading() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.says(*TRACEBACK, live=False)
        fleet.dies()
        result = await probe.result()
    assert (result.verdict, result.exit_code, result.signal) == (Verdict.CRASHED, 1, None)
    assert result.cause is not None
    assert (result.cause.kind, result.cause.module) == ("missing-module", "soundfile")
    assert (result.cause.host, result.cause.unit, result.cause.invocation_id) == ("gpu-a", UNIT, RUN)
    assert result.lines == TRACEBACK
    assert result.invocation_id == RUN


@fault("D12", how="the traceback arrives after the end", result="the card is corrected")
async def test_lines_that_arrive_after_the_end_correct_the_card() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.says("loading", live=False)
        fleet.says(*TRACEBACK, late=True)
        fleet.dies()
        result = await probe.result()
    first, last = (update.result for update in probe.updates if update.result)
    assert first is not None
    assert (first.is_complete, first.cause and first.cause.kind) == (False, "unknown")
    assert last == result
    assert (result.is_complete, result.cause and result.cause.kind) == (True, "missing-module")


async def test_without_the_right_to_sync_it_reads_until_no_more_lines_come() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    fleet.may_sync = False
    async with watching(fleet, clock) as probe:
        fleet.runs()
        fleet.says(*TRACEBACK[:2], live=False)
        fleet.dies()
        await clock.advance(0.19)
        fleet.says(*TRACEBACK[2:], live=False)
        await clock.advance(0.02)
        assert not probe.task.done()
        await clock.advance(0.2)
        result = await probe.result()
    assert result.cause is not None
    assert result.cause.kind == "missing-module"


@fault("F1", how="active without an answer", result="never ready")
async def test_active_is_never_ready() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock, limit_seconds=60) as probe:
        fleet.runs()
        probe.job()
        await clock.advance(59)
        assert not probe.task.done()
        await clock.advance(2)
        result = await probe.result()
    assert result.verdict is Verdict.LOADING
    assert result.cause is None


async def test_ready_is_what_the_engines_rule_says() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.is_now(readiness=Readiness.READY, readiness_detail="GET /health 200")
        result = await probe.result()
    assert (result.verdict, result.words) == (Verdict.READY, "GET /health 200")


async def test_the_engines_own_ready_line_has_it_asked_at_once_but_decides_nothing() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.says("[x] The server is fired up and ready to roll!")
        await settle()
        assert fleet.asked_now == 1
        assert not probe.task.done()


async def test_an_api_key_in_the_way_leaves_the_log_as_the_only_witness() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs(
            readiness=Readiness.UNKNOWN, readiness_detail="GET /model_info 401: it asks for a key", readiness_at=BORN
        )
        await settle()
        assert not probe.task.done()
        fleet.says("[x] The server is fired up and ready to roll!")
        result = await probe.result()
    assert result.verdict is Verdict.READY
    assert "401" in result.words


async def test_a_traceback_is_suspected_at_once_and_withdrawn_when_the_service_becomes_ready() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.says(*TRACEBACK, pid=11)
        await settle()
        assert probe.suspicions[-1] == "ModuleNotFoundError"
        fleet.is_now(readiness=Readiness.READY)
        result = await probe.result()
    assert (result.verdict, result.cause) == (Verdict.READY, None)


async def test_a_child_that_failed_explains_the_sigkill_of_its_parent() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.says(*TRACEBACK, pid=11)
        fleet.says("Received sigquit from a child process. It usually means the child failed.", pid=10)
        fleet.says(f"{UNIT}: Main process exited, code=killed, status=9/KILL", pid=1)
        fleet.dies(code=2, status=9, result="signal")
        result = await probe.result()
    assert (result.verdict, result.exit_code, result.signal) == (Verdict.CRASHED, None, "KILL")
    assert result.cause is not None
    assert result.cause.exception == "ModuleNotFoundError"


async def test_a_server_that_ends_with_status_0_has_crashed() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.says(*TRACEBACK, pid=11, live=False)
        fleet.says(f"{UNIT}: Deactivated successfully.", pid=1, live=False)
        fleet.dies(status=0, result="success")
        result = await probe.result()
    assert (result.verdict, result.exit_code) == (Verdict.CRASHED, 0)
    assert result.cause is not None
    assert result.cause.kind == "missing-module"


async def test_what_is_no_server_may_end_with_status_0() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet, is_server=False) as probe:
        fleet.runs(readiness=Readiness.NONE)
        fleet.says("all done", live=False)
        fleet.dies(status=0, result="success")
        result = await probe.result()
    assert result.verdict is Verdict.STOPPED


@pytest.mark.parametrize(
    ("code", "status", "result"), [(1, 0, "success"), (2, 9, "signal"), (2, 15, "success"), (2, 9, "timeout")]
)
async def test_a_stop_that_somebody_asked_for_is_no_crash_however_it_ends(code: int, status: int, result: str) -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.says(f"Stopping {UNIT}...", pid=1, live=False)
        fleet.says(*TRACEBACK, live=False)
        fleet.says(f"{UNIT}: Main process exited, code=killed", pid=1, live=False)
        fleet.dies(code, status, result)
        found = await probe.result()
    assert (found.verdict, found.cause) == (Verdict.STOPPED, None)
    assert "somebody" in found.words


async def test_a_crash_loop_is_seen_at_the_first_restart() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.says(*TRACEBACK, live=False)
        fleet.says(f"{UNIT}: Scheduled restart job, restart counter is at 1.", pid=1, live=False)
        fleet.dies(active_state=ActiveState.ACTIVATING, sub_state="auto-restart")
        result = await probe.result()
    assert (result.verdict, result.exit_code) == (Verdict.CRASH_LOOPING, 1)
    assert result.cause is not None
    assert result.cause.kind == "missing-module"


@fault("F10", how="a restart between two looks", result="crash-looping, with the cause of the first run")
async def test_a_restart_between_two_looks_is_a_crash_loop_with_the_cause_of_the_first_run() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs(n_restarts=0)
        await settle()
        fleet.says(*TRACEBACK, live=False)
        fleet.runs(NEXT, n_restarts=1)
        fleet.says("RuntimeError: another failure", run=NEXT, live=False)
        result = await probe.result()
    assert (result.verdict, result.invocation_id) == (Verdict.CRASH_LOOPING, RUN)
    assert result.cause is not None
    assert result.cause.exception == "ModuleNotFoundError"
    assert "another failure" not in " ".join(result.lines)


async def test_a_start_limit_that_ended_the_loop_is_said_with_its_count() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs(n_restarts=5)
        fleet.dies(n_restarts=5)
        result = await probe.result()
    assert result.verdict is Verdict.CRASH_LOOPING
    assert "gave up after 5 restarts" in result.words


async def test_somebody_elses_start_overtakes_this_one_and_is_not_watched() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs(n_restarts=0)
        await settle()
        fleet.says(f"Stopping {UNIT}...", pid=1, live=False)
        fleet.runs(NEXT, n_restarts=0, readiness=Readiness.READY)
        result = await probe.result()
    assert (result.verdict, result.superseded_by) == (Verdict.STOPPED, NEXT)
    assert "somebody else" in result.words


async def test_the_old_runs_values_are_not_taken_for_the_new_ones() -> None:
    failed = INACTIVE.model_copy(
        update={"active_state": ActiveState.FAILED, "since": BORN, "exec_main_code": 1, "exec_main_status": 1}
    )
    fleet = ScriptedFleet(failed)
    async with watching(fleet) as probe:
        fleet.is_now(invocation_id=RUN)  # a start gives the id first
        await settle()
        assert not probe.task.done()
        fleet.runs(since=BORN + timedelta(seconds=5))
        await settle()
        fleet.is_now(readiness=Readiness.READY)
        result = await probe.result()
    assert (result.verdict, result.invocation_id) == (Verdict.READY, RUN)


async def test_a_new_id_with_a_blank_old_state_is_no_end_of_the_new_run() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.is_now(invocation_id=RUN, since=BORN + timedelta(seconds=9), exec_main_code=0)
        await settle()
        assert not probe.task.done()


@pytest.mark.parametrize(
    ("result", "status", "words"),
    [("timeout", 15, "timeout"), ("resources", 0, "resources"), ("exit-code", 203, "203"), ("exit-code", 217, "217")],
)
async def test_a_program_that_systemd_could_not_bring_up_failed_to_start(result: str, status: int, words: str) -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs(active_state=ActiveState.ACTIVATING, sub_state="start")
        fleet.dies(status=status, result=result)
        found = await probe.result()
    assert found.verdict is Verdict.FAILED_TO_START
    assert words in found.words


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        ("refused", Verdict.FAILED_TO_START),
        ("denied", Verdict.FAILED_TO_START),
        ("dependency", Verdict.FAILED_TO_START),
        ("skipped", Verdict.FAILED_TO_START),
        ("canceled", Verdict.STOPPED),
    ],
)
async def test_a_start_that_was_refused_is_over_at_once(result: str, verdict: Verdict) -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        probe.job(result, ok=False, message="why it was refused")
        found = await probe.result()
    assert (found.verdict, found.words) == (verdict, "why it was refused")


async def test_a_condition_that_was_not_met_is_told_in_the_managers_words() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    skipped = f"{UNIT} was skipped because of an unmet condition check (ConditionPathExists=/nope)."
    async with watching(fleet, clock) as probe:
        fleet.says(skipped, run=OLD, pid=1, live=False)
        probe.job()
        await clock.advance(0.6)
        result = await probe.result()
    assert (result.verdict, result.words) == (Verdict.FAILED_TO_START, skipped)


async def test_a_start_of_a_running_unit_watches_the_run_that_is_there() -> None:
    running = {"active_state": ActiveState.ACTIVE, "readiness": Readiness.LOADING, "since": BORN}
    fleet, clock = ScriptedFleet(INACTIVE.model_copy(update=running)), Clock()
    async with watching(fleet, clock) as probe:
        probe.job()
        await clock.advance(0.6)
        assert not probe.task.done()
        fleet.is_now(readiness=Readiness.READY)
        result = await probe.result()
    assert (result.verdict, result.invocation_id) == (Verdict.READY, OLD)


async def test_a_job_that_ended_before_the_news_of_its_run_came_decides_nothing() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock) as probe:
        fleet.invocation_id = RUN
        probe.job()
        await clock.advance(3)
        assert not probe.task.done()
        fleet.runs(readiness=Readiness.READY)
        assert (await probe.result()).verdict is Verdict.READY


async def test_a_lost_link_is_said_and_the_same_run_is_looked_at_again() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock) as probe:
        fleet.runs()
        await settle()
        fleet.link(LinkState.UNREACHABLE, "no route")
        await settle()
        assert any("link is lost" in words for words in probe.words)
        fleet.link(LinkState.CONNECTING)
        fleet.link(LinkState.UP)
        fleet.says(*TRACEBACK, live=False)
        fleet.dies()
        result = await probe.result()
    assert (result.verdict, result.invocation_id) == (Verdict.CRASHED, RUN)
    assert result.cause is not None


async def test_without_a_link_at_the_deadline_nothing_is_claimed() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock, limit_seconds=30) as probe:
        fleet.runs()
        await settle()
        fleet.link(LinkState.UNREACHABLE, "no route")
        await clock.advance(31)
        result = await probe.result()
    assert result.verdict is Verdict.UNKNOWN


async def test_a_refused_login_needs_a_person_and_ends_the_probe() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.link(LinkState.AUTH_FAILED, "permission denied")
        result = await probe.result()
    assert (result.verdict, result.words) == (Verdict.UNKNOWN, "permission denied")


async def test_a_link_that_is_lost_at_the_end_delays_the_cause_and_does_not_lose_it() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    fleet.journal_trouble = Unreachable("gpu-a", "not connected")
    async with watching(fleet, clock) as probe:
        fleet.runs()
        fleet.says(*TRACEBACK, live=False)
        fleet.dies()
        await clock.advance(5)
        assert not probe.task.done()
        fleet.journal_trouble = None
        await clock.advance(0.2)
        result = await probe.result()
    assert result.cause is not None
    assert result.cause.kind == "missing-module"


async def test_a_journal_that_may_not_be_read_is_said_beside_the_verdict() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    fleet.journal_trouble = SourceUnavailable("gpu-a", "journal", "add ops to group systemd-journal")
    async with watching(fleet, clock) as probe:
        fleet.runs()
        fleet.dies()
        await clock.advance(1)
        result = await probe.result()
    assert result.verdict is Verdict.CRASHED
    assert "systemd-journal" in result.words


async def test_a_restarted_host_has_ended_the_run() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.post(boot_id="boot-2")
        result = await probe.result()
    assert result.verdict is Verdict.STOPPED
    assert "host was restarted" in result.words


async def test_an_xid_of_the_units_gpu_is_told_beside_the_crash() -> None:
    bus = "00000000:00:06.0"
    fleet = ScriptedFleet()
    gpu = Gpu(index=1, pci_bus_id=bus, processes=(GpuProcess(pid=471, unit=UNIT, memory_used_bytes=2**30),))
    async with watching(fleet) as probe:
        fleet.runs()
        fleet.post(gpus=(gpu,))
        await settle()
        xid = Xid(pci_bus_id=bus, xid=79, at=BORN, message="GPU has fallen off the bus.")
        other = Xid(pci_bus_id="00000000:00:99.0", xid=31, at=BORN, pid=9)
        fleet.post(xids=(other, xid))
        await settle()
        fleet.dies(code=2, status=6, result="signal")
        result = await probe.result()
    assert result.neighbours == (f"Xid 79 at {bus}: GPU has fallen off the bus",)
    assert result.cause is not None
    assert result.cause.kind == "gpu-lost"


@fault("C7", how="a kill for want of memory", result="host-oom, with the pid", stand_in="memory cgroups")
async def test_a_kill_for_want_of_memory_is_the_cause_of_a_sigkill() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet) as probe:
        fleet.runs()
        await settle()
        fleet.post(oom_kills=(OomKill(at=BORN, pid=77, process_name="python3", unit=UNIT),))
        fleet.dies(code=2, status=9, result="signal")
        result = await probe.result()
    assert result.cause is not None
    assert result.cause.kind == "host-oom"
    assert "pid 77" in result.neighbours[0]


async def test_a_deadline_tells_phase_and_signs_of_life() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    held = GpuProcess(pid=10, unit=UNIT, memory_used_bytes=2**30)
    async with watching(fleet, clock, limit_seconds=30) as probe:
        fleet.runs(cpu_percent=99.0, cpu_usage_nsec=5_000_000_000)
        fleet.post(gpus=(Gpu(index=0, processes=(held,)),))
        await settle()
        fleet.says(
            "[x] Load weight begin. avail mem=139 GB", "Loading safetensors checkpoint shards:  50% Completed | 2/4"
        )
        fleet.post(gpus=(Gpu(index=0, processes=(held.model_copy(update={"memory_used_bytes": 3 * 2**30}),)),))
        await clock.advance(31)
        result = await probe.result()
    assert result.verdict is Verdict.LOADING
    assert "loading weights 50 %" in result.words
    assert result.phase is not None
    assert result.phase.phase.key == "weights"
    assert result.life is not None
    assert (result.life.cpu_percent, result.life.cpu_seconds) == (99.0, 5.0)
    assert (result.life.gpu_memory_bytes, result.life.gpu_memory_grown_bytes) == (3 * 2**30, 2 * 2**30)


async def test_a_service_that_cannot_be_asked_has_to_run_for_a_while() -> None:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock, engine=None) as probe:
        fleet.runs(readiness=Readiness.NONE)
        await clock.advance(1.5)
        assert not probe.task.done()
        await clock.advance(1)
        result = await probe.result()
    assert result.verdict is Verdict.READY
    assert "cannot be asked" in result.words


async def test_a_type_that_tells_when_it_is_up_is_believed() -> None:
    fleet = ScriptedFleet()
    async with watching(fleet, engine=None) as probe:
        fleet.runs(readiness=Readiness.NONE, type="notify")
        assert (await probe.result()).verdict is Verdict.READY


async def test_phases_of_a_good_start_are_kept_and_the_next_start_is_compared_with_them() -> None:
    store = Evidence(None)
    first, second = await good_start(store), await good_start(store)
    assert (first.usual_seconds, second.usual_seconds) == (None, 12)
    assert [one.usual_seconds for one in first.phases] == [None, None]
    assert [one.phase.key for one in second.phases] == ["arguments", "weights"]
    assert [one.usual_seconds for one in second.phases] == [one.seconds for one in first.phases]


async def good_start(store: Evidence) -> ProbeResult:
    fleet, clock = ScriptedFleet(), Clock()
    async with watching(fleet, clock, store=store) as probe:
        fleet.runs()
        await settle()
        fleet.says("[x] server_args=ServerArgs()", "[x] Load weight begin. avail mem=1 GB", "[x] more")
        await clock.advance(12)
        fleet.is_now(readiness=Readiness.READY)
        return await probe.result()


async def test_a_probe_of_a_failed_unit_tells_why_its_last_run_failed() -> None:
    facts = {"active_state": ActiveState.FAILED, "exec_main_code": 1, "exec_main_status": 1, "result": "exit-code"}
    fleet = ScriptedFleet(INACTIVE.model_copy(update={**facts, "invocation_id": RUN}))
    fleet.says(*TRACEBACK, live=False)
    async with watching(fleet, starts=False) as probe:
        result = await probe.result()
    assert result.verdict is Verdict.CRASHED
    assert result.cause is not None
    assert result.cause.module == "soundfile"


async def test_a_probe_of_a_loading_unit_reads_what_it_has_said_before() -> None:
    running = {"active_state": ActiveState.ACTIVE, "readiness": Readiness.LOADING, "invocation_id": RUN}
    fleet = ScriptedFleet(INACTIVE.model_copy(update=running))
    fleet.says("[x] Load weight begin. avail mem=139 GB", live=False)
    async with watching(fleet, starts=False) as probe:
        await settle()
        fleet.says("Loading safetensors checkpoint shards:  25% Completed | 1/4")
        await settle()
    assert probe.words[-1] == "loading weights 25 %"


async def test_a_probe_of_a_stopped_unit_does_not_wait() -> None:
    fleet = ScriptedFleet(INACTIVE.model_copy(update={"invocation_id": None}))
    async with watching(fleet, starts=False) as probe:
        assert (await probe.result()).verdict is Verdict.STOPPED


async def test_a_unit_that_does_not_exist_cannot_be_started() -> None:
    missing = INACTIVE.model_copy(update={"load_state": LoadState.NOT_FOUND, "invocation_id": None})
    fleet = ScriptedFleet(missing)
    async with watching(fleet, starts=False) as probe:
        result = await probe.result()
    assert result.verdict is Verdict.FAILED_TO_START
    assert "not installed" in result.words


@fault("F1", how="200, then 503", result="sick, with the answer")
async def test_a_service_that_falls_back_after_it_answered_is_sick() -> None:
    sick = {"active_state": ActiveState.ACTIVE, "readiness": Readiness.SICK, "readiness_detail": "GET /health 503"}
    fleet = ScriptedFleet(INACTIVE.model_copy(update=sick))
    async with watching(fleet, starts=False) as probe:
        result = await probe.result()
    assert result.verdict is Verdict.SICK
    assert "503" in result.words
