"""Preflight: every fault of a unit on a host that shows without a start, all checks side by side, in bounded time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError, TransportError
from dflashtui.model.preflight import Preflight, PreflightFinding, worst_first
from dflashtui.ops import (
    preflight_arguments,
    preflight_binaries,
    preflight_disk,
    preflight_gpus,
    preflight_imports,
    preflight_machine,
    preflight_manager,
    preflight_model,
    preflight_port,
    preflight_program_file,
    preflight_requirements,
    preflight_unit,
)
from dflashtui.ops.preflight_asked import NoUnitError, asked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from dflashtui.config.model import Config, Host
    from dflashtui.ops.preflight_question import Question
    from dflashtui.transport.base import Transport

    Check = Callable[[Question], Awaitable[Sequence[PreflightFinding]]]

LOG = logging.getLogger(__name__)
LIMIT_SECONDS = 30.0
TALK_SECONDS = 3.0
"""What a program on the host found within its time has to reach us within ours."""
CHECKS: tuple[Check, ...] = (
    preflight_program_file.check,
    preflight_unit.check,
    preflight_manager.check,
    preflight_model.check,
    preflight_gpus.check,
    preflight_port.check,
    preflight_disk.check,
    preflight_machine.check,
    preflight_arguments.check,
    preflight_imports.check,
    preflight_requirements.check,
    preflight_binaries.check,
)
OF_THE_INTERPRETER = frozenset({"imports", "requirements", "binaries", "arguments"})
"""What these cannot look at without a program is told once, by the check of the program."""


async def preflight(
    config: Config,
    unit: str,
    host: Host,
    transport: Transport,
    *,
    limit_seconds: float = LIMIT_SECONDS,
    checks: Sequence[Check] = CHECKS,
    read_only: bool = False,
) -> Preflight:
    """Look for everything; what is not found out in time is `unknown`. Raises `TransportError` if the link ends.

    `read_only`: the host keeps nothing of the look, as in a read-only group.
    """
    began = monotonic()
    ends = began + limit_seconds
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + limit_seconds):
            question = await _asked(config, unit, host, transport)
    except NoUnitError as none:
        found: list[PreflightFinding] = [_of_unit(unit, host, "fatal", str(none))]
    except TimeoutError:
        found = [_of_unit(unit, host, "unknown", f"{host.name} gave no answer within {limit_seconds:g} s")]
    else:
        group = config.group_of(host)
        keeps = not (read_only or (group is not None and group.read_only))
        left = max(1.0, ends - monotonic() - TALK_SECONDS)
        found = await _all(replace(question, survey_seconds=left, keeps=keeps), checks, ends)
    return Preflight(host=host.name, unit=unit, findings=worst_first(tuple(found)), elapsed_seconds=monotonic() - began)


async def _asked(config: Config, unit: str, host: Host, transport: Transport) -> Question:
    try:
        return await asked(config, unit, host, transport)
    except BaseExceptionGroup as group:
        raise _only(group) from group


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one thing that went wrong, out of the task group; the link before all else."""
    flat = [_only(one) if isinstance(one, BaseExceptionGroup) else one for one in group.exceptions]
    return next((one for one in flat if isinstance(one, TransportError)), flat[0])


def _of_unit(unit: str, host: Host, level: str, message: str) -> PreflightFinding:
    return PreflightFinding.model_validate(
        {"id": "unit:text", "level": level, "check": "unit", "host": host.name, "unit": unit, "message": message}
    )


async def _all(question: Question, checks: Sequence[Check], ends: float) -> list[PreflightFinding]:
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_one(question, check, ends)) for check in checks]
    except BaseExceptionGroup as failed:
        raise _only(failed) from failed
    found = [finding for task in tasks for finding in task.result()]
    if any(finding.check == "program" and finding.level == "fatal" for finding in found):
        return [finding for finding in found if not _follows(finding)]
    return found


def _follows(finding: PreflightFinding) -> bool:
    is_unread = finding.level == "unknown" or finding.id.endswith(":interpreter")
    return finding.check in OF_THE_INTERPRETER and is_unread


async def _one(question: Question, check: Check, ends: float) -> Sequence[PreflightFinding]:
    """One check within the time that is left. Its own trouble is its finding; the link's is everybody's."""
    name = check.__module__.rpartition("preflight_")[2].replace("_", " ")
    left = ends - monotonic()
    try:
        async with asyncio.timeout(left):
            return await check(question)
    except TransportError:
        raise
    except TimeoutError:
        return [_unknown(question, name, "its time ran out before it came to an end")]
    except DflashError as trouble:
        return [_unknown(question, name, str(trouble).removeprefix(f"{question.host.name}: "))]
    except Exception:  # a fault in one check hides nothing that the others found
        LOG.exception("%s: %s: preflight: %s", question.host.name, question.unit.name, name)
        return [_unknown(question, name, "failed where it should not have; run again with --verbose")]


def _unknown(question: Question, name: str, message: str) -> PreflightFinding:
    return PreflightFinding(
        id=f"{name.replace(' ', '-')}:unknown",
        level="unknown",
        check=name.partition(" ")[0],
        host=question.host.name,
        unit=question.unit.name,
        message=f"{name}: {message}",
    )
