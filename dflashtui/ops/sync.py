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
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from dflashtui.model.command import CommandResult
    from dflashtui.model.sync import SyncPlan
    from dflashtui.ops.audit import Audit
    from dflashtui.ops.commands import Feed
    from dflashtui.ops.sync_sides import OneHost, Side
    from dflashtui.transport.base import Stream

INSTALL_ID, COPY_ID = "a1", "c0"
"""What follows a plan's name in those of its exchanges."""


async def apply(
    one: SyncPlan,
    there: Side,
    here: Side,
    fleet: OneHost,
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
        self, here: Side, fleet: OneHost, audit: Audit, tell: Callable[[str], None], *, read_only: bool
    ) -> None:
        self._here = here
        self._fleet = fleet
        self._audit = audit
        self._tell = tell
        self._read_only = read_only

    async def install(self, one: SyncPlan) -> AsyncIterator[CommandResult]:
        """Keep what is there, install, and say that it was done."""
        steps = one.of("install")
        specs = [step.spec or step.package for step in steps]
        interpreter = self._here.environment.interpreter
        argv = install_argv(interpreter, self._here.login, specs, ("--no-deps",), self._here.host.become)
        if not steps or argv is None:
            return
        name = one.id + INSTALL_ID
        facts = {"id": name, "plan": one.id, "packages": [step.package for step in steps]}
        paths = [path for step in steps for path in step.installed]
        kept = await self.order("keep", specs, **facts, paths=paths)
        yield kept
        if kept.ok:
            done = await self._run(argv, f"install {' '.join(specs)}")
            yield done
            if done.ok:
                yield await self.order("seal", specs, **facts)

    async def copy(self, one: SyncPlan, there: Side) -> AsyncIterator[CommandResult]:
        """Send what differs, and exchange it in one go."""
        steps = one.of("copy")
        if not steps:
            return
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

        words = [f"{step.package} from {one.source}" for step in steps]
        yield await self._run(self._here.carrier("apply", *words), f"copy {', '.join(words)}", wanted.hear, feed)

    async def order(self, action: str, words: Sequence[str], **more: object) -> CommandResult:
        """One order to the carrier that needs nothing but its answer."""
        sent = pack.payload(self._here.order(action, **more))

        async def feed(running: Stream) -> None:
            await running.write(sent)
            await running.write_eof()

        return await self._run(
            self._here.carrier(action, *words), f"{action} {' '.join(words)}", _Wanted(self._tell).hear, feed
        )

    async def _run(
        self, argv: Sequence[str], title: str, tell: Callable[[str], None] | None = None, feed: Feed | None = None
    ) -> CommandResult:
        command = HostCommand(host=self._here.host.name, argv=tuple(argv), title=title)
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
        except ValueError:
            self._tell(line)
            return
        if "wants" in fact:
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
    fleet: OneHost,
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
        result = await carried.order("undo", packages, id=exchange["id"], plan=exchange["plan"], now=now)
        yield result
        if result.ok is not True:
            return
