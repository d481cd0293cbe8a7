"""A host with a journal in memory: answers journalctl's arguments as systemd 252 does, and can be cut off."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

from dflashtui.errors import TransportLost
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path, PurePosixPath

START_USEC = 1_796_000_000_000_000
Entry = dict[str, Any]


@dataclass
class FakeStream:
    """A follower's output."""

    host: FakeHost
    wants: Callable[[Entry], bool]
    chunks: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    untold: list[bytes] = field(default_factory=list)
    exit_status: int | None = None
    stderr: bytes = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            chunk = await self.chunks.get()
            if chunk is None and self.exit_status is None:
                raise TransportLost(self.host.host, "cut")
            if chunk is None:
                return
            yield chunk

    def end(self, exit_status: int | None, stderr: bytes = b"") -> None:
        self.exit_status, self.stderr = exit_status, stderr
        self.chunks.put_nowait(None)

    async def write(self, data: bytes) -> None:
        raise NotImplementedError

    async def write_eof(self) -> None:
        raise NotImplementedError


class FakeHost:
    """The journal, and the Transport that leads to it."""

    def __init__(self, host: str = "gpu-a", *, groups: str = "root", uid: int = 0) -> None:
        self.host = host
        self.channels = 0
        self.groups, self.uid = groups, uid
        self.entries: list[Entry] = []
        self.followers: list[FakeStream] = []
        self.asked: list[tuple[str, ...]] = []
        self.is_cut = False
        self.lags = False
        """Followers are told of new entries by `tell_followers` only, as journald does it every 250 ms."""
        self.seqnum_id, self.boot_id, self.seqnum, self.now_usec = "5" * 32, "b" * 32, 0, START_USEC
        self.answers: dict[tuple[str, ...], Completed] = {}
        self.fails: Callable[[tuple[str, ...]], bool] = lambda _argv: False
        """Which commands of journalctl end with status 1."""

    # what happens on the host

    def log(self, message: object, unit: str | None = "a.service", **fields: object) -> str:
        """Write an entry; gives its cursor. `unit=None`: no unit; other fields as named."""
        self.seqnum += 1
        self.now_usec += 1000
        place = f"s={self.seqnum_id};i={self.seqnum:x};b={self.boot_id}"
        cursor = f"{place};m={self.seqnum:x};t={self.now_usec:x};x={self.seqnum:x}"
        entry: Entry = {
            "__CURSOR": cursor, "__REALTIME_TIMESTAMP": str(self.now_usec), "_BOOT_ID": self.boot_id,
            "__MONOTONIC_TIMESTAMP": str(self.seqnum), "MESSAGE": message, "PRIORITY": "6", "_PID": "77", "_UID": "0",
            "_TRANSPORT": "stdout",
        } | ({"_SYSTEMD_UNIT": unit} if unit else {}) | fields  # fmt: skip
        self.entries.append(entry)
        for follower in self.followers:
            if follower.wants(entry):
                follower.untold.append(line_of(entry))
        if not self.lags:
            self.tell_followers()
        return cursor

    def tell_followers(self) -> None:
        for follower in self.followers:
            for line in follower.untold:
                follower.chunks.put_nowait(line)
            follower.untold.clear()

    def vacuum(self, keep: int) -> None:
        self.entries = self.entries[-keep:] if keep else []

    def reboot(self, boot_id: str = "c" * 32) -> None:
        self.boot_id = boot_id

    # the way to it

    def cut(self) -> None:
        self.is_cut = True
        for follower in self.followers:
            follower.end(None)

    def join(self) -> None:
        self.is_cut = False

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        await asyncio.sleep(0)
        if self.is_cut:
            raise TransportLost(self.host, "cut")
        self.asked.append(tuple(argv))
        return self._answer(tuple(argv))

    def _answer(self, argv: tuple[str, ...]) -> Completed:
        answers = {
            ("id", "-u"): f"{self.uid}\n",
            ("id", "-Gn"): self.groups,
            ("id", "-un"): "ops\n",
            ("date", "+%s"): f"{self.now_usec // 1_000_000}\n",
        }
        if argv in self.answers:
            return self.answers[argv]
        if argv in answers:
            return self._done(argv, answers[argv].encode())
        if argv[0] == "journalctl":
            return self._journalctl(argv, Asked(argv[1:]))
        return self._done(argv, b"", 1, b"sudo: a password is required\n")

    def _done(self, argv: Sequence[str], stdout: bytes, status: int = 0, stderr: bytes = b"") -> Completed:
        return Completed(self.host, tuple(argv), status, stdout, stderr)

    def _journalctl(self, argv: Sequence[str], asked: Asked) -> Completed:
        if self.fails(tuple(argv)):
            return self._done(argv, b"", 1, b"Failed to iterate through journal: No buffer space available\n")
        if asked.cursor and not asked.cursor.startswith("s="):
            return self._done(argv, b"", 1, b"Failed to seek to cursor: Invalid argument\n")
        return self._done(argv, b"".join(map(line_of, self._selected(asked))))

    def _readable(self) -> list[Entry]:
        allowed = self.uid == 0 or "systemd-journal" in self.groups
        return [entry for entry in self.entries if allowed or entry["_UID"] == str(self.uid)]

    def _selected(self, asked: Asked) -> list[Entry]:
        found = self._readable()
        if asked.cursor:
            start = self._seek(found, asked.cursor)
            found = found[: start + 1] if asked.reverse else found[start:]
        if asked.since is not None:
            found = [entry for entry in found if int(entry["__REALTIME_TIMESTAMP"]) >= asked.since * 1_000_000]
        found = [entry for entry in found if asked.wants(entry)]
        if asked.reverse:
            found.reverse()
        if asked.lines is None:
            return found
        return found[: asked.lines] if asked.cursor or asked.reverse else found[-asked.lines :]

    def _seek(self, entries: list[Entry], cursor: str) -> int:
        """The exact entry; else by number within the same journal; else by time; else past the end."""
        wanted = dict(part.split("=") for part in cursor.split(";"))
        for position, entry in enumerate(entries):
            here = dict(part.split("=") for part in entry["__CURSOR"].split(";"))
            key = "i" if here["s"] == wanted["s"] else "t"
            if int(here[key], 16) >= int(wanted[key], 16):
                return position
        return len(entries)

    def stream(self, argv: Sequence[str]) -> AbstractAsyncContextManager[FakeStream]:
        return self._stream(tuple(argv))

    @asynccontextmanager
    async def _stream(self, argv: tuple[str, ...]) -> AsyncIterator[FakeStream]:
        await asyncio.sleep(0)
        if self.is_cut:
            raise TransportLost(self.host, "cut")
        self.asked.append(argv)
        asked = Asked(argv[argv.index("journalctl") + 1 :])
        stream = FakeStream(self, asked.wants)
        for entry in self._selected(asked):
            stream.chunks.put_nowait(line_of(entry))
        self.followers.append(stream)
        try:
            yield stream
        finally:
            self.followers.remove(stream)

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        raise NotImplementedError

    def local_socket(self, path: str) -> AbstractAsyncContextManager[Path]:
        raise NotImplementedError

    async def lost(self) -> Never:
        raise NotImplementedError

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise NotImplementedError


class Asked:
    """The arguments of one journalctl."""

    def __init__(self, arguments: Sequence[str]) -> None:
        options = dict(word.partition("=")[::2] for word in arguments if word.startswith("--"))
        self.cursor = options.get("--cursor")
        self.lines = int(options["--lines"]) if "--lines" in options else None
        self.reverse = "--reverse" in options
        self.since = int(options["--since"].removeprefix("@")) if "--since" in options else None
        self.groups: list[dict[str, set[str]]] = [{}]
        for word in arguments:
            if word == "+":
                self.groups.append({})
            elif not word.startswith("--"):
                name, _, value = word.partition("=")
                self.groups[-1].setdefault(name, set()).add(value)

    def wants(self, entry: Entry) -> bool:
        return any(all(entry.get(name) in values for name, values in group.items()) for group in self.groups)


def line_of(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
