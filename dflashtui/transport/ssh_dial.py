"""From a route to the first byte of an answer: name, TCP or proxy command, greeting."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from dflashtui.errors import Unreachable
from dflashtui.text import decoded, printable
from dflashtui.transport.aside import aside
from dflashtui.transport.ssh_errors import CONNECT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from dflashtui.transport.ssh_config import Route
    from dflashtui.transport.ssh_errors import Attempt

NEXT_ADDRESS_SECONDS = 0.25
"""RFC 8305: how long one address may take before the next is tried beside it."""
PROXY_ENDING_SECONDS = 0.3
LONGEST_LAST_WORDS_BYTES = 2000

Address = tuple[socket.AddressFamily, tuple[str | int | bytes, ...]]


async def dial(
    route: Route, attempt: Attempt, report_step: Callable[[str], None], stack: AsyncExitStack
) -> socket.socket:
    """A socket whose other end has begun to speak. Raises what `connecting` of ssh_errors.py understands.

    `stack` holds what must live as long as the connection: the process of a proxy command.
    """
    async with asyncio.timeout(CONNECT_SECONDS) as limit:
        if route.proxy_command is not None:
            report_step("proxy command")
            return await stack.enter_async_context(_proxied(route.proxy_command, attempt, limit))
        report_step("name")
        addresses = await _resolved(route.address, route.port, route.options.family)
        report_step("connect")
        sock = await _first_connected(addresses, route.options.local_addr)
        try:
            report_step("greeting")
            await _greeted(sock, attempt, limit)
        except BaseException:
            sock.close()
            raise
        return sock


async def _resolved(host: str, port: int, family: int) -> list[Address]:
    """Addresses of a name, numeric ones without asking anybody."""
    hints = {"family": family, "type": socket.SOCK_STREAM}
    try:
        found = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST, **hints)
    except socket.gaierror:
        found = await aside(lambda: socket.getaddrinfo(host, port, **hints))
    return [(entry[0], entry[4]) for entry in found]


async def _first_connected(addresses: Sequence[Address], local: tuple[str, int] | None) -> socket.socket:
    """The first that answers. Raises the `OSError` of the last that failed."""
    tasks: list[asyncio.Task[socket.socket]] = []
    winner: asyncio.Task[socket.socket] | None = None
    try:
        for address in addresses:
            tasks.append(asyncio.create_task(_connected(*address, local)))
            is_last = len(tasks) == len(addresses)
            if winner := await _winner(tasks, None if is_last else NEXT_ADDRESS_SECONDS):
                return winner.result()
        return tasks[-1].result()
    finally:
        await _abandoned([task for task in tasks if task is not winner])


async def _winner(
    tasks: Sequence[asyncio.Task[socket.socket]], patience_seconds: float | None
) -> asyncio.Task[socket.socket] | None:
    """A task that succeeded; `None` when all failed or patience ended."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_seconds):
            pending = set(tasks)
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if task.exception() is None:
                        return task
    return None


async def _abandoned(tasks: Sequence[asyncio.Task[socket.socket]]) -> None:
    for task in tasks:
        task.cancel()
    for answer in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(answer, socket.socket):
            answer.close()


async def _connected(
    family: socket.AddressFamily, address: tuple[str | int | bytes, ...], local: tuple[str, int] | None
) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)  # noqa: FBT003 - the library's signature
        if local is not None:
            sock.bind(local)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


async def _greeted(sock: socket.socket, attempt: Attempt, limit: asyncio.Timeout) -> None:
    """Wait for the first byte without taking it: one that accepts and says nothing is told apart from a dead one."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(sock, readable.set)
    try:
        await readable.wait()
    except asyncio.CancelledError:
        if limit.expired():
            silence = f"accepts connections but gives no SSH answer within {CONNECT_SECONDS:.0f} s"
            raise Unreachable(attempt.host, attempt.reason(silence)) from None
        raise
    finally:
        loop.remove_reader(sock)
    if not sock.recv(1, socket.MSG_PEEK):
        raise ConnectionResetError


@asynccontextmanager
async def _proxied(command: str, attempt: Attempt, limit: asyncio.Timeout) -> AsyncIterator[socket.socket]:
    """Our end of a socket pair whose other end is stdin and stdout of a `ProxyCommand`, run as ssh(1) does."""
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as stderr:
        with theirs:
            ours.setblocking(False)  # noqa: FBT003 - the library's signature
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                f"exec {command}",
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=stderr,
                start_new_session=True,
            )
        try:
            await _proxy_greeted(ours, attempt, limit, stderr)
            yield ours
        finally:
            await _ended(process)


async def _proxy_greeted(sock: socket.socket, attempt: Attempt, limit: asyncio.Timeout, stderr: BinaryIO) -> None:
    try:
        await _greeted(sock, attempt, limit)
    except ConnectionError as ended:
        stderr.seek(0)
        said = decoded(stderr.read(LONGEST_LAST_WORDS_BYTES)).split("\n")
        words = next((printable(line) for line in reversed(said) if line.strip()), "it ended without a word")
        raise Unreachable(attempt.host, attempt.reason(f"is not reached by ProxyCommand: {words}")) from ended


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End a proxy command with all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(PROXY_ENDING_SECONDS):
                    await process.wait()
