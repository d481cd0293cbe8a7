"""From one run's candidates to the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dflashtui.diagnosis.candidate import Candidate, cause
from dflashtui.diagnosis.cleaning import pieces
from dflashtui.diagnosis.form import Weight
from dflashtui.diagnosis.kinds import kind_of
from dflashtui.diagnosis.line import Line
from dflashtui.diagnosis.manager import SIGNAL_KINDS, kind_of_exit
from dflashtui.diagnosis.prefixes import strip
from dflashtui.diagnosis.ranking import Tier, ranked, tier
from dflashtui.diagnosis.verdict import Verdict

if TYPE_CHECKING:
    from dflashtui.diagnosis.run import Run
    from dflashtui.diagnosis.verdict import UnitResult
    from dflashtui.model.finding import Cause, Confidence

MAX_OTHERS = 5
RESULT_KINDS = {"oom-kill": "host-oom", "timeout": "timeout", "watchdog": "timeout", "resources": "systemd-exec"}
"""systemd's `Result` words that tell a kind."""
SHOWN = frozenset({Tier.EXPLICIT, Tier.OWN, Tier.BARE, Tier.TELLING, Tier.VICTIM})
CONFIDENCE: dict[Tier, Confidence] = {
    Tier.EXPLICIT: "high",
    Tier.OWN: "high",
    Tier.BARE: "medium",
    Tier.TELLING: "medium",
}


def first_cause(run: Run) -> Cause | None:
    """The best candidate so far, whether the run has ended or not."""
    order = [one for one in ranked(run) if tier(one) is not Tier.CUT]
    return _told(order[0], order, run) if order else None


def has_failed(run: Run) -> bool:
    """An exception of the service's own stands, after which it did not go on."""
    return any(tier(one) <= Tier.OWN for one in run.candidates)


def conclude(run: Run, past: tuple[Cause, ...], result: UnitResult | None) -> Verdict:
    """The verdict on the run; `past`: the causes of those before it, newest first."""
    run = _with_result(run, result) if result else run
    order = ranked(run)
    if not order:
        return Verdict(fatal=False, cause=None, others=past)
    if tier(order[0]) is Tier.STATUS:
        order = [*_last_words(run, order[0]), *order]
    others = _others(order)
    return Verdict(
        fatal=True,
        cause=_told(order[0], order, run),
        others=(*(_told(one, [], run) for one in others[:MAX_OTHERS]), *past),
    )


def _others(order: list[Candidate]) -> list[Candidate]:
    """Of each further candidate that tells something one copy."""
    first_of = {one.key: one for one in reversed(order)}
    return [one for one in order[1:] if tier(one) in SHOWN and first_of[one.key] is one]


def _told(candidate: Candidate, order: list[Candidate], run: Run) -> Cause:
    copies = sum(one is not candidate and one.key == candidate.key for one in order)
    told = cause(candidate)
    changed: dict[str, object] = {"folded": copies, "confidence": CONFIDENCE.get(tier(candidate), "low")}
    better = _nccl_words(order) if told.kind == "nccl" else None
    if better:
        changed |= {"message": better.message, "kind": kind_of(None, better.message) or "nccl"}
    if told.exception is None:
        changed["exception"] = next((one.name for one in order if _is_panic_of(one, told)), None)
    if told.process is None:
        changed["process"] = next((one.label for one in order if one.label and one.key == candidate.key), None)
    if (
        changed.get("process", told.process) is None
        and len(run.pids) > 1
        and candidate.pid
        and candidate.line.identifier
        and candidate.line.origin == "service"
    ):
        changed["process"] = f"{candidate.line.identifier}[{candidate.pid}]"
    return told.model_copy(update=changed)


def _is_panic_of(candidate: Candidate, told: Cause) -> bool:
    """PyO3 raises a Rust panic as an exception, behind the panic's own report."""
    return (candidate.name or "").endswith("PanicException") and candidate.text.partition("\n")[0] == told.message


def _nccl_words(order: list[Candidate]) -> Candidate | None:
    """NCCL's own warning says more than the exception behind it."""
    return next((one for one in order if one.message and one.trace is None and "NCCL WARN" in one.line.text), None)


def _last_words(run: Run, end: Candidate) -> list[Candidate]:
    """The sentence of a `sys.exit("…")`: what the service said last, where the status says nothing."""
    line = run.last_words
    if line is None or end.kind not in {None, "unknown"} or not any(char.isalpha() for char in line.text):
        return []
    look = strip(next(reversed(pieces(line.text)), ""))
    said = Candidate(end.order, Weight.GENERAL, line, last=line.number, label=look.process, pid=line.pid)
    said.message = look.text.strip()
    return [said] if said.message else []


def _with_result(run: Run, result: UnitResult) -> Run:
    """The run with the manager's word, where the log does not have it."""
    if result.result == "success" and not result.exit_status:
        return run
    weight = Weight.EXPLICIT if result.result == "oom-kill" else Weight.STATUS
    order = max((one.order for one in run.candidates), default=0) + 1
    candidate = Candidate(order, weight, Line(""), kind=_kind_of_result(result))
    status = f"status {result.exit_status}" if result.signal is None else f"signal {result.signal}"
    candidate.message = f"result '{result.result}', {status}"
    return replace(run, is_dead=True, candidates=[*run.candidates, candidate])


def _kind_of_result(result: UnitResult) -> str:
    if result.result in RESULT_KINDS:
        return RESULT_KINDS[result.result]
    if result.signal:
        return SIGNAL_KINDS.get(result.signal, "unknown")
    return kind_of_exit("exited", result.exit_status or 0)
