"""A probe's result for scripts and for people. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.exit_code import ExitCode
from dflashtui.mask import masked
from dflashtui.model.probe import Verdict
from dflashtui.text import human_bytes, human_span, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.finding import Cause
    from dflashtui.model.probe import PhaseTime, ProbeResult, ProbeUpdate, SignsOfLife
    from dflashtui.ops.remedy_value import HostRemedy

EXIT_CODES = {
    Verdict.READY: ExitCode.OK,
    Verdict.LOADING: ExitCode.WARNING,
    Verdict.UNKNOWN: ExitCode.UNKNOWN,
}
"""Every other verdict is a failure."""
COLOURS = {ExitCode.OK: "32", ExitCode.WARNING: "33", ExitCode.FAILED: "31", ExitCode.UNKNOWN: "35"}
LINES_SHOWN = 10
OTHERS_SHOWN = 3
TOLD_OF_REMEDY = {"title", "command", "details"}
TENTHS_UNTIL_SECONDS = 60


def exit_code(result: ProbeResult) -> ExitCode:
    """What the command says of it (contract, part 2)."""
    return EXIT_CODES.get(result.verdict, ExitCode.FAILED)


def document(result: ProbeResult, *, is_demo: bool = False, remedies: Sequence[HostRemedy] = ()) -> dict[str, object]:
    """The JSON of `probe --json` (contract, part 4), and what was added to it since."""
    return {
        "schema": 1,
        "host": result.host,
        "unit": result.unit,
        "verdict": result.verdict.value,
        "elapsed_ms": round(result.elapsed_seconds * 1000, 1),
        "exit_code": result.exit_code,
        "signal": result.signal,
        "cause": result.cause.model_dump(mode="json") if result.cause else None,
        "remedies": [remedy.model_dump(mode="json", include=TOLD_OF_REMEDY) for remedy in remedies],
        "lines": list(result.lines),
        "message": result.words,
        "invocation_id": result.invocation_id,
        "others": [cause.model_dump(mode="json") for cause in result.others],
        "phase": result.phase.phase.key if result.phase else None,
        "phases": list(map(_phase, result.phases)),
        "usual_s": result.usual_seconds,
        "signs_of_life": _life(result.life) if result.life else None,
        "superseded_by": result.superseded_by,
        "neighbours": list(result.neighbours),
        "demo": is_demo,
    }


def _phase(time: PhaseTime) -> dict[str, object]:
    return {
        "name": time.phase.key,
        "percent": time.phase.percent,
        "began_s": round(time.began_seconds, 3),
        "duration_s": None if time.seconds is None else round(time.seconds, 3),
        "usual_s": time.usual_seconds,
    }


def _life(life: SignsOfLife) -> dict[str, object]:
    return {
        "cpu_percent": life.cpu_percent,
        "cpu_s": life.cpu_seconds,
        "memory_bytes": life.memory_bytes,
        "gpu_memory_bytes": life.gpu_memory_bytes,
        "gpu_memory_grown_bytes": life.gpu_memory_grown_bytes,
        "last_line_at": life.last_line_at.isoformat().replace("+00:00", "Z") if life.last_line_at else None,
    }


def lines(result: ProbeResult, *, colour: bool = False) -> Iterator[str]:
    """The result in words: the verdict, then what there is to know, a line each."""
    yield f"{printable(result.host)}: {printable(result.unit)}: {_headline(result, colour)}"
    yield from (f"  {line}" for line in result_lines(result))


def result_lines(result: ProbeResult) -> Iterator[str]:
    """What there is to know beyond the verdict, a line each."""
    for title, text in _details(result):
        yield f"{title:<9}{printable(text)}"
    if result.cause is None and exit_code(result) is ExitCode.FAILED:
        yield from (f"| {printable(line)}" for line in result.lines[-LINES_SHOWN:])


def remedy_lines(remedies: Sequence[HostRemedy]) -> Iterator[str]:
    """What to do, the most exact first: the title, its facts, its command."""
    for remedy in remedies:
        yield f"  do       {printable(remedy.title)}"
        yield from (f"           {printable(masked(line))}" for line in remedy.details)
        if remedy.command:
            yield f"           $ {printable(masked(remedy.command))}"


def progress(update: ProbeUpdate) -> str:
    """One line of what is going on."""
    parts = [f"{printable(update.host)}: {printable(update.words)}"]
    if update.phase and update.phase.usual_seconds is not None:
        parts.append(f"usually {span(update.phase.usual_seconds)}")
    if update.suspected:
        parts.append(f"suspected: {printable(update.suspected.in_words)}")
    return f"{' · '.join(parts)} ({span(update.elapsed_seconds)})"


def span(seconds: float) -> str:
    """`0.043 s`, `12.3 s`, `3m10s`."""
    if seconds < 1:
        return f"{seconds:.3f} s"
    return f"{seconds:.1f} s" if seconds < TENTHS_UNTIL_SECONDS else human_span(seconds)


def _headline(result: ProbeResult, colour: bool) -> str:  # noqa: FBT001 - passed through
    word = result.verdict.value
    shown = f"\x1b[{COLOURS[exit_code(result)]}m{word}\x1b[0m" if colour else word
    usual = f", usually {span(result.usual_seconds)}" if result.usual_seconds is not None else ""
    return f"{shown} after {span(result.elapsed_seconds)}{usual}: {printable(result.words)}"


def _details(result: ProbeResult) -> Iterator[tuple[str, str]]:
    if result.cause:
        yield from _cause(result.cause, "cause" if exit_code(result) is ExitCode.FAILED else "suspected")
    for other in result.others[:OTHERS_SHOWN]:
        yield "also", other.in_words
    for words in result.neighbours:
        yield "kernel", words
    if result.phase and exit_code(result) is not ExitCode.OK:
        yield "phase", _phase_words(result.phase)
    if result.life and result.verdict is Verdict.LOADING:
        yield "life", _life_words(result.life)


def _cause(cause: Cause, title: str) -> Iterator[tuple[str, str]]:
    kind = "" if cause.kind == "unknown" else f"  [{cause.kind}]"
    yield title, f"{cause.in_words}{kind}"
    place = cause.own_location or cause.location
    if place:
        line = f":{place.line}" if place.line is not None else ""
        yield "at", f"{place.file}{line}" + (f" in {place.function}" if place.function else "")
    if cause.process:
        yield "process", cause.process


def _phase_words(time: PhaseTime) -> str:
    phase = time.phase
    took = f", {span(time.seconds)}" if time.seconds is not None else ""
    usual = f" (usually {span(time.usual_seconds)})" if time.usual_seconds is not None else ""
    part = f" of the {phase.part} model" if phase.part else ""
    percent = f" {phase.percent} %" if phase.percent is not None else ""
    return f"{phase.words}{part}{percent}, since {span(time.began_seconds)} after the start{took}{usual}"


def _life_words(life: SignsOfLife) -> str:
    cpu = "–" if life.cpu_percent is None else f"{life.cpu_percent:.0f} %"
    grown = f", {human_bytes(life.gpu_memory_grown_bytes)} more than at first" if life.gpu_memory_grown_bytes else ""
    last = life.last_line_at.strftime("%H:%M:%S") if life.last_line_at else "–"
    return f"CPU {cpu}, GPU memory {human_bytes(life.gpu_memory_bytes)}{grown}, last line at {last}"
