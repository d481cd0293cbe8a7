"""Preflight: every import of the unit's program that cannot be met, in one pass; one command for all that lacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.environment import environment_of
from dflashtui.ops.import_sweep import TASK, sweep_of, sweep_order
from dflashtui.ops.import_wants import Wants
from dflashtui.ops.installing import install_argv, obstacle
from dflashtui.ops.preflight_environment import login_of, unknown, where_of
from dflashtui.ops.preflight_program import program_of
from dflashtui.ops.preflight_reference import reference_environment
from dflashtui.ops.survey import survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dflashtui.model.environment import Environment
    from dflashtui.model.imports import ImportFault, ImportSweep
    from dflashtui.ops.import_wants import Want
    from dflashtui.ops.preflight_question import Question
    from dflashtui.ops.survey import Survey

Level = Literal["fatal", "warning", "note", "unknown"]
CHECK = "imports"
NOT_STARTED = ("exit 126", "exit 127", "failed to execute", "command not found")
"""What is said of a program that cannot be started: by shells, runuser, sudo."""
MOST_LISTED = 60
STRANGER = "nobody but the import itself names it: is this really the package that is meant?"
WHERE = {"conditional": "under a condition that only a run decides", "late": "inside a function"}


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Findings worst first. Raises `TransportLost`."""
    where, program = where_of(question), program_of(question)
    if where is None or program is None:
        return (
            unknown(question, CHECK, "the unit's command names no Python program whose imports could be looked at"),
        )
    order = {**sweep_order(program, where, question.unit.engine), "keeps": question.keeps}
    tasks = {TASK: order, "machine": {}, "distributions": {}}
    found = await survey(
        question.transport, replace(where, flags=program.flags), tasks, limit_seconds=question.survey_seconds
    )
    if found.problem and not found.of(TASK):
        return (_not_run(question, where.python, found),)
    sweep, here = sweep_of(found), environment_of(found)
    there = await reference_environment(question) if sweep.faults else None
    login = await login_of(question.transport)
    return tuple(_Findings(question, here, there, login).of(sweep))


