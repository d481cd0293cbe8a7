"""A talk with the pusher that ends after exactly so many bytes of what is said there, or of what comes back."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflashtui.errors import TransportLost
from dflashtui.source.pusher import Pusher, pusher
from tests.support.pusher_root import HOST, Inside, PusherRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


class Cut:
    """Where, and how much has passed until then; without a place nothing is cut."""

    def __init__(self, *, there: int | None = None, back: int | None = None) -> None:
        self._limits = {"there": there, "back": back}
        self.passed = {"there": 0, "back": 0}
        self.is_cut = False

    def let(self, way: str, data: bytes) -> bytes:
        """The part of it that passes."""
        limit = self._limits[way]
        passing = b"" if self.is_cut else data if limit is None else data[: max(0, limit - self.passed[way])]
        self.passed[way] += len(passing)
        self.is_cut = self.is_cut or len(passing) < len(data)
        return passing


class CutStream:
    """A `Stream` to a pusher in this process, over a link that ends at the cut. What had arrived is carried out."""

    def __init__(self, inside: Inside, cut: Cut) -> None:
        self._inside = inside
        self._cut = cut
        self._is_shipped = False
        self.stderr = b""

    @property
    def exit_status(self) -> int | None:
        return None if self._cut.is_cut else self._inside.exit_status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for line in self._inside:
            if passing := self._cut.let("back", line):
                yield passing
            self._require_link()

    async def write(self, data: bytes) -> None:
        """The program itself is not counted: without all of it nothing begins."""
        await self._inside.write(self._cut.let("there", data) if self._is_shipped else data)
        self._is_shipped = True
        self._require_link()

    async def write_eof(self) -> None:
        await self._inside.write_eof()

    def _require_link(self) -> None:
        if self._cut.is_cut:
            raise TransportLost(HOST, "cut by the test")


@asynccontextmanager
async def opened(root: PusherRoot, cut: Cut) -> AsyncIterator[Pusher]:
    """The pusher over such a link. Raises `TransportLost`."""

    @asynccontextmanager
    async def start(_argv: Sequence[str]) -> AsyncIterator[CutStream]:
        inside = Inside()
        try:
            yield CutStream(inside, cut)
        finally:
            await inside.write_eof()

    async with pusher(start, HOST, manager="system", become="none", who="me", root=str(root.root)) as talk:
        yield talk
