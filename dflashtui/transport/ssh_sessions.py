"""All session channels of one connection. How many there may be is learned when the host refuses one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

import asyncssh

from dflashtui.errors import DflashError, SourceUnavailable, TransportLost
from dflashtui.transport import ssh_session
from dflashtui.transport.ssh_command import StartMark
from dflashtui.transport.ssh_errors import connected, said
from dflashtui.transport.ssh_session import Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.transport.ssh_login import Login
    from dflashtui.transport.ssh_openings import Openings

SHORT_COMMANDS = 4
STREAMS = 4
"""Together below sshd's default of `MaxSessions 10`."""
LINGERING_SECONDS = 10.0
"""A closed channel keeps its slot until the process behind it ends."""
WAITS_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Before asking again after a refusal."""
NO_PROCESS = (
    "sshd grants one, but starts no command on it: the host cannot start processes for this user"
    " (ulimit -u, TasksMax, memory), or its sshd forbids commands"
)
GRACE_SECONDS = 0.1
"""For commands that end by themselves when their stdin closes, or at sshd's signal."""
KILLING_SECONDS = 5.0
LEAVING_SECONDS = 0.5
"""How long leaving a command may hold up the caller."""
KILL = """
target=-$1
kill -s TERM -- "$target" 2>/dev/null || { target=$1; kill -s TERM "$target" || exit; }
{
  for _ in 1 2 3 4 5; do sleep 0.2; kill -s 0 -- "$target" || exit; done
  kill -s KILL -- "$target"
} >/dev/null 2>&1 </dev/null &
"""
"""Ends a process with its session, of which sshd makes it the leader. sshd passes no signals on for root."""


