"""A host in memory that runs scripted commands: by argv[0] for streams, in order for whole commands."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Never

from dflashtui.errors import TransportLost
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import PurePosixPath

    from dflashtui.transport.base import Stream

Answer = tuple[int, bytes, bytes]
"""Exit status, stdout, stderr."""
NOT_FOUND: Answer = (127, b"", b"sh: not found\n")


@dataclass
class ScriptedStream:
    """Prints its chunks, then ends; without a status the link is lost, `None` for ever running."""

    chunks: Sequence[bytes]
    exit_status: int | None = 0
    stderr: bytes = b""
    is_endless: bool = False
    is_cut: bool = False
    written: list[bytes] = field(default_factory=list)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk
        if self.is_cut:
            raise TransportLost("gpu-a", "cut")
        if self.is_endless:
            await asyncio.Event().wait()

    async def write(self, data: bytes) -> None:
        self.written.append(data)

    async def write_eof(self) -> None:
        raise NotImplementedError


class ScriptedHost:
    """The Transport to it."""

    def __init__(self) -> None:
        self.host = "gpu-a"
        self.channels = 0
        self.streams: dict[str, ScriptedStream] = {}
        self.answer: Callable[[tuple[str, ...]], Answer] = lambda _argv: NOT_FOUND
        self.asked: list[tuple[str, ...]] = []

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        del stdin, output_limit_bytes
        self.asked.append(tuple(argv))
        status, stdout, stderr = self.answer(tuple(argv))
        return Completed(self.host, tuple(argv), status, stdout, stderr)

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        self.asked.append(tuple(argv))
        self.channels += 1
        try:
            yield self.streams.get(argv[0]) or ScriptedStream([], *NOT_FOUND[::2])
        finally:
            self.channels -= 1

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        raise NotImplementedError

    def local_socket(self, path: str) -> Never:
        raise NotImplementedError(path)

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        raise NotImplementedError

    async def lost(self) -> Never:
        await asyncio.Event().wait()
        raise AssertionError


async def first(items: AsyncIterator[object], count: int) -> list[object]:
    """The first items."""
    return [await anext(items) for _ in range(count)]
