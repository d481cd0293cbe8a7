"""A run that failed before anybody looked, read whole from its journal."""

from __future__ import annotations

import json
from datetime import timedelta

from dflashtui.config.model import Config, Host, Unit
from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.model.command import HostCommand
from dflashtui.model.failed_run import LogLine, UnitText
from dflashtui.model.finding import Cause
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.model.host import HostSnapshot
from dflashtui.model.journal import JournalGap
from dflashtui.model.probe import ProbeResult, Verdict
from dflashtui.model.unit import ActiveState, UnitStatus
from dflashtui.ops.before import GpusBefore
from dflashtui.ops.excerpt import excerpt, lines_of
from dflashtui.ops.failed_runs import FailedRuns
from dflashtui.ops.post_mortem import Found, of_probe, post_mortem
from dflashtui.ops.remedy_asking import remedy_confirmation
from dflashtui.ops.remedy_value import HostRemedy
from tests.unit.crash_fakes import FAILED, HOST, NOW, RUN, UNIT, Script, entries

CONFIG = Config(hosts=(Host(name="gpu-a"),), units=(Unit(name=UNIT, hosts=("gpu-a",), engine="sglang", gpus=(1,)),))
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/v/lib/python3.12/site-packages/sglang/a.py", line 3, in <module>',
    "    import soundfile",
    "ModuleNotFoundError: No module named 'soundfile'",
)
OTHER_RUN = "f" * 32


async def read(script: Script, kept: FailedRuns | None = None, before: GpusBefore | None = None) -> Found:
    return await post_mortem(script.fleet, CONFIG, kept or FailedRuns(None), "gpu-a", UNIT, before=before)


async def test_the_cause_of_a_run_that_ended_long_ago() -> None:
    script = Script()
    script.journal = entries("loading", *TRACEBACK, "shutting down")
    run = (await read(script)).run
    assert run.cause is not None
    assert (run.cause.kind, run.cause.module, run.cause.host) == ("missing-module", "soundfile", "gpu-a")
    assert (run.invocation_id, run.result, run.exit_code) == (RUN, "exit-code", 1)
    assert [(line.mark, line.text[:12]) for line in run.lines] == [
        ("", "loading"),
        ("trace", "Traceback (m"),
        ("trace", '  File "/opt'),
        ("trace", "    import s"),
        ("cause", "ModuleNotFou"),
        ("", "shutting dow"),
    ]


async def test_the_run_before_the_one_that_lives() -> None:
    alive = FAILED.model_copy(
        update={"active_state": ActiveState.ACTIVE, "sub_state": "running", "invocation_id": OTHER_RUN}
    )
    script = Script(HOST.model_copy(update={"units": (alive,)}))
    script.journal = (*entries(*TRACEBACK), *entries("running well", run=OTHER_RUN))
    run = (await read(script)).run
    assert run.invocation_id == RUN
    assert run.result is None
    assert run.cause is not None


async def test_no_run_at_all_is_said() -> None:
    script = Script(HOST.model_copy(update={"units": (UnitStatus(name=UNIT),)}))
    run = (await read(script)).run
    assert run.cause is None
    assert run.problem == "no run of it is in the journal"


async def test_the_kernels_word_of_the_same_half_minute() -> None:
    script = Script()
    script.journal = entries("x")
    near, far = NOW - timedelta(seconds=30), NOW - timedelta(seconds=300)
    lines = [
        {
            "__CURSOR": f"s=a;i={number}",
            "__REALTIME_TIMESTAMP": str(int(at.timestamp() * 1e6)),
            "MESSAGE": text,
            "_TRANSPORT": "kernel",
        }
        for number, (at, text) in enumerate(
            [
                (near, "NVRM: Xid (PCI:0000:01:00): 79, pid=7, name=python, GPU has fallen off the bus."),
                (near, "Out of memory: Killed process 9 (python) total-vm:1kB, anon-rss:8388608kB"),
                (near, "usb 1-1: new device"),
            ]
        )
    ]
    script.answers[("journalctl",)] = b"\n".join(json.dumps(line).encode() for line in lines) + b"\nnot json\n"
    found = await read(script)
    assert [xid.xid for xid in found.xids] == [79]
    assert found.run.neighbours == (
        "Xid 79 on 00000000:01:00.0, pid 7: GPU has fallen off the bus",
        "out of memory: the kernel killed pid 9 (python): the memory of the host",
    )
    asked = next(argv for argv in script.asked if argv[0] == "journalctl")
    since = next(float(word.removeprefix("--since=@")) for word in asked if word.startswith("--since"))
    assert far.timestamp() < since < near.timestamp()


async def test_a_fault_of_another_process_is_a_neighbour_and_not_the_cause() -> None:
    script = Script()
    script.journal = entries(*TRACEBACK)
    line = {
        "__CURSOR": "s=a;i=1",
        "__REALTIME_TIMESTAMP": str(int((NOW - timedelta(seconds=12)).timestamp() * 1e6)),
        "MESSAGE": "NVRM: Xid (PCI:0000:01:00): 79, pid=99, name=other, GPU has fallen off the bus.",
        "_TRANSPORT": "kernel",
    }
    script.answers[("journalctl",)] = json.dumps(line).encode()
    run = (await read(script)).run
    assert run.cause is not None
    assert run.cause.kind == "missing-module"
    assert len(run.neighbours) == 1
    script.answers[("journalctl",)] = json.dumps(line).replace("pid=99", "pid=7").encode()
    run = (await read(script)).run
    assert run.cause is not None
    assert run.cause.kind == "gpu-lost"