def _not_run(question: Question, python: str, found: Survey) -> PreflightFinding:
    """The interpreter itself does not start, or ends at once."""
    problem = found.problem or ""
    is_gone = any(words in problem for words in NOT_STARTED)
    return PreflightFinding(
        id=f"{CHECK}:interpreter",
        level="fatal" if is_gone else "unknown",
        check=CHECK,
        host=question.host.name,
        unit=question.unit.name,
        message=f"{python} cannot be started as the unit would start it" if is_gone else f"{python} told no imports",
        evidence=(problem,),
        remedy="make the environment anew, or name another interpreter" if is_gone else None,
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """One fault, and what would meet it."""

    fault: ImportFault
    want: Want | None

    @property
    def level(self) -> Level:
        """A late import of what an installed package asks for is no accident."""
        if self.fault.status == "certain":
            return "fatal"
        return "warning" if self.want and self.want.is_asked_for else "note"


class _Findings:
    """Says what a sweep found."""

    def __init__(self, question: Question, here: Environment, there: Environment | None, login: str) -> None:
        self._question = question
        self._interpreter = here.interpreter
        self._login = login
        self._wants = Wants(here, there)

    def of(self, sweep: ImportSweep) -> Iterator[PreflightFinding]:
        """Worst first."""
        judged = [_Judged(fault, self._wants.of(fault)) for fault in sweep.faults]
        if sweep.no_entry:
            yield self._finding("entry", "fatal" if sweep.is_entry_missing else "unknown", sweep.no_entry)
        yield from self._single([one for one in judged if one.level == "fatal"], "fatal")
        yield from self._single([one for one in judged if one.level == "warning"], "warning")
        for shadow in sweep.shadows:
            yield self._shadow(shadow.module, shadow.folder)
        if sweep.shortfall:
            message = f"not all imports were looked at: {sweep.shortfall} after {sweep.files} files"
            yield self._finding("partial", "unknown", message)
        for status in ("conditional", "late"):
            yield from self._listed(status, [one.fault for one in judged if one.level == "note"])

    def _single(self, judged: Sequence[_Judged], level: Level) -> Iterator[PreflightFinding]:
        """One finding each, all with the one command that meets all of that level."""
        command = self._command([one.want for one in judged if one.want])
        for one in judged:
            fault, want = one.fault, one.want
            aside = "" if fault.status == "certain" else f", {WHERE[fault.status]}"
            yield self._finding(
                f"{fault.fault}:{fault.module}{f':{fault.name}' if fault.name else ''}",
                level,
                f"{fault.words_of_python}: {_whose(fault)}{aside}",
                evidence=(*_evidence(fault), *(self._facts(want) if want else ())),
                remedy=f"install {want.spec}" if want else _remedy(fault),
                command=command if want and want.is_vouched_for else None,
            )

    def _command(self, wants: Iterable[Want]) -> tuple[str, ...] | None:
        """One command for all."""
        specs = {want.name: want.spec for want in wants if want.is_vouched_for}
        return install_argv(self._interpreter, self._login, tuple(specs.values()))

    def _facts(self, want: Want) -> Iterator[str]:
        yield from want.facts
        if not want.is_vouched_for:
            yield STRANGER
        if blocked := obstacle(self._interpreter, self._login):
            yield blocked

    def _listed(self, status: str, faults: Sequence[ImportFault]) -> Iterator[PreflightFinding]:
        """One finding for all that are of no weight by themselves."""
        those = [fault for fault in faults if fault.status == status]
        if not those:
            return
        lines = [f"{fault.words_of_python}: {_place(fault)}{_way(fault)}" for fault in those[:MOST_LISTED]]
        more = len(those) - len(lines)
        words = "imports cannot be met" if len(those) > 1 else "import cannot be met"
        yield self._finding(
            status, "note", f"{len(those)} {words}, {WHERE[status]}", (*lines, *([f"and {more} more"] if more else ()))
        )

    def _shadow(self, module: str, folder: str) -> PreflightFinding:
        message = f"{folder}/{module}.py stands before the standard library's module {module}"
        remedy = "give it another name: every import of that name gets it, those of other packages too"
        return self._finding(f"shadow:{module}", "warning", message, remedy=remedy)

    def _finding(
        self,
        name: str,
        level: Level,
        message: str,
        evidence: tuple[str, ...] = (),
        remedy: str | None = None,
        command: tuple[str, ...] | None = None,
    ) -> PreflightFinding:
        return PreflightFinding(
            id=f"{CHECK}:{name}",
            level=level,
            check=CHECK,
            host=self._question.host.name,
            unit=self._question.unit.name,
            message=message,
            evidence=evidence,
            remedy=remedy,
            command=command,
        )


def _whose(fault: ImportFault) -> str:
    if fault.fault in {"missing-module", "missing-name"}:
        return f"{fault.by} imports it"
    return f"{fault.module} cannot be imported"


def _place(fault: ImportFault) -> str:
    return f"{fault.file}:{fault.line}" if fault.line else fault.file


def _way(fault: ImportFault) -> str:
    steps = [f"{link.module}:{link.line}" for link in fault.chain]
    return f" (by way of {' → '.join(steps)})" if steps else ""


def _evidence(fault: ImportFault) -> Iterator[str]:
    yield f"{_place(fault)}{_way(fault)}"
    if fault.unreadable:
        yield f"{fault.unreadable} cannot be read by the unit's user"


def _remedy(fault: ImportFault) -> str | None:
    match fault.fault:
        case "syntax":
            return "the file is written for another Python, or damaged: install its package again, or another Python"
        case "unreadable":
            return "let the unit's user read it"
        case "missing-name":
            return f"another version of {fault.owner or fault.top}: the code around it is newer, older, or patched"
        case _:
            return None
