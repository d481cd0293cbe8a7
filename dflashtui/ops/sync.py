"""Carry out a plan that makes one environment's packages like another's: files kept, then installed or copied."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from dflashtui.carrier import pack
from dflashtui.errors import SourceUnavailable
from dflashtui.model.command import HostCommand
from dflashtui.ops.commands import run_command
from dflashtui.ops.environment import read_files
from dflashtui.ops.installing import install_argv
from dflashtui.ops.sync_sides import FILES_SECONDS
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from dflashtui.model.command import CommandResult
    from dflashtui.model.sync import SyncPlan
    from dflashtui.ops.audit import Audit
    from dflashtui.ops.commands import Commanded, Feed
    from dflashtui.ops.sync_sides import Side
    from dflashtui.transport.base import Stream

INSTALL_ID, COPY_ID = "a1", "c0"
"""What follows a plan's name in those of its exchanges."""


def commands(one: SyncPlan, here: Side) -> tuple[HostCommand, ...]:
    """What `apply` runs on the host that changes, a result each, in its order."""
    return (*_installing(one, here), *_copying(one, here))


def undo_commands(exchanges: Iterable[Mapping[str, Any]], here: Side) -> tuple[HostCommand, ...]:
    """What `undo` runs, a result each, in its order."""
    return tuple(_order(here, "undo", list(map(str, exchange["packages"]))) for exchange in exchanges)


def _installing(one: SyncPlan, here: Side) -> tuple[HostCommand, ...]:
    """Keep what is there, install, say that it was done."""
    specs = [step.spec or step.package for step in one.of("install")]
    argv = install_argv(here.environment.interpreter, here.login, specs, ("--no-deps",), here.host.become)
    if argv is None:
        return ()
    install = HostCommand(host=here.host.name, argv=argv, title=f"install {' '.join(specs)}")
    return (_order(here, "keep", specs), install, _order(here, "seal", specs))


def _copying(one: SyncPlan, here: Side) -> tuple[HostCommand, ...]:
    words = [f"{step.package} from {one.source}" for step in one.of("copy")]
    argv = here.carrier("apply", *words)
    return (HostCommand(host=here.host.name, argv=argv, title=f"copy {', '.join(words)}"),) if words else ()


def _order(here: Side, action: str, words: Sequence[str]) -> HostCommand:
    return HostCommand(host=here.host.name, argv=here.carrier(action, *words), title=f"{action} {' '.join(words)}")


async def apply(
    one: SyncPlan,
    there: Side,
    here: Side,
    fleet: Commanded,
    audit: Audit,
    tell: Callable[[str], None],
    *,
    read_only: bool,
) -> AsyncIterator[CommandResult]:
    """Each command's result as it comes; the first that is no success is the last. What is replaced is kept."""
    carried = _Carried(here, fleet, audit, tell, read_only=read_only)
    for command in (carried.install(one), carried.copy(one, there)):
        async for result in command:
            yield result
            if result.ok is not True:
                return


class _Carried:
    """Commands on the host that changes."""

    def __init__(
        self, here: Side, fleet: Commanded, audit: Audit, tell: Callable[[str], None], *, read_only: bool
    ) -> None:
        self._here = here
        self._fleet = fleet
        self._audit = audit
        self._tell = tell
        self._read_only = read_only

    async def install(self, one: SyncPlan) -> AsyncIterator[CommandResult]:
        """Keep what is there, install, and say that it was done."""
        commands = _installing(one, self._here)
        if not commands:
            return
        keep, install, seal = commands
        steps = one.of("install")
        facts = {"id": one.id + INSTALL_ID, "plan": one.id, "packages": [step.package for step in steps]}
        paths = [path for step in steps for path in step.installed]
        kept = await self._ordered(keep, "keep", **facts, paths=paths)
        yield kept
        if kept.ok:
            done = await self._run(install)
            yield done
            if done.ok:
                yield await self._ordered(seal, "seal", **facts)

    async def copy(self, one: SyncPlan, there: Side) -> AsyncIterator[CommandResult]:
        """Send what differs, and exchange it in one go."""
        steps = one.of("copy")
        if not steps:
            return
        (command,) = _copying(one, self._here)
        files = [file for step in steps for file in step.files]
        order = self._here.order(
            "apply",
            id=one.id + COPY_ID,
            plan=one.id,
            packages=[step.package for step in steps],
            files=[[file.path, file.sha256, file.size, file.mode] for file in files],
            remove=[path for step in steps for path in step.remove],
            their_python=there.environment.interpreter.executable,
            python=self._here.environment.interpreter.executable,
        )
        wanted = _Wanted(self._tell)

        async def feed(running: Stream) -> None:
            await running.write(pack.payload(order))
            numbers = await wanted.ready()
            sent = there.order("send", files=[[files[number].path, files[number].size] for number in numbers])
            await _pour(there, sent, running)
            await running.write_eof()

        yield await self._run(command, wanted.hear, feed)

    async def put_back(self, exchange: Mapping[str, Any], now: Sequence[str]) -> CommandResult:
        """`now`: the files that the packages have there now."""
        (command,) = undo_commands((exchange,), self._here)
        return await self._ordered(command, "undo", id=exchange["id"], plan=exchange["plan"], now=now)

    async def _ordered(self, command: HostCommand, action: str, **more: object) -> CommandResult:
        """One order to the carrier that needs nothing but its answer."""
        sent = pack.payload(self._here.order(action, **more))

        async def feed(running: Stream) -> None:
            await running.write(sent)
            await running.write_eof()

        return await self._run(command, _Wanted(self._tell).hear, feed)

    async def _run(
        self, command: HostCommand, tell: Callable[[str], None] | None = None, feed: Feed | None = None
    ) -> CommandResult:
        return await run_command(
            command, self._fleet, self._audit, tell or self._tell, read_only=self._read_only, feed=feed
        )