async def test_who_held_the_gpu_before_the_end() -> None:
    alive = FAILED.model_copy(update={"active_state": ActiveState.ACTIVE, "main_pid": 7})
    gpus = tuple(
        Gpu(
            index=index,
            memory_used_bytes=index * 2**30,
            memory_total_bytes=10 * 2**30,
            processes=(GpuProcess(pid=7, unit=UNIT, memory_used_bytes=2**30),) if index else (),
        )
        for index in range(2)
    )
    before = GpusBefore()
    before.take(HostSnapshot(name="gpu-a", units=(alive,), gpus=gpus, gpus_at=NOW))
    before.take(HOST.model_copy(update={"gpus": (Gpu(index=0), Gpu(index=1))}))
    script = Script()
    script.journal = entries(*TRACEBACK)
    run = (await read(script, before=before)).run
    assert run.gpus_before == (f"GPU 1: 1.0 GiB of 10.0 GiB used: {UNIT} 1.0 GiB (pid 7)",)
    assert run.gpus_before_at == NOW


async def test_what_changed_in_the_unit_since_the_last_good_start() -> None:
    kept = FailedRuns(None)
    script = Script()
    script.journal = entries(*TRACEBACK)
    assert (await read(script, kept)).run.unit_changes is None
    kept.keep_text("gpu-a", UNIT, UnitText(at=NOW, text="[Service]\nExecStart=/a\nEnvironment=TOKEN=a\n"))
    script.text = "[Service]\nExecStart=/b\nEnvironment=TOKEN=b\n"
    run = (await read(script, kept)).run
    assert run.unit_changes == ("-ExecStart=/a", "+ExecStart=/b")
    assert run.good_start_at == NOW


async def test_the_run_is_kept() -> None:
    kept = FailedRuns(None)
    script = Script()
    script.journal = entries(*TRACEBACK)
    found = await read(script, kept)
    assert kept.of("gpu-a", UNIT) == (found.run,)


def test_a_probes_result_is_a_card_at_once() -> None:
    cause = Cause(kind="missing-module", exception="ModuleNotFoundError", message="No module named 'soundfile'")
    result = ProbeResult(
        host="gpu-a",
        unit=UNIT,
        verdict=Verdict.CRASHED,
        words="failed",
        elapsed_seconds=0.1,
        invocation_id=RUN,
        exit_code=1,
        cause=cause,
        lines=TRACEBACK,
    )
    run = of_probe(result, FAILED)
    assert (run.cause, run.result, run.exit_code) == (cause, "exit-code", 1)
    assert [line.mark for line in run.lines] == ["trace", "trace", "trace", "cause"]


def test_only_what_is_worth_a_look_is_shown() -> None:
    noise = [LogLine(text=f"line {number}") for number in range(3000)]
    lines = [*noise[:1000], *(LogLine(text=text) for text in TRACEBACK), *noise[1000:]]
    cause = Cause(kind="missing-module", exception="ModuleNotFoundError", message="No module named 'soundfile'")
    shown = excerpt(lines, cause)
    assert len(shown) < 80
    assert [line.text for line in shown if line.mark == "gap"] == ["985 lines not shown", "1980 lines not shown"]
    assert [line.text for line in shown if line.mark in {"trace", "cause"}] == list(TRACEBACK)
    assert shown[-1].text == "line 2999"


def test_a_gap_of_the_journal_is_seen() -> None:
    gap = JournalGap(at=NOW, reason="journald suppressed 12 messages")
    assert [line.mark for line in lines_of((*entries("a\nb"), gap))] == ["", "", "gap"]


def test_a_remedy_is_normal_and_heavy_in_a_protected_group() -> None:
    remedy = HostRemedy.of("install", ("pip", "install", "x"))
    command = HostCommand(host="gpu-a", unit=UNIT, argv=remedy.argv or ())
    restart = UnitAction(verb=Verb.RESTART, host="gpu-a", unit=UNIT)
    asked = remedy_confirmation(command, remedy, (restart,), {"gpu-a": HOST})
    assert (asked.weight, asked.word) == (Weight.NORMAL, None)
    assert asked.commands == ("pip install x", f"systemctl restart {UNIT}")
    protected = HOST.model_copy(update={"protected": True, "group": "prod"})
    asked = remedy_confirmation(command, remedy, (), {"gpu-a": protected})
    assert (asked.weight, asked.word) == (Weight.HEAVY, "prod")
    heavy = HostRemedy.of("end", ("kill", "1"), reasons=("it ends a process",))
    asked = remedy_confirmation(command, heavy, (), {"gpu-a": HOST})
    assert (asked.weight, asked.word, asked.reasons) == (Weight.HEAVY, "gpu-a", ("it ends a process",))
