"""The talk with the shipped pusher."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from dflashtui.errors import ActionDenied, DecodeError, PushRefused, SourceUnavailable, TransportError, TransportLost
from dflashtui.pusher import pack
from dflashtui.source import pusher_values
from dflashtui.text import decoded, printable
from dflashtui.transport.base import lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.model.push import PushRecord, UnitLook, Verification
    from dflashtui.transport.base import Stream

    Start = Callable[[Sequence[str]], AbstractAsyncContextManager[Stream]]

FORMAT = 1
CHATTER_LINES = 200
"""What a login shell may say before our own first line."""
ENDING_SECONDS = 1.0
LINE_BYTES = 64 * 2**20
SUDO = ("sudo", "-n")
SUDO_DENIALS = ("a password is required", "a terminal is required", "not allowed", "not in the sudoers")
TIMER_LIMIT_SECONDS = 86400.0


class Prepared(NamedTuple):
    """A text that lies on the host, staged and verified."""

    verification: Verification | None
    reload_also: tuple[str, ...]
    left: tuple[str, ...]
    """What earlier pushes had left, and what became of it."""


class Pusher:
    """A pusher that runs on a host. Every call raises `PushRefused` or `TransportLost`."""

    def __init__(
        self, host: str, stream: Stream, said: AsyncIterator[bytes], hello: Mapping[str, Any], manager: str
    ) -> None:
        """`said`: the lines after the first."""
        self.host = host
        self.is_root = hello.get("uid") == 0
        self.user = str(hello.get("user"))
        self.manager = manager
        self.on_step: Callable[[str], None] = lambda _step: None
        self._stream = stream
        self._said = said

    async def look(self, unit: str) -> UnitLook:
        """How the unit's file stands."""
        answer = await self._ask("look", unit=unit)
        return pusher_values.unit_look(answer, host=self.host, is_root=self.is_root, manager=self.manager)

    async def kept_text(self, unit: str, sha256: str) -> str:
        """A text that an earlier push put there, or replaced."""
        return pusher_values.text((await self._ask("text", unit=unit, sha256=sha256))["text"])

    async def try_text(self, unit: str, text: str) -> Prepared:
        """Verify a text without a trace; `verification` is `None` where that is not possible."""
        return _prepared(await self._ask("try", unit=unit, **_sent(text)))

    async def prepare(self, unit: str, text: str, *, before: str | None) -> Prepared:
        """Take the lock, stage the text, verify it. `before`: the sha256 that it is to replace."""
        return _prepared(await self._ask("prepare", unit=unit, before=before, **_sent(text)))

    async def prepare_kept(self, unit: str, sha256: str | None, *, before: str | None) -> Prepared:
        """The same with a kept text; `None`: to remove the file."""
        wanted = {"remove": True} if sha256 is None else {"kept": sha256}
        return _prepared(await self._ask("prepare", unit=unit, before=before, **wanted))

    async def look_overlay(self, python: str, package: str, names: Sequence[str]) -> dict[str, Any]:
        """How an overlay's files stand, as the program words it."""
        return await self._ask("look_overlay", python=python, package=package, files=list(names))

    async def prepare_overlay(self, python: str, package: str, **wanted: Any) -> tuple[str, ...]:  # noqa: ANN401 - orders
        """Take the lock; gives the files that will be replaced. `wanted`: `files`, `restore`, `version`, `seen`, …"""
        return tuple((await self._ask("prepare_overlay", python=python, package=package, **wanted))["files"])

    async def prepare_overlay_undo(self, change: str) -> tuple[str, ...]:
        """The overlay files that were changed together with a unit, to be put back with it."""
        return tuple((await self._ask("prepare_overlay", undo=change))["files"])

    async def apply(
        self,
        change: str,
        unit: str,
        *,
        action: str = "push",
        reload: bool = True,
        undoes: int | None = None,
        origin: str | None = None,
    ) -> tuple[PushRecord, ...]:
        """Carry out what was prepared: keep, put, reload, check, record. On trouble the host takes it all back.

        Gives the records of the overlays, and last the unit's.
        """
        order = {"change": change, "unit": unit, "action": action, "reload": reload, "undoes": undoes, "origin": origin}
        return tuple(map(pusher_values.record, (await self._ask("apply", **order))["records"]))

    async def arm_undo(self, change: str, seconds: float, *, restart: str | None) -> str:
        """Have the host undo `change` by itself after `seconds`, and restart a unit then. Gives the timer's name."""
        program = pack.text()
        first = {"manager": self.manager, "who": "the host's undo timer"}
        lines_ = [json.dumps(first), json.dumps({"do": "undo", "change": change, "restart": restart})]
        order = {"change": change, "seconds": min(seconds, TIMER_LIMIT_SECONDS), "program": program, "lines": lines_}
        return str((await self._ask("arm", **order))["timer"])

    async def disarm_undo(self, change: str, *, wait_seconds: float = 30.0) -> bool:
        """Whether it was called off; false: it has fired, and the old files are back."""
        return bool((await self._ask("disarm", change=change, wait_seconds=wait_seconds))["state"] == "confirmed")

    async def _ask(self, do: str, **order: Any) -> dict[str, Any]:  # noqa: ANN401 - the program's orders
        await self._stream.write(json.dumps({"do": do, **order}).encode() + b"\n")
        async for line in self._said:
            said = _json(line)
            if "step" in said:
                self.on_step(str(said["step"]))
            elif "refused" in said:
                raise PushRefused(self.host, str(said["refused"]), printable(str(said.get("words")), limit=2000))
            elif isinstance(said.get("answer"), dict):
                return dict(said["answer"])
            else:
                raise DecodeError(pusher_values.SOURCE, line)
        raise TransportLost(self.host, f"the pusher ended before it answered: {_last_words(self._stream)}")


