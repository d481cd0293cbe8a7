"""Preflight: the arguments of an engine, by the options that are in its own text, then by its own parser."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from dflashtui.diagnosis.remedies_names import MOVED
from dflashtui.engines.arguments import argument_faults
from dflashtui.engines.flag_lists import flag_list
from dflashtui.mask import masked
from dflashtui.model.flag import FlagList
from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.preflight_environment import unknown, where_of
from dflashtui.ops.preflight_program import program_of
from dflashtui.ops.survey import survey

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from dflashtui.engines.arguments import ArgumentFault
    from dflashtui.ops.preflight_program import Program
    from dflashtui.ops.preflight_question import Question
    from dflashtui.ops.survey import Survey, Where

CHECK = "arguments"
NEW_NAMES = {old: moved.now for old, moved in MOVED.items()}
PARSER_SECONDS = 15.0
"""The parser imports torch and much of the engine: 3 to 5 s on a host that did so before."""
ASIDE_SECONDS = 5.0
"""Left for reading its text before."""
REFUSED = 2
"""What argparse ends with."""
EXCEPTION = re.compile(r"^(?P<kind>[\w.]+): (?P<words>.*)$")
ELSEWHERE = ("ImportError", "ModuleNotFoundError")
"""The check of the imports tells these better."""
OF_THE_MACHINE = ("No accelerator", "Failed to infer device type", "libcuda", "CUDA")


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Findings worst first; none for a program that is no known engine. Raises `TransportLost`."""
    where, program = where_of(question), program_of(question)
    engine = program.engine if program else None
    if where is None or program is None or engine is None:
        return ()
    where = replace(where, flags=program.flags)
    words = _arguments(program)
    limit = question.survey_seconds
    read = await survey(question.transport, where, {"flags": {"engine": engine}}, limit_seconds=limit)
    known = _known(engine, read)
    if known is None:
        return (unknown(question, CHECK, f"the options of this {engine} are not known: its text cannot be read"),)
    found = [_finding(question, fault) for fault in argument_faults(known, words, NEW_NAMES)]
    if engine == "sglang" and not any(one.level == "fatal" for one in found):
        found += [finding async for finding in _by_parser(question, where, words)]
    return found


def _arguments(program: Program) -> tuple[str, ...]:
    """Behind the subcommand `serve`, if there is one."""
    words = program.arguments
    return words[1:] if words[:1] == ("serve",) else words


def _known(engine: str, found: Survey) -> FlagList | None:
    """What the engine's own text says; else the list of its release."""
    *flags, summary = found.of("flags") or ({},)
    if not flags:
        return flag_list(engine, summary.get("version"))
    try:
        return FlagList.model_validate({"engine": engine, **summary, "flags": flags})
    except ValidationError:
        return flag_list(engine, summary.get("version"))


def _finding(question: Question, fault: ArgumentFault) -> PreflightFinding:
    return PreflightFinding(
        id=f"{CHECK}:{fault.flag}",
        level=fault.level,
        check=CHECK,
        host=question.host.name,
        unit=question.unit.name,
        message=masked(fault.message),
        evidence=fault.evidence,
        remedy=f"write {fault.instead}" if fault.instead else None,
    )


async def _by_parser(question: Question, where: Where, words: Sequence[str]) -> AsyncIterator[PreflightFinding]:
    """What is wrong beyond spelling."""
    seconds = max(1.0, min(PARSER_SECONDS, question.survey_seconds - ASIDE_SECONDS))
    tasks = {"parser": {"arguments": list(words), "seconds": seconds}}
    found = await survey(question.transport, where, tasks, limit_seconds=seconds + 1)
    for fact in found.of("parser"):
        for level, message, evidence in _told(fact.get("status"), str(fact.get("said", ""))):
            yield PreflightFinding(
                id=f"{CHECK}:parser",
                level=level,
                check=CHECK,
                host=question.host.name,
                unit=question.unit.name,
                message=message,
                evidence=evidence,
            )


def _told(status: object, said: str) -> Iterator[tuple[Literal["fatal", "warning", "note"], str, tuple[str, ...]]]:
    last = masked(said.strip().rpartition("\n")[2])
    if status is None:
        yield "note", "the engine's own parser gave no answer in time: only spelling was judged", ()
    elif status == REFUSED:
        words = last.partition(" error: ")[2] or last
        yield "fatal", f"the engine refuses its arguments: {words}", (last,)
    elif status != 0 and (found := EXCEPTION.match(last)):
        is_elsewhere = found["kind"].rpartition(".")[2] in ELSEWHERE or any(one in last for one in OF_THE_MACHINE)
        if not is_elsewhere:
            yield "warning", f"the engine's own check of its arguments ends with {last}", (_MODEL,)


_MODEL = "asked with a model of no name: what depends on the model was not judged"
