"""The diagnosis of a run that goes on: suspected at once, withdrawn when the service lives, told by the manager."""

from datetime import UTC, datetime

from dflashtui.diagnosis.diagnosis import Diagnosis
from dflashtui.diagnosis.line import Line, from_entry
from dflashtui.diagnosis.verdict import UnitResult
from dflashtui.model.journal import JournalEntry

TRACE = (
    "Traceback (most recent call last):",
    '  File "/srv/pump/main.py", line 3, in <module>',
    "    import soundfile",
    "ModuleNotFoundError: No module named 'soundfile'",
)
AT = datetime(2026, 12, 1, 2, 3, 4, tzinfo=UTC)


def fed(*texts: str, pid: int | None = None) -> Diagnosis:
    diagnosis = Diagnosis()
    for text in texts:
        diagnosis.feed(Line(text, pid=pid))
    return diagnosis


def entry(
    message: str,
    *,
    pid: int = 71,
    from_manager: bool = False,
    invocation_id: str = "a" * 32,
    line_break: str | None = None,
) -> JournalEntry:
    return JournalEntry(
        cursor="s=1",
        at=AT,
        message=message,
        pid=1 if from_manager else pid,
        from_manager=from_manager,
        unit="pump.service",
        invocation_id=invocation_id,
        syslog_identifier="python3",
        transport="stdout",
        stream_id="s1",
        line_break=line_break,
    )


def test_the_cause_is_suspected_with_the_last_line_of_the_traceback() -> None:
    diagnosis = fed(*TRACE[:-1])
    assert diagnosis.suspected() is None
    diagnosis.feed(Line(TRACE[-1]))
    suspected = diagnosis.suspected()
    assert suspected
    assert (suspected.kind, suspected.module, suspected.lines) == ("missing-module", "soundfile", None)


def test_it_is_withdrawn_when_the_service_goes_on() -> None:
    diagnosis = fed("INFO:     Started server process [71]", *TRACE)
    assert diagnosis.suspected()
    for number in range(3):
        diagnosis.feed(Line(f'INFO:     10.0.0.{number}:5000 - "GET /v1/models HTTP/1.1" 200 OK'))
    assert diagnosis.suspected() is None
    assert not diagnosis.finish().fatal


def test_a_better_cause_replaces_a_victim() -> None:
    peer = (*TRACE[:3], "RuntimeError: Connection closed by peer [10.0.0.7]:41200")
    diagnosis = fed(*(f"[rank0]: {line}" for line in peer))
    first = diagnosis.suspected()
    assert first
    assert first.process == "rank0"
    for line in TRACE:
        diagnosis.feed(Line(f"[rank1]: {line}"))
    second = diagnosis.suspected()
    assert second
    assert (second.process, second.kind) == ("rank1", "missing-module")


def test_what_lived_on_counts_if_the_manager_says_that_the_run_failed() -> None:
    serving = [f'INFO:     10.0.0.{number}:5000 - "GET /v1/models HTTP/1.1" 200 OK' for number in range(3)]
    diagnosis = fed(*TRACE, *serving)
    assert not diagnosis.finish().fatal
    verdict = diagnosis.finish(UnitResult("signal", signal=9))
    assert verdict.cause
    assert (verdict.cause.kind, verdict.cause.confidence) == ("missing-module", "low")


def test_the_result_alone() -> None:
    for result, kind in (
        (UnitResult("success", exit_status=0), None),
        (UnitResult("exit-code", exit_status=203), "systemd-exec"),
        (UnitResult("exit-code", exit_status=1), "unknown"),
        (UnitResult("signal", signal=9), "unknown"),
        (UnitResult("core-dump", signal=11), "segfault"),
        (UnitResult("oom-kill", signal=9), "host-oom"),
        (UnitResult("timeout"), "timeout"),
    ):
        cause = fed("loading").finish(result).cause
        assert (cause.kind if cause else None) == kind


def test_entries_of_the_journal() -> None:
    diagnosis = Diagnosis()
    for text in TRACE:
        diagnosis.feed(from_entry(entry(text)))
    diagnosis.feed(
        from_entry(entry("pump.service: Main process exited, code=killed, status=9/KILL", from_manager=True))
    )
    cause = diagnosis.finish().cause
    assert cause
    assert (cause.module, cause.unit, cause.invocation_id) == ("soundfile", "pump.service", "a" * 32)


def test_another_invocation_is_another_run() -> None:
    diagnosis = Diagnosis()
    for text in TRACE:
        diagnosis.feed(from_entry(entry(text)))
    diagnosis.feed(from_entry(entry("Started pump.service - Pump.", from_manager=True, invocation_id="b" * 32)))
    verdict = diagnosis.finish()
    assert not verdict.fatal
    assert [other.kind for other in verdict.others] == ["missing-module"]


def test_pieces_of_a_line_that_journald_cut_are_one_line() -> None:
    diagnosis = Diagnosis()
    for text in TRACE[:-1]:
        diagnosis.feed(from_entry(entry(text)))
    diagnosis.feed(from_entry(entry("ValueError: " + "x" * 10, line_break="line-max")))
    assert diagnosis.suspected() is None
    diagnosis.feed(from_entry(entry("yz")))
    suspected = diagnosis.suspected()
    assert suspected
    assert suspected.message == "xxxxxxxxxxyz"


def test_processes_that_share_a_pipe_are_told_apart() -> None:
    """Two children without any prefix, line by line in turns: only `_PID` tells."""
    other = (
        TRACE[0],
        '  File "/srv/pump/b.py", line 9, in run',
        "    connect()",
        "ConnectionResetError: [Errno 104] Connection reset by peer",
    )
    diagnosis = Diagnosis()
    for ours, theirs in zip(TRACE, other, strict=True):
        diagnosis.feed(from_entry(entry(theirs, pid=8)))
        diagnosis.feed(from_entry(entry(ours, pid=7)))
    cause = diagnosis.finish().cause
    assert cause
    assert cause.location
    assert (cause.exception, cause.location.file, cause.process) == (
        "ModuleNotFoundError",
        "/srv/pump/main.py",
        "python3[7]",
    )


def test_a_stop_that_was_asked_for_is_no_failure() -> None:
    diagnosis = Diagnosis()
    diagnosis.feed(from_entry(entry("Stopping pump.service - Pump...", from_manager=True)))
    for text in (*TRACE[:3], "KeyboardInterrupt"):
        diagnosis.feed(from_entry(entry(text)))
    diagnosis.feed(from_entry(entry("pump.service: Failed with result 'signal'.", from_manager=True)))
    assert not diagnosis.finish().fatal
