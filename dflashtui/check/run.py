"""`dflashtui --check`: look once at every host and unit, print what is found, say it in the exit code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol

from dflashtui.check.report import lines
from dflashtui.check.verdict import verdict
from dflashtui.exit_code import ExitCode
from dflashtui.model.rules import findings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflashtui.model.host import HostSnapshot

EXIT_CODES = {"ok": ExitCode.OK, "warning": ExitCode.WARNING, "failed": ExitCode.FAILED, "unknown": ExitCode.UNKNOWN}


class Look(Protocol):
    """One look at every host."""

    @property
    def names(self) -> Sequence[str]:
        """Host names, in the order of the inventory."""

    @property
    def is_demo(self) -> bool:
        """Simulated."""

    def snapshot(self, host: str) -> HostSnapshot:
        """What is known of a host so far."""

    async def run(self) -> None:
        """Returns when every host has said all it will; may be cancelled at any moment."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How to look and how to say it."""

    limit_seconds: float
    units: tuple[str, ...] = ()
    """Globs; empty: every watched unit."""
    as_json: bool = False
    colour: bool = False


async def check(look: Look, options: CheckOptions, write: Callable[[str], object]) -> ExitCode:
    """Look, write the report, and give the exit code. What did not answer in time is said, not left out."""
    try:
        async with asyncio.timeout(options.limit_seconds):
            await look.run()
    except TimeoutError:
        pass  # the report says which hosts gave no answer
    snapshots = [_only(look.snapshot(name), options.units) for name in look.names]
    now = datetime.now(UTC)
    found = tuple(finding for snapshot in snapshots for finding in findings(snapshot, now))
    if options.as_json:
        from dflashtui.check.document import document  # noqa: PLC0415 - 0.1 s that only JSON has to pay

        write(document(snapshots, found, at=now, is_demo=look.is_demo) + "\n")
    else:
        for line in lines(snapshots, found, colour=options.colour, demo=look.is_demo):
            write(line + "\n")
    return EXIT_CODES[verdict(found)]


def _only(snapshot: HostSnapshot, globs: tuple[str, ...]) -> HostSnapshot:
    """The snapshot without the units that nobody asked for."""
    if not globs or snapshot.units is None:
        return snapshot
    kept = tuple(unit for unit in snapshot.units if any(fnmatchcase(unit.name, glob) for glob in globs))
    return snapshot.model_copy(update={"units": kept})
