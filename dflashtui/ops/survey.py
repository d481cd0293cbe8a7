"""Ship the survey to a host, run it with a unit's interpreter, and take what it found, partial results too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dflashtui.model.base import Value
from dflashtui.survey import pack
from dflashtui.text import decoded, printable
from dflashtui.transport.base import lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.transport.base import Stream, Transport

LIMIT_SECONDS = 30.0
GRACE_SECONDS = 5.0
"""For the way there and back, and for an interpreter that is slow to start."""
NOT_RUN = "the survey ended before it came to this"


@dataclass(frozen=True, slots=True)
class Where:
    """One unit's environment, as its unit file gives it."""

    python: str
    """The interpreter's absolute path."""
    flags: tuple[str, ...] = ()
    """The unit's own for its interpreter: `-s`, `-I`, …"""
    user: str | None = None
    """`None`: the login itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str | None = None
    become: str = "none"
    """`sudo`: how the login takes on another user, see `Host.become`."""


class Survey(Value):
    """What came back, task by task."""

    host: str
    facts: Mapping[str, tuple[Mapping[str, Any], ...]] = {}
    """By task, in the order of their finding. `place`: what was wrong with folder or user; the program still ran."""
    ends: Mapping[str, str] = {}
    """By task: `whole`, `partial` (the time ran out), or why it failed."""
    problem: str | None = None
    """Why nothing, or no more, came."""

    def of(self, task: str) -> tuple[Mapping[str, Any], ...]:
        """The facts of one task."""
        return self.facts.get(task, ())

    def shortfall(self, task: str) -> str | None:
        """Why the facts of a task are not all; `None`: they are."""
        end = self.ends.get(task)
        if end == "whole":
            return None
        return "its time ran out" if end == "partial" else end or self.problem or NOT_RUN


async def survey(
    transport: Transport,
    where: Where,
    tasks: Mapping[str, Mapping[str, object]],
    *,
    limit_seconds: float = LIMIT_SECONDS,
    grace_seconds: float = GRACE_SECONDS,
) -> Survey:
    """Run `tasks` (see `survey/main.py`), by name with their orders. A host that cannot is a value, not an error.

    `grace_seconds`: how long after the limit its answer is waited for.

    Raises `TransportLost` alone.
    """
    request = {"limit_seconds": limit_seconds, "tasks": {name: dict(order) for name, order in tasks.items()}}
    sent = pack.payload(
        python=where.python,
        flags=where.flags,
        directory=where.directory,
        environment=where.environment,
        request=request,
    )
    took: list[bytes] = []
    problem = None
    try:
        async with asyncio.timeout(limit_seconds + grace_seconds):
            argv = (*await _as_user(transport, where), *pack.argv(where.python))
            problem = await _talk(transport, argv, sent, took)
    except TimeoutError:
        problem = f"{where.python} gave no answer within {limit_seconds + grace_seconds:.0f} s"
    return sorted_out(transport.host, took, problem)


async def _talk(transport: Transport, argv: Sequence[str], sent: bytes, took: list[bytes]) -> str | None:
    """Why the program ended early, if it did."""
    async with transport.stream(argv) as stream, aclosing(lines(stream)) as printed:
        await stream.write(sent)
        await stream.write_eof()
        async for line in printed:
            took.append(line)  # noqa: PERF401 - one by one: what came before the time ran out counts
        return _last_words(stream)


async def _as_user(transport: Transport, where: Where) -> tuple[str, ...]:
    """What takes on the unit's user: nothing of the user's may run as the login."""
    if where.user is None:
        return ()
    login = decoded((await transport.run(("id", "-un"))).stdout).strip()
    if login == where.user:
        return ()
    if login == "root":
        return ("runuser", "-u", where.user, "--")
    return ("sudo", "-n", "-u", where.user, "--") if where.become == "sudo" else ()


def _last_words(stream: Stream) -> str | None:
    if stream.exit_status == 0:
        return None
    said = printable(decoded(stream.stderr).strip().rpartition("\n")[2], limit=300)
    return f"exit {stream.exit_status}: {said or 'no message'}"


def sorted_out(host: str, took: Sequence[bytes], problem: str | None) -> Survey:
    """The lines of a survey by task; those that are none of its are left out."""
    facts: dict[str, list[Mapping[str, Any]]] = {}
    ends: dict[str, str] = {}
    for line in took:
        fact = _fact(line)
        task = str(fact.pop("task", ""))
        if "end" in fact:
            ends[task] = str(fact.get("error") or fact["end"])
        elif task:
            facts.setdefault(task, []).append(fact)
    return Survey(host=host, facts={task: tuple(all_) for task, all_ in facts.items()}, ends=ends, problem=problem)


def _fact(line: bytes) -> dict[str, Any]:
    """Nothing, for a line that is none of the survey's: a start-up file of the environment may print, too."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