class _Wanted:
    """What the taking side says: which files it lacks, what arrived, why it refuses."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._numbers: list[int] = []
        self._is_ready = asyncio.Event()
        self.exchanges: list[dict[str, Any]] = []

    async def ready(self) -> Sequence[int]:
        """The positions of the files that it lacks, once it has said all."""
        await self._is_ready.wait()
        return self._numbers

    def hear(self, line: str) -> None:
        """One line of it; what is for people goes on to them."""
        try:
            fact = json.loads(line)
        except (ValueError, RecursionError):
            fact = None
        if not isinstance(fact, dict):
            self._tell(line)
        elif "wants" in fact:
            self._numbers.append(int(fact["wants"]))
        elif "ready" in fact:
            self._tell(f"{fact['ready']} files have to go over, {fact['bytes']} bytes")
            self._is_ready.set()
        elif "exchange" in fact:
            self.exchanges.append(fact["exchange"])
        elif words := _words(fact):
            self._tell(words)


def _words(fact: dict[str, Any]) -> str:
    if "arrived" in fact:
        return f"arrived: {fact['arrived']}"
    if "refused" in fact:
        return f"refused: {fact['refused']}"
    if "mended" in fact:
        return f"an exchange that was cut before was put back: {fact['mended']}"
    done = fact.get("done") or {}
    return f"{done['state']}: {done['placed']} files placed, {done['kept']} kept" if "state" in done else ""


async def _pour(there: Side, order: dict[str, object], into: Stream) -> None:
    """The files' bytes from one host to the other. Raises `SourceUnavailable` if the giving side ends early."""
    async with there.transport.stream(there.carrier("send")) as giving:
        await giving.write(pack.payload(order))
        await giving.write_eof()
        async for chunk in giving:
            await into.write(chunk)
        if giving.exit_status != 0:
            said = printable(decoded(giving.stderr).strip().rpartition("\n")[2], limit=300)
            raise SourceUnavailable(there.host.name, "files", said or f"exit {giving.exit_status}")


async def last_exchanges(here: Side) -> list[dict[str, Any]]:
    """The exchanges of the newest plan that can be put back, the newest first. Raises `SourceUnavailable`."""
    heard: list[str] = []
    wanted = _Wanted(heard.append)
    done = await here.transport.run(here.carrier("last"), stdin=pack.payload(here.order("last")))
    for line in decoded(done.stdout).splitlines():
        wanted.hear(line)
    if not wanted.exchanges:
        said = heard[-1] if heard else decoded(done.stderr).strip().rpartition("\n")[2]
        raise SourceUnavailable(here.host.name, "sync", printable(said.removeprefix("refused: ") or "no answer"))
    return wanted.exchanges


async def undo(
    exchanges: Iterable[dict[str, Any]],
    here: Side,
    fleet: Commanded,
    audit: Audit,
    tell: Callable[[str], None],
    *,
    read_only: bool,
) -> AsyncIterator[CommandResult]:
    """Put them back, one after the other; the first that is no success is the last."""
    carried = _Carried(here, fleet, audit, tell, read_only=read_only)
    for exchange in exchanges:
        packages = [str(package) for package in exchange["packages"]]
        files, _ = await read_files(here.transport, here.where, packages, limit_seconds=FILES_SECONDS)
        now = [file.file for file in files if file.is_listed]
        result = await carried.put_back(exchange, now)
        yield result
        if result.ok is not True:
            return
