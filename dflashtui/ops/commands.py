"""Commands on a host that are no verbs on units: refused below the screen, streamed, each with its audit line."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import ActionRefused, DflashError
from dflashtui.mask import masked
from dflashtui.model.command import CommandResult
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.model.command import HostCommand
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.audit import Audit
    from dflashtui.transport.base import Stream

    Feed = Callable[[Stream], Coroutine[None, None, None]]

BOTH_OUTPUTS = 'exec "$@" 2>&1'
"""A constant program of sh(1), so that errors stand where they were written; the command is its arguments."""
LINE_BYTES = 64 * 1024
CANCELLED = "cancelled"
REFUSED = "refused"


class Commanded(Protocol):
    """What is needed of a fleet."""

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""

    def command(self, host: str, argv: Sequence[str]) -> AbstractAsyncContextManager[Stream]:
        """See `Fleet`."""


async def run_command(
    command: HostCommand,
    fleet: Commanded,
    audit: Audit,
    tell: Callable[[str], None],
    *,
    read_only: bool,
    feed: Feed | None = None,
) -> CommandResult:
    """Run it to its end. `tell` gets each line of its output, secrets masked, not yet `printable()`.

    `feed` writes what the command reads, and may raise a `DflashError`; without it there is nothing to read.
    Refusals and a lost link are results, not exceptions. Cancelling ends the command, which is recorded as unknown.
    """
    at, began = datetime.now(UTC), monotonic()
    try:
        _check(command, fleet, audit, read_only=read_only)
    except ActionRefused as refused:
        return _result(command, at, began, ok=False, result=REFUSED, message=str(refused))
    try:
        status = await _run(command, fleet, tell, feed or _nothing)
    except asyncio.CancelledError:
        words = f"{command.host}: {command.command}: no longer waited for; ended there, perhaps half done"
        audit.record_command(_result(command, at, began, ok=None, result=CANCELLED, message=words))
        raise
    except DflashError as failure:
        return _recorded(audit, _result(command, at, began, ok=None, result="unknown", message=str(failure)))
    return _recorded(audit, _ended(command, at, began, status))


def _check(command: HostCommand, fleet: Commanded, audit: Audit, *, read_only: bool) -> None:
    if read_only:
        raise ActionRefused(f"{command.host}: {command.command}: refused: this console is read-only")
    try:
        snapshot = fleet.snapshot(command.host)
    except KeyError:
        raise ActionRefused(f"{command.host}: no such host in the inventory") from None
    if snapshot.read_only:
        raise ActionRefused(f"{command.host}: {command.command}: refused: group {snapshot.group} is read-only")
    audit.require()


async def _run(command: HostCommand, fleet: Commanded, tell: Callable[[str], None], feed: Feed) -> int | None:
    async with fleet.command(command.host, ("sh", "-c", BOTH_OUTPUTS, "sh", *command.argv)) as running:
        try:
            async with asyncio.TaskGroup() as group:
                feeding = group.create_task(feed(running))
                async for line in _lines(running):
                    tell(masked(line))
                feeding.cancel()  # what has ended reads no more
        except* DflashError as failures:
            raise failures.exceptions[0] from None
        return running.exit_status


async def _nothing(running: Stream) -> None:
    await running.write_eof()


async def _lines(running: Stream) -> AsyncIterator[str]:
    """Lines as they end, the last one even without a newline; a longer one comes in pieces."""
    kept = b""
    async for chunk in running:
        *whole, kept = (kept + chunk).split(b"\n")
        for line in whole:
            yield decoded(line)
        if len(kept) > LINE_BYTES:
            yield decoded(kept)
            kept = b""
    if kept:
        yield decoded(kept)


def _ended(command: HostCommand, at: datetime, began: float, status: int | None) -> CommandResult:
    if status is None:
        words = f"{command.host}: {command.command}: the link was lost while it ran; look at the host"
        return _result(command, at, began, ok=None, result="unknown", message=words)
    result = "done" if status == 0 else f"exit {status}"
    words = f"{command.host}: {command.command}: {result}"
    done = _result(command, at, began, ok=status == 0, result=result, message=words)
    return done.model_copy(update={"exit_status": status})


def _result(
    command: HostCommand, at: datetime, began: float, *, ok: bool | None, result: str, message: str
) -> CommandResult:
    return CommandResult(
        command=command,
        ok=ok,
        result=result,
        message=message,
        started_at=at,
        duration_seconds=monotonic() - began,
    )


def _recorded(audit: Audit, result: CommandResult) -> CommandResult:
    """The result; trouble with the audit file is said loudly in its message."""
    trouble = audit.record_command(result)
    if trouble is None:
        return result
    return result.model_copy(update={"message": f"NOT AUDITED ({trouble}) · {result.message}"})
