"""The way to a host, over jump hosts where ssh_config says so; jump hosts are shared by all hosts behind them."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import HostKeyRejected, TransportError, TransportMisconfigured, Unreachable
from dflashtui.transport.aside import aside
from dflashtui.transport.ssh_config import Route, hop, route
from dflashtui.transport.ssh_dial import dial
from dflashtui.transport.ssh_errors import Attempt, DroppedEarlyError, connecting
from dflashtui.transport.ssh_login import Login, log_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from dflashtui.config.model import Host
    from dflashtui.transport.gate import HandshakeGate

READING_SECONDS = 10.0
"""For ssh_config and keys: a `Match exec` may hang, a home folder may be on a dead NFS server."""
READINGS_AT_ONCE = 4
RETRIES_SECONDS = (0.3, 0.8, 1.6)
"""Mean waits after sshd dropped us for having too many logins under way (`MaxStartups`)."""
ROUTE_KEPT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Journey:
    """Whom a way is sought for, and over which hops it has led."""

    told: str
    """The host of the inventory that failures are told for."""
    chain: tuple[str, ...]
    report_step: Callable[[str], None]

    @property
    def via(self) -> str:
        """Blames the jump host, if this is the way to one."""
        return "" if len(self.chain) == 1 else f"jump host {self.chain[-1]}: "


class Ways:
    """What all connections of one fleet share: routes read from files, and jump hosts."""

    def __init__(self, gate: HandshakeGate) -> None:
        self._gate = gate
        self._reading = asyncio.Semaphore(READINGS_AT_ONCE)
        self._routes: dict[str, tuple[Host, float, Route]] = {}
        self._jumps: dict[tuple[str, ...], _Jump] = {}

    async def login(self, host: Host, report_step: Callable[[str], None], stack: AsyncExitStack) -> Login:
        """A login on `host`; `stack` takes what must live as long as the connection, and the connection itself."""
        return await self._reached(host, Journey(host.name, (host.name,), report_step), stack, None)

    async def _reached(self, host: Host, journey: Journey, stack: AsyncExitStack, tunnel: Login | None) -> Login:
        way = await self._route(host, journey)
        try:
            if tunnel is None and way.jumps:
                tunnel = await stack.enter_async_context(self._through(way.jumps, journey))
            return await self._insisted(way, journey, stack, tunnel)
        except TransportError:
            self._routes.pop(host.name, None)  # the person may mend the files before the next attempt
            raise

    async def _insisted(self, way: Route, journey: Journey, stack: AsyncExitStack, tunnel: Login | None) -> Login:
        """A login, asked for again a few times where sshd has too many under way."""
        attempt = Attempt(journey.told, way.place, journey.via)
        for wait_seconds in (*RETRIES_SECONDS, None):
            try:
                login = await self._attempt(way, attempt, journey, stack, tunnel)
            except DroppedEarlyError as dropped:
                if wait_seconds is None:
                    reason = "closes the connection before the login (MaxStartups of its sshd, or a filter before it)"
                    raise Unreachable(journey.told, attempt.reason(reason)) from dropped
                await asyncio.sleep(wait_seconds * random.uniform(0.5, 1.5))  # noqa: S311 - spreads load
            else:
                stack.push_async_callback(_closed, login)
                return login
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(
        self, way: Route, attempt: Attempt, journey: Journey, stack: AsyncExitStack, tunnel: Login | None
    ) -> Login:
        async with self._gate.door(way.place):
            with connecting(attempt):
                if tunnel is not None:
                    async with self._gate.turn():
                        journey.report_step("login")
                        return await log_in(way, attempt, tunnel=tunnel)
                sock = await dial(way, attempt, journey.report_step, stack)
                async with self._gate.turn():
                    journey.report_step("login")
                    return await log_in(way, attempt, sock=sock)

    async def _route(self, host: Host, journey: Journey) -> Route:
        """Kept while the files that it was read from stay as they are; those that are included are not watched."""
        kept_for, until, kept = self._routes.get(host.name, (None, 0.0, None))
        fresh = kept if kept_for == host and monotonic() < until else None
        journey.report_step("ssh_config")
        try:
            async with asyncio.timeout(READING_SECONDS), self._reading:
                read = await aside(lambda: fresh if fresh and fresh.is_current() else route(host))
        except TimeoutError as late:
            reason = f"reading ssh_config and keys takes over {READING_SECONDS:.0f} s: does a `Match exec` hang?"
            raise TransportMisconfigured(journey.told, journey.via + reason) from late
        except TransportMisconfigured as wrong:
            raise TransportMisconfigured(journey.told, journey.via + wrong.reason) from wrong
        self._routes[host.name] = host, monotonic() + ROUTE_KEPT_SECONDS, read
        return read

    @asynccontextmanager
    async def _through(self, hops: tuple[str, ...], journey: Journey) -> AsyncIterator[Login]:
        """The last of the jump hosts, one connection to each for all that pass it at the time."""
        last = hop(hops[-1]).name
        if last in journey.chain:
            circle = " → ".join((*journey.chain, last))
            raise TransportMisconfigured(journey.told, f"ProxyJump leads in a circle: {circle}")
        jump = self._jumps.get(hops)
        if jump is None or jump.is_lost:
            jump = self._jumps[hops] = _Jump()
        async with jump.used(lambda stack: self._jumped(hops, journey, stack), journey.told) as login:
            yield login

    async def _jumped(self, hops: tuple[str, ...], journey: Journey, stack: AsyncExitStack) -> Login:
        *before, last = hops
        host = hop(last)
        onward = Journey(journey.told, (*journey.chain, host.name), journey.report_step)
        onward.report_step(f"jump host {host.name}")
        tunnel = await stack.enter_async_context(self._through(tuple(before), journey)) if before else None
        return await self._reached(host, onward, stack, tunnel)


class _Jump:
    """One jump host, connected while somebody passes it."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._users = 0
        self._stack = AsyncExitStack()
        self._login: Login | None = None
        self._failure: TransportError | None = None
        self._failed_at = 0.0

    @property
    def is_lost(self) -> bool:
        """It was connected, and is no more."""
        return self._login is not None and self._login.connection.is_closed()

    @asynccontextmanager
    async def used(self, connect: Callable[[AsyncExitStack], Awaitable[Login]], told: str) -> AsyncIterator[Login]:
        login = await self._entered(connect, told)
        try:
            yield login
        finally:
            await self._left()

    async def _entered(self, connect: Callable[[AsyncExitStack], Awaitable[Login]], told: str) -> Login:
        asked_at = monotonic()
        async with self._lock:
            if self._failure is not None and self._failed_at > asked_at:
                raise _told_for(self._failure, told)
            if self._login is None:
                self._login = await self._connected(connect)
            self._users += 1
            return self._login

    async def _connected(self, connect: Callable[[AsyncExitStack], Awaitable[Login]]) -> Login:
        try:
            async with AsyncExitStack() as stack:
                login = await connect(stack)
                self._stack = stack.pop_all()
                return login
        except TransportError as failure:
            self._failure, self._failed_at = failure, monotonic()
            raise

    async def _left(self) -> None:
        self._users -= 1
        if self._users == 0:
            self._login = None
            await self._stack.aclose()


def _told_for(failure: TransportError, host: str) -> TransportError:
    """The same failure for another host that waited for the same jump host."""
    if isinstance(failure, HostKeyRejected):
        return HostKeyRejected(
            host, failure.reason, kind=failure.kind, fingerprints=failure.fingerprints, line=failure.line
        )
    return type(failure)(host, failure.reason)


async def _closed(login: Login) -> None:
    login.connection.close()
    await login.connection.wait_closed()


def ways(gate: HandshakeGate) -> Ways:
    """The shared part that belongs to a gate."""
    if not isinstance(gate.shared, Ways):
        gate.shared = Ways(gate)
    return gate.shared
