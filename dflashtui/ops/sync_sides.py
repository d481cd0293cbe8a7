"""The two sides of a sync: what was read of each, and the plan between them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.carrier import pack
from dflashtui.ops.environment import read_environment, read_files
from dflashtui.ops.installing import as_owner, install_argv, no_right
from dflashtui.ops.preflight_environment import login_of
from dflashtui.ops.sync_plan import copied, identified, plan
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.config.model import Host
    from dflashtui.model.environment import Environment, PackageFile
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.sync import SyncPlan, SyncStep
    from dflashtui.ops.survey import Where
    from dflashtui.transport.base import Stream, Transport

QUIET = ("--quiet", "--no-input", "--disable-pip-version-check")
SHORTLY = ("--retries", "0", "--timeout", "5")
"""An index that cannot be reached is said so within seconds."""
INDEX_SECONDS = 90.0
FILES_SECONDS = 120.0
"""Hashing all of torch takes some seconds."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two hosts, with what was read of it."""

    host: Host
    transport: Transport
    where: Where
    environment: Environment
    files: tuple[PackageFile, ...]
    login: str

    def carrier(self, *words: str) -> tuple[str, ...]:
        """The command that works on this environment's files, as its owner."""
        interpreter = self.environment.interpreter
        owner = as_owner(interpreter, self.login, self.host.become)
        return (*owner, *pack.argv(interpreter.executable, *words))

    def order(self, action: str, **more: object) -> dict[str, object]:
        """What it is told to do."""
        interpreter = self.environment.interpreter
        return {"action": action, "site": interpreter.purelib, "prefix": interpreter.prefix, **more}


class OneHost:
    """A host over a link of its own, in the place of a fleet; see `commands.Commanded`."""

    def __init__(self, transport: Transport, snapshot: HostSnapshot) -> None:
        self._transport = transport
        self._snapshot = snapshot

    def snapshot(self, host: str) -> HostSnapshot:
        """Raises `KeyError` for another host."""
        if host != self._snapshot.name:
            raise KeyError(host)
        return self._snapshot

    @asynccontextmanager
    async def command(self, _host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """See `Fleet`."""
        async with self._transport.stream(argv) as running:
            yield running


async def read_side(host: Host, transport: Transport, where: Where, packages: Sequence[str]) -> Side:
    """Read an environment and the files of packages (normal names). Raises `SourceUnavailable`, `TransportLost`."""
    login, environment, (files, _) = await asyncio.gather(
        login_of(transport),
        read_environment(transport, where, requires=False),
        read_files(transport, where, packages, limit_seconds=FILES_SECONDS),
    )
    return Side(host, transport, where, environment, files, login)


async def planned(there: Side, here: Side, packages: Sequence[str], *, copy: bool) -> SyncPlan:
    """The plan; whether an index has what is to be installed is asked of the tool that would install it."""
    first = plan(there.environment, here.environment, packages, there.files, here.files, copy=copy)
    wishes = first.of("install")
    lacking = await _lacking(here, wishes)
    steps = [_copied_for_want(step, there, here, lacking.get(step.package)) for step in first.steps]
    return identified(first.model_copy(update={"steps": tuple(steps)}))


def _copied_for_want(step: SyncStep, there: Side, here: Side, why: str | None) -> SyncStep:
    if why is None:
        return step
    theirs = [file for file in there.files if file.package == step.package]
    return copied(step, theirs, [file for file in here.files if file.package == step.package], why)


async def _lacking(here: Side, steps: Sequence[SyncStep]) -> dict[str, str]:
    """Packages that cannot be installed, and why: asked for all at once, and one by one where that fails."""
    if not steps or await _refusal(here, steps) is None:
        return {}
    reasons = {step.package: await _refusal(here, (step,)) for step in steps}
    return {package: why for package, why in reasons.items() if why is not None}


async def _refusal(here: Side, steps: Sequence[SyncStep]) -> str | None:
    interpreter = here.environment.interpreter
    options = ("--dry-run", "--no-deps", *((*QUIET, *SHORTLY) if interpreter.has_pip else ()))
    specs = [step.spec or step.package for step in steps]
    argv = install_argv(interpreter, here.login, specs, options, here.host.become)
    if argv is None:
        return "nothing can be installed there by pip or uv"
    try:
        async with asyncio.timeout(INDEX_SECONDS):
            done = await here.transport.run(argv)
    except TimeoutError:
        return "its index gave no answer"
    if done.exit_status == 0:
        return None
    said = decoded(done.stderr).strip().splitlines()
    errors = [line for line in said if line.lower().startswith(("error", "  ×"))] or said[-1:]
    return f"no index there has it: {printable(errors[0] if errors else 'no reason was given', limit=160)}"


def obstacle(here: Side) -> str | None:
    """Why nothing may be exchanged there; `None`: it may."""
    return no_right(here.environment.interpreter, here.login, here.host.become)
