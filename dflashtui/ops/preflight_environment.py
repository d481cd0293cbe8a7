"""What the checks of an environment have in common: reading it as the unit sees it, and saying what was found."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import SourceUnavailable
from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.environment import read_environment
from dflashtui.ops.installing import install_argv, uninstall_argv
from dflashtui.ops.preflight_program import program_of
from dflashtui.ops.survey import Where
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.environment import Environment
    from dflashtui.model.misfit import Misfit
    from dflashtui.ops.preflight_question import Question
    from dflashtui.transport.base import Transport

LOGIN_SECONDS = 10.0


def where_of(question: Question) -> Where | None:
    """The unit's interpreter with all that changes what it sees; `None`: the unit runs no Python that is known."""
    if question.interpreter is None:
        return None
    program = program_of(question)
    return Where(
        python=question.interpreter,
        flags=program.flags if program else (),
        user=question.user,
        environment=question.environment,
        directory=question.working_directory,
        become=question.host.become,
    )


async def environment_for(
    question: Question, check: str, *, binaries: Sequence[str] | None
) -> Environment | PreflightFinding:
    """The environment; else the finding that says why it cannot be judged. Raises `TransportLost`."""
    where = where_of(question)
    if where is None:
        return unknown(question, check, "no interpreter is known: the unit's command names no Python")
    try:
        limit = question.survey_seconds
        return await read_environment(question.transport, where, binaries=binaries, limit_seconds=limit)
    except SourceUnavailable as trouble:
        return unknown(question, check, f"{where.python} cannot be asked: {trouble.reason}")


def unknown(question: Question, check: str, message: str) -> PreflightFinding:
    """Something that could not be judged."""
    host, unit = question.host.name, question.unit.name
    return PreflightFinding(
        id=f"{check}:unknown:{message[:60]}", level="unknown", check=check, host=host, unit=unit, message=message
    )


async def findings(
    question: Question, check: str, environment: Environment, misfits: Iterable[Misfit]
) -> tuple[PreflightFinding, ...]:
    """Misfits as findings, each with the command that cures it on this host, and what could not be read."""
    login = await login_of(question.transport)
    found = [_finding(question, check, environment, misfit, login) for misfit in misfits]
    return (*found, *(unknown(question, check, f"not all was read: {why}") for why in environment.shortfalls))


def _finding(question: Question, check: str, environment: Environment, misfit: Misfit, login: str) -> PreflightFinding:
    interpreter = environment.interpreter
    command = install_argv(interpreter, login, misfit.install) or uninstall_argv(interpreter, login, misfit.uninstall)
    return PreflightFinding(
        id=f"{check}:{misfit.id}",
        level=misfit.level,
        check=check,
        host=question.host.name,
        unit=question.unit.name,
        message=misfit.message,
        evidence=misfit.evidence,
        remedy=misfit.remedy,
        command=command,
    )


async def login_of(transport: Transport) -> str:
    """The user that commands run as; empty: it could not be asked. Raises `TransportLost`."""
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            return decoded((await transport.run(("id", "-un"))).stdout).strip()
    except TimeoutError:
        return ""