def _sent(text: str) -> dict[str, str]:
    data = text.encode()
    return {"text": base64.b64encode(data).decode(), "sha256": hashlib.sha256(data).hexdigest()}


def _prepared(answer: Mapping[str, Any]) -> Prepared:
    return Prepared(
        pusher_values.verification(answer.get("verify")),
        tuple(answer.get("reload_also", ())),
        tuple(answer.get("left", ())),
    )


def _json(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        raise DecodeError(pusher_values.SOURCE, line) from wrong
    if not isinstance(found, dict):
        raise DecodeError(pusher_values.SOURCE, line)
    return found


@asynccontextmanager
async def pusher(
    start: Start, host: str, *, manager: str, become: str, who: str, root: str = ""
) -> AsyncIterator[Pusher]:
    """Ship it and talk with it until the context is left, which ends it and its lock.

    `start`: `Transport.stream`, or `Fleet.command` of the host. `become`: `none` or `sudo`. Raises `SourceUnavailable`
    if the host has no python3 for it, `ActionDenied` if sudo refuses, `TransportLost`.
    """
    by_sudo = SUDO if become == "sudo" and manager == "system" else ()
    async with start((*by_sudo, *pack.ARGV)) as stream, aclosing(lines(stream, limit_bytes=LINE_BYTES)) as said:
        await stream.write(pack.payload(manager=manager, who=who, root=root))
        hello = await _hello(said)
        if hello is None:
            raise _cannot_run(host, _last_words(stream), by_sudo=bool(by_sudo))
        yield Pusher(host, stream, said, hello, manager)
        await _ended(stream, said)


async def _ended(stream: Stream, said: AsyncGenerator[bytes, None]) -> None:
    """In order, so that the host tells nobody of a lock that is free. One that takes its time is not waited for."""
    with suppress(TimeoutError, TransportError):
        async with asyncio.timeout(ENDING_SECONDS):
            await stream.write_eof()
            async for _ in said:
                pass


async def _hello(said: AsyncGenerator[bytes, None]) -> dict[str, Any] | None:
    """The program's first line, after whatever a login shell had to say."""
    for _ in range(CHATTER_LINES):
        line = await anext(said, None)
        if line is None:
            return None
        if line.startswith(b'{"pusher":'):
            return _json(line)
    return None


def _cannot_run(host: str, words: str, *, by_sudo: bool) -> ActionDenied | SourceUnavailable:
    if by_sudo and any(denial in words.lower() for denial in SUDO_DENIALS):
        line = "USER ALL=(root) NOPASSWD: /usr/bin/python3"
        return ActionDenied(
            f"{host}: sudo -n python3: refused ({words}). Allow it in /etc/sudoers.d on the host: {line}"
        )
    return SourceUnavailable(host, "push", f"python3 (3.8 or newer) cannot run there: {words}")


def _last_words(stream: Stream) -> str:
    """The last line of stderr, else the exit status."""
    said = printable(decoded(stream.stderr).strip().rpartition("\n")[2], limit=300)
    return said or f"exit {stream.exit_status}"