class Sessions:
    """Opens commands, counts them, and leaves none behind on the host."""

    def __init__(self, host: str, login: Login, openings: Openings) -> None:
        self._host = host
        self._login = login
        self._openings = openings
        self._mark = StartMark()
        self._turn = asyncio.Semaphore(SHORT_COMMANDS)
        self._claims: dict[Session, None] = {}
        """Those that have a channel, or ask for one, oldest first."""
        self._lingering: list[float] = []
        self._limit: int | None = None
        self._freed = asyncio.Event()
        self._killing = asyncio.Lock()

    def __len__(self) -> int:
        return sum(session.is_granted for session in self._claims)

    @asynccontextmanager
    async def short(self, argv: Sequence[str]) -> AsyncIterator[Session]:
        """A command that ends soon. Waits for its turn; followed commands give way if the host allows no more."""
        async with self._turn, self._running(self._session(argv, is_followed=False)) as session:
            yield session

    @asynccontextmanager
    async def followed(self, argv: Sequence[str]) -> AsyncIterator[Session]:
        """A command that runs on. Raises `SourceUnavailable` if no more of them may."""
        async with self._running(self._session(argv, is_followed=True)) as session:
            yield session

    def _session(self, argv: Sequence[str], *, is_followed: bool) -> Session:
        return Session(self._host, argv, self._mark, self._released, self._login.words, is_followed=is_followed)

    def _released(self, session: Session) -> None:
        """Its channel is closed, or was never granted."""
        if session.is_granted and session.exit_status is None:
            self._lingering.append(monotonic())
        self._claims.pop(session, None)
        self._freed.set()

    @asynccontextmanager
    async def _running(self, session: Session) -> AsyncIterator[Session]:
        await self._open(session)
        limit = asyncio.get_running_loop().call_later(ssh_session.BEGIN_SECONDS, session.require_begun)
        try:
            yield session
        finally:
            limit.cancel()
            await self._end(session)

    async def _open(self, session: Session) -> None:
        """Ask the host for a channel. A refusal is answered by waiting, a lasting one by giving up."""
        for wait_seconds in (*WAITS_SECONDS, None):
            await self._room(session)
            try:
                await self._ask(session)
            except asyncssh.ChannelOpenError as refused:
                self._learn(refused)
                if wait_seconds is None or session.is_granted:
                    reason = NO_PROCESS if session.is_granted else f"sshd allows none: {said(refused)}"
                    raise SourceUnavailable(self._host, "session", reason) from refused
                await asyncio.sleep(wait_seconds)
            else:
                return

    async def _room(self, session: Session) -> None:
        """Wait until, by what is known, one more may be opened, and claim it."""
        while self._is_full(session):
            self._make_way()
            self._freed.clear()
            await self._freed.wait()
        self._claims[session] = None

    def _is_full(self, session: Session) -> bool:
        if session.is_followed:
            self._check_streams()
        return len(self._claims) >= (self._limit or SHORT_COMMANDS + STREAMS)

    def _check_streams(self) -> None:
        """One session stays free for short commands."""
        most = STREAMS if self._limit is None else min(STREAMS, self._limit - 1)
        if len(self._streams()) >= most:
            reason = (
                f"sshd allows {self._limit} at once (MaxSessions): {most} may be followed, the rest is for commands"
                if self._limit is not None
                else f"{most} commands are followed already"
            )
            raise SourceUnavailable(self._host, "session", reason)

    def _streams(self) -> list[Session]:
        return [session for session in self._claims if session.is_followed]

    def _make_way(self) -> None:
        """A command that is followed ends if it and its like leave nothing for short ones."""
        streams = self._streams()
        if streams and len(streams) == len(self._claims):
            reason = f"sshd allows {self._limit} session(s) at once (MaxSessions), and a command needed it"
            streams[-1].hang_up(SourceUnavailable(self._host, "session", reason))

    def _learn(self, refused: asyncssh.ChannelOpenError) -> None:
        """As many as are open, or closed but perhaps not ended, is what the host allows."""
        if self._login.connection.is_closed():
            raise TransportLost(self._host, self._login.lost_reason()) from refused
        now = monotonic()
        self._lingering = [closed_at for closed_at in self._lingering if now - closed_at < LINGERING_SECONDS]
        self._limit = max(1, len(self) + len(self._lingering))

    async def _ask(self, session: Session) -> None:
        """One request for a channel and a command on it. Raises `asyncssh.ChannelOpenError` or `TransportLost`.

        If the link ends after the channel was granted, the command may have begun: the session tells so.
        """
        opening = self._login.connection.create_session(
            lambda: session, session.command, request_pty=False, encoding=None
        )
        try:
            await self._openings.result(opening, lambda _: self._unwanted(session))
        except (asyncssh.Error, OSError) as failure:
            if session.is_granted and self._login.connection.is_closed():
                await session.over()
                return
            self._released(session)
            if isinstance(failure, asyncssh.ChannelOpenError):
                raise
            with connected(self._host, self._login.lost_reason):
                raise

    async def _unwanted(self, session: Session) -> None:
        """Its opening was given up; now that it is open, or refused, it goes."""
        if session.is_granted:
            await self._end(session)
        else:
            self._released(session)

    async def _end(self, session: Session) -> None:
        """Leave nothing of it on the host; on a slow link that goes on while the caller does."""
        session.discard()
        if not session.is_over:
            await self._openings.at_most(LEAVING_SECONDS, self._ending(session))

    async def _ending(self, session: Session) -> None:
        session.terminate()
        session.send_eof()
        try:
            if not await session.ended_within(GRACE_SECONDS):
                await self._kill(session)
        finally:
            session.hang_up()
        await session.closed_within(GRACE_SECONDS)

    async def _kill(self, session: Session) -> None:
        """By a command of its own; where no channel is left for one, closing the pipes has to do."""
        with suppress(DflashError, TimeoutError, asyncssh.ChannelOpenError):
            async with asyncio.timeout(KILLING_SECONDS):
                await session.begun()
                if session.process_id is None:
                    return
                async with self._killing:
                    await self._run_killer(session.process_id)
                await session.over()

    async def _run_killer(self, process_id: str) -> None:
        killer = self._session(("/bin/sh", "-c", KILL, "sh", process_id), is_followed=False)
        self._claims[killer] = None
        try:
            await self._ask(killer)
            killer.send_eof()
            await killer.over()
        finally:
            killer.hang_up()
