"""The chunks of a follower, and a beat where none come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from dflashtui.transport.base import Stream

BEAT_SECONDS = 10.0
PIECE_BYTES = 2**14
"""Some 30 lines, whose reading takes 1 ms."""


@asynccontextmanager
async def chunks_of(stream: Stream, beat_seconds: float) -> AsyncIterator[AsyncIterator[bytes]]:
    """A stream's chunks, and an empty one each time that none has come for so long.

    An iterator that is left half-way is closed here and not by the garbage collector.
    """
    chunks = aiter(stream)
    beats = _with_beats(chunks, beat_seconds)
    try:
        yield beats
    finally:
        await beats.aclose()
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()


def pieces(chunk: bytes) -> Iterator[bytes]:
    """Parts that are read in a moment, so that nobody waits longer than that for the loop."""
    for start in range(0, len(chunk), PIECE_BYTES):
        yield chunk[start : start + PIECE_BYTES]


async def _with_beats(chunks: AsyncIterator[bytes], seconds: float) -> AsyncGenerator[bytes, None]:
    waiting = asyncio.create_task(_next(chunks))
    try:
        while True:
            if not (await asyncio.wait({waiting}, timeout=seconds))[0]:
                yield b""
                continue
            chunk = waiting.result()
            if chunk is None:
                return
            for piece in pieces(chunk):
                yield piece
            waiting = asyncio.create_task(_next(chunks))
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)
