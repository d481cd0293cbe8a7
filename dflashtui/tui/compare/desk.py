"""What stands behind the comparison: it reads the environments of hosts over the fleet's connections."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from dflashtui.errors import ConfigError, DflashError
from dflashtui.model.comparison import Remark
from dflashtui.ops.fleet_transport import FleetTransport
from dflashtui.tui.compare.screen import CompareScreen
from dflashtui.tui.compare.syncing import SyncDesk
from dflashtui.tui.crash.later import run_later

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment
    from dflashtui.tui.compare.pairing import Pairing
    from dflashtui.tui.shell import Shell

LIMIT_SECONDS = 30.0
NEEDED = ("dflashtui.ops.compare", "dflashtui.ops.environment", "dflashtui.ops.interpreters")
CHOOSE = "say which with --python or --unit"
CHOOSE_HERE = "mark one of its units on each host, and compare those"


class CompareDesk:
    """One for a screen."""

    def __init__(self, screen: Shell) -> None:
        self._screen = screen
        self._sync = SyncDesk(screen)

    def open(self, pairing: Pairing) -> None:
        """Show the screen at once; it asks to be filled."""
        self._screen.app.push_screen(CompareScreen(pairing, self._sync.may_change, self._want))

    def _want(self, sheet: CompareScreen, wish: str) -> None:
        match wish:
            case "sync":
                run_later(self._screen, "sync", self._sync.sync, sheet)
            case "undo":
                run_later(self._screen, "sync", self._sync.undo, sheet)
            case _:
                run_later(sheet, "compare", self._read, sheet)

    async def _read(self, sheet: CompareScreen) -> None:
        """All hosts side by side; one that cannot be read is told."""
        for name in NEEDED:
            await asyncio.to_thread(import_module, name)
        from dflashtui.ops.compare import compare  # noqa: PLC0415 - as above

        pairing = sheet.pairing
        answers = await asyncio.gather(*(self._one(host, pairing.unit) for host in pairing.hosts))
        read = [one for one in answers if not isinstance(one, Remark)]
        sheet.fill(compare(read, [one for one in answers if isinstance(one, Remark)]))

    async def _one(self, host: str, unit: str | None) -> Environment | Remark:
        from dflashtui.engines.packages import BINARY_TOPS  # noqa: PLC0415 - as above
        from dflashtui.ops.environment import read_environment  # noqa: PLC0415
        from dflashtui.ops.interpreters import where_on  # noqa: PLC0415

        config, transport = self._screen.config, FleetTransport(self._screen.fleet, host)
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                where = await where_on(transport, config, config.host(host), unit=unit)
                return await read_environment(transport, where, requires=False, binaries=BINARY_TOPS)
        except TimeoutError:
            return Remark(host=host, message="no answer in time")
        except ConfigError as unclear:
            return Remark(host=host, message=_here(unclear.problems[0]).removeprefix(f"{host}: "))
        except DflashError as trouble:
            return Remark(host=host, message=str(trouble).removeprefix(f"{host}: "))


def _here(problem: str) -> str:
    """What to do in the console, where the command line has an option."""
    return problem.replace(CHOOSE, CHOOSE_HERE).replace("say which with --python, or with", "say which with")
