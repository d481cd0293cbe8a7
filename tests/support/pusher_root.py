"""A folder that stands for the root of a host, with stand-ins for its manager's tools, and the real pusher on it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dflashtui.pusher.main import Orders, answered
from dflashtui.pusher.places import Places
from dflashtui.source.pusher import Pusher, pusher
from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from dflashtui.ops.push import OpenPusher

HOST = "here"
SYSTEMCTL = """#!/bin/sh
# remembers which text of a unit was there at the last reload
echo "$*" >>{root}/asked
for unit; do :; done
file={root}/etc/systemd/system/$unit
case "$*" in
*daemon-reload*)
  [ ! -e {root}/no-reload ] || {{ echo "Reload failed: busy" >&2; exit 1; }}
  rm -rf {root}/loaded; cp -r {root}/etc/systemd/system {root}/loaded;;
*Id,NeedDaemonReload*) cat {root}/pending 2>/dev/null;;
*LoadState*)
  need=no; [ ! -f "$file" ] || cmp -s "$file" "{root}/loaded/$unit" || need=yes
  state=loaded
  [ -e "$file" ] || {{ state=not-found; need=no; }}
  [ ! -e {root}/bad-setting ] || state=bad-setting
  echo "LoadState=$state"; echo "FragmentPath=$file"; echo "NeedDaemonReload=$need"; echo "ActiveState=inactive";;
esac
"""
ANALYZE = """#!/bin/sh
for unit; do :; done
grep -n Nonsense "$unit" >&2 && exit 1
exit 0
"""


class Inside:
    """A `Stream` whose program runs in this process: the orders and answers of a host, without its start."""

    def __init__(self) -> None:
        self.exit_status: int | None = None
        self.stderr = b""
        self._came = b""
        self._program: Orders | None = None
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._said()

    async def _said(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def write(self, data: bytes) -> None:
        if self._program is None:
            size, _, rest = data.partition(b"\n")
            data = rest[int(size) :]
        *whole, self._came = (self._came + data).split(b"\n")
        for line in whole:
            self._take(line)

    def _take(self, line: bytes) -> None:
        if self._program is not None:
            self._tell(answered(self._program, line))
            return
        first = json.loads(line)
        self._program = Orders(Places(first), first["who"], lambda step: self._tell({"step": step}))
        self._tell({"pusher": 1, "user": "me", "uid": 0})

    def _tell(self, said: dict[str, Any]) -> None:
        self._lines.put_nowait(json.dumps(said, separators=(",", ":")).encode() + b"\n")

    async def write_eof(self) -> None:
        if self._program is not None:
            self._program.close()
        self._lines.put_nowait(None)


@asynccontextmanager
async def inside(_argv: Sequence[str]) -> AsyncIterator[Inside]:
    stream = Inside()
    yield stream
    await stream.write_eof()


class PusherRoot:
    """What lies on the pretended host."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.units = root / "etc/systemd/system"
        self.state = root / "var/lib/dflashtui"
        for folder in (self.units, root / "usr/bin", root / "loaded", root / "var/lib"):
            folder.mkdir(parents=True)
        self._program("systemctl", SYSTEMCTL.format(root=root))
        self._program("systemd-analyze", ANALYZE)

    def _program(self, name: str, text: str) -> None:
        path = self.root / "usr/bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def open(self, who: str = "me") -> AbstractAsyncContextManager[Pusher]:
        """The program, in this process."""
        return pusher(inside, HOST, manager="system", become="none", who=who, root=str(self.root))

    def shipped(self, who: str = "me") -> AbstractAsyncContextManager[Pusher]:
        """The program, shipped to this machine's python3."""
        start = LocalTransport(HOST).stream
        return pusher(start, HOST, manager="system", become="none", who=who, root=str(self.root))

    @property
    def opened(self) -> OpenPusher:
        return self.open

    def write(self, name: str, text: str) -> Path:
        """A unit that was always there: its manager has loaded it."""
        path = self.units / name
        path.write_text(text)
        path.chmod(0o644)
        (self.root / "loaded" / name).write_text(text)
        return path

    @property
    def reloads(self) -> int:
        asked = self.root / "asked"
        return asked.read_text().count("daemon-reload") if asked.exists() else 0

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Every file with its mtime, but what the stand-ins write."""
        own = {"asked"}
        paths = sorted(path for path in self.root.rglob("*") if path.is_file() and path.name not in own)
        return {str(path.relative_to(self.root)): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}

    @property
    def leftovers(self) -> list[str]:
        """Files on their way and staged folders."""
        names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")]
        return [name for name in names if ".dflash-" in name or "staged-" in name or "undo-" in name]
