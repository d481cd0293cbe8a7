"""`dflashtui diagnose [FILE…]`: the root cause of a log."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dflashtui.cli.colour import wants_colour
from dflashtui.diagnosis.reading import CHUNK_BYTES, diagnose_bytes
from dflashtui.diagnosis.remedies import remedies
from dflashtui.exit_code import ExitCode, worst
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from dflashtui.cli.parser import Options
    from dflashtui.diagnosis.verdict import Verdict
    from dflashtui.model.finding import Cause, Location

STDIN = Path("-")
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
MESSAGE_LIMIT = 2000


def run_diagnose(options: Options) -> int:
    """Diagnose each file and print it; several files are several logs."""
    files = options.files or (STDIN,)
    return worst(*(_diagnosed(file, options, named=len(files) > 1) for file in files))


def _diagnosed(file: Path, options: Options, *, named: bool) -> ExitCode:
    try:
        verdict = diagnose_bytes(_chunks(file))
    except OSError as failed:
        sys.stderr.write(f"dflashtui: {printable(str(file))}: {failed.strerror or failed}\n")
        return ExitCode.UNKNOWN
    if options.json:
        sys.stdout.write(json.dumps(document(verdict, str(file) if named else None)) + "\n")
    else:
        sys.stdout.write(report(verdict, str(file) if named else None, colour=wants_colour(options)))
    return ExitCode.FAILED if verdict.fatal else ExitCode.OK


def _chunks(file: Path) -> Iterator[bytes]:
    if file == STDIN:
        yield from _read(sys.stdin.buffer)
        return
    with file.open("rb", buffering=0) as stream:
        yield from _read(stream)


def _read(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def document(verdict: Verdict, file: str | None) -> dict[str, Any]:
    """The contract's JSON; with several files each document names its own."""
    cause = verdict.cause
    return {
        "schema": 1,
        **({"file": file} if file is not None else {}),
        "fatal": verdict.fatal,
        "cause": cause.model_dump(mode="json") if cause else None,
        "remedies": [remedy.model_dump(mode="json") for remedy in remedies(cause)] if cause else [],
        "others": [other.model_dump(mode="json") for other in verdict.others],
    }


def report(verdict: Verdict, file: str | None, *, colour: bool) -> str:
    """The verdict in words, one fact a line; nothing in it acts on a terminal but the colours."""
    lines = [f"{printable(file)}:"] if file is not None else []
    if verdict.cause is None:
        lines.append("no failure found")
    else:
        lines += _cause_lines(verdict.cause, colour=colour)
        lines += [f"  do       {_words(remedy.title, remedy.command)}" for remedy in remedies(verdict.cause)]
    lines += [f"  also     {_headline(other)}" for other in verdict.others]
    return "\n".join(lines) + "\n"


def _cause_lines(cause: Cause, *, colour: bool) -> list[str]:
    head = _headline(cause)
    lines = [f"{RED}{BOLD}{head}{PLAIN}" if colour else head]
    facts = (
        ("in", cause.process),
        ("at", _place(cause.location)),
        ("own code", _place(cause.own_location) if cause.own_location != cause.location else None),
        ("unit", cause.unit),
        ("lines", f"{cause.lines[0]}–{cause.lines[1]}" if cause.lines else None),
        ("seen", f"{cause.folded + 1} times" if cause.folded else None),
        ("sure", None if cause.confidence == "high" else f"{cause.confidence} confidence"),
    )
    return lines + [f"  {name:<8} {printable(words)}" for name, words in facts if words]


def _headline(cause: Cause) -> str:
    told = ": ".join(filter(None, (cause.exception, cause.message)))
    return printable(f"{cause.kind}: {told}" if told else cause.kind, limit=MESSAGE_LIMIT)


def _place(place: Location | None) -> str | None:
    if place is None:
        return None
    where = f"{place.file}:{place.line}" if place.line is not None else place.file
    return f"{where} in {place.function}" if place.function else where


def _words(title: str, command: str | None) -> str:
    return printable(f"{title}: {command}" if command else title, limit=MESSAGE_LIMIT)
