"""What every way to a service manager offers: the bus, the bus through systemd-stdio-bridge, and systemctl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.model.action import UnitAction
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport


class UnitSource(Protocol):
    """A subscribed service manager. Raises `TransportLost` if the link ends, `SourceUnavailable` if only it does."""

    @property
    def via(self) -> str:
        """`bus`, `stdio-bridge` or `systemctl`."""

    @property
    def systemd_version(self) -> int | None:
        """`252`."""

    def watch(self, patterns: Sequence[str]) -> AsyncGenerator[tuple[UnitStatus, ...], None]:
        """All watched units, whenever one of them changed; first at once.

        `patterns` are unit names and globs; units that appear later are included, plain names that do not
        exist are `LoadState.NOT_FOUND`. In the order of the patterns, then by name.
        """

    async def refresh(self) -> None:
        """Read everything again now; `watch` yields the result."""

    async def perform(self, action: UnitAction) -> tuple[str, str]:
        """Carry out an action and wait for its job. Gives the job's result and the way it went (`bus`, `sudo`, …).

        Raises `ActionDenied` naming the missing right, `OutcomeUnknown` when the link ended in between,
        `CommandFailed` when the manager refused.
        """

    async def unit_file(self, unit: str) -> str:
        """The unit file with its drop-ins, as `systemctl cat` shows them."""

    async def properties(self, unit: str) -> dict[str, str]:
        """Every property of a unit as `systemctl show` words it, for the details view."""


class OpenUnits(Protocol):
    """Opens the best way that the host allows."""

    def __call__(self, transport: Transport, *, manager: str, become: str) -> AbstractAsyncContextManager[UnitSource]:
        """Raises `SourceUnavailable` when there is no systemd."""
