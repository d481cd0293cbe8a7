"""What a probe found, on stdout: the verdict in the moment it is known, then what to do about it."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.cli.colour import wants_colour
from dflashtui.exit_code import ExitCode
from dflashtui.ops.probe_report import document, exit_code, lines, remedy_lines
from dflashtui.ops.remedy import remedies_on
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.probe import ProbeResult
    from dflashtui.ops.remedy_value import HostRemedy

REMEDY_LIMIT_SECONDS = 15.0
"""For the facts that remedies ask from a host; the verdict does not wait for them, its JSON does."""


@dataclass(frozen=True, slots=True)
class Telling:
    """Where and how results are said."""

    fleet: Fleet
    config: Config
    options: Options
    is_single: bool
    """One host: what follows its verdict needs no name."""

    async def tell(self, result: ProbeResult) -> None:
        """One document a host, or the verdict and then its remedies."""
        if self.options.json:
            remedies = await self._remedies(result)
            _say([json.dumps(document(result, is_demo=self.fleet.is_demo, remedies=remedies))])
            return
        _say(lines(result, colour=wants_colour(self.options)))
        if remedies := await self._remedies(result):
            head = () if self.is_single else (f"{printable(result.host)}: {printable(result.unit)}: what to do",)
            _say([*head, *remedy_lines(remedies)])

    async def _remedies(self, result: ProbeResult) -> tuple[HostRemedy, ...]:
        """Of a failure whose cause is known; a host that does not answer in time leaves the cause alone."""
        if result.cause is None or exit_code(result) is not ExitCode.FAILED:
            return ()
        xids = self.fleet.snapshot(result.host).xids
        try:
            async with asyncio.timeout(REMEDY_LIMIT_SECONDS):
                return await remedies_on(self.fleet, self.config, result.host, result.unit, result.cause, xids)
        except TimeoutError:
            sys.stderr.write(f"dflashtui: {printable(result.host)}: no remedies: its facts did not come in time\n")
            return ()


def _say(told: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in told)
    sys.stdout.flush()
