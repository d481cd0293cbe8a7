"""What stands behind the preflight's screen: it looks, asks, runs remedies and looks again."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.preflight import Preflight
from dflashtui.ops.audit import who
from dflashtui.ops.commands import run_command
from dflashtui.ops.fleet_transport import FleetTransport
from dflashtui.ops.preflight_fix import fix_confirmation, fixes
from dflashtui.text import printable
from dflashtui.tui.acting import audit_for
from dflashtui.tui.crash.later import run_later
from dflashtui.tui.dialogs.confirm import Confirm
from dflashtui.tui.preflight.fixing import FixScreen
from dflashtui.tui.preflight.screen import PreflightScreen
from dflashtui.tui.preflight.words import Place, fix_question

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.model.command import CommandResult, HostCommand
    from dflashtui.tui.shell import Shell

STALE_SECONDS = 300.0
"""What was seen longer ago is looked at again before anything is run for its sake."""


class PreflightDesk:
    """One for a screen."""

    def __init__(self, screen: Shell) -> None:
        self._screen = screen
        self._audit = audit_for(is_demo=screen.fleet.is_demo)
        self._looked_at: dict[Place, datetime] = {}
        self._running: asyncio.Task[CommandResult] | None = None

    def open(self, places: Sequence[Place]) -> None:
        """Show the screen at once; it asks to be filled."""
        self._screen.app.push_screen(PreflightScreen(places, self.may_change, self._want))

    def may_change(self, host: str) -> bool:
        """Whether anything may be run there."""
        return not self._screen.options.read_only and not self._screen.fleet.snapshot(host).read_only

    def _want(self, sheet: PreflightScreen, wish: str) -> None:
        if wish == "again":
            self._look_again(sheet, sheet.places)
            return
        plan = fixes(_only_chosen(sheet) if wish == "fix" else sheet.found)
        stale = [place for place in sheet.places if self._is_stale(place)]
        if stale:
            sheet.notify("that was seen a while ago: looking again first", severity="warning", markup=False, timeout=5)
            self._look_again(sheet, stale)
        elif plan:
            run_later(self._screen, "preflight fix", self._fix, sheet, plan)

    def _is_stale(self, place: Place) -> bool:
        at = self._looked_at.get(place)
        return at is not None and (self._screen.clock() - at).total_seconds() > STALE_SECONDS

    def _look_again(self, sheet: PreflightScreen, places: Sequence[Place]) -> None:
        sheet.begin(places)
        run_later(sheet, "preflight", self._look, sheet, places)

    async def _look(self, sheet: PreflightScreen, places: Sequence[Place]) -> None:
        """Hosts side by side; the units of one host one after the other, for a host grants few sessions at once."""
        await asyncio.to_thread(import_module, "dflashtui.ops.preflight")
        async with asyncio.TaskGroup() as group:
            for host in dict.fromkeys(place.host for place in places):
                group.create_task(self._on_host(sheet, [place for place in places if place.host == host]))

    async def _on_host(self, sheet: PreflightScreen, places: Sequence[Place]) -> None:
        from dflashtui.ops.preflight import preflight  # noqa: PLC0415 - its many checks, only where they are asked for

        fleet, config = self._screen.fleet, self._screen.config
        for place in places:
            transport = FleetTransport(fleet, place.host)
            read_only = self._screen.options.read_only
            try:
                found = await preflight(config, place.unit, config.host(place.host), transport, read_only=read_only)
            except DflashError as failure:
                sheet.fail(place, str(failure).removeprefix(f"{place.host}: "))
            else:
                self._looked_at[place] = self._screen.clock()
                sheet.fill(found)

    async def _fix(self, sheet: PreflightScreen, plan: Sequence[HostCommand]) -> None:
        """From the question to the result; then look again where something was run."""
        asked = fix_confirmation(plan, {host.name: host for host in self._screen.newest.hosts})
        if not await self._screen.app.push_screen_wait(Confirm(fix_question(asked, plan))):
            return
        steps = FixScreen(plan, self._end)
        await self._screen.app.push_screen(steps)
        done = await self._carry_out(steps, plan)
        steps.ended(_ending(done, plan))
        hosts = {command.host for command in plan[: len(done) + 1]}
        if sheet.is_attached:
            self._look_again(sheet, [place for place in sheet.places if place.host in hosts])

    async def _carry_out(self, steps: FixScreen, plan: Sequence[HostCommand]) -> list[CommandResult]:
        """One after the other; the first that does not end well is the last."""
        done: list[CommandResult] = []
        for place, command in enumerate(plan):
            if steps.is_stopping:
                break
            steps.begin(place)
            result = await self._run(command, steps)
            if result is None:
                break
            done.append(result)
            steps.result(result)
            if not result.ok:
                break
        return done

    async def _run(self, command: HostCommand, steps: FixScreen) -> CommandResult | None:
        """`None`: a person ended it."""
        read_only = self._screen.options.read_only
        running = run_command(command, self._screen.fleet, self._audit, steps.line, read_only=read_only)
        self._running = asyncio.create_task(running)
        try:
            await asyncio.wait({self._running})
            result = None if self._running.cancelled() else self._running.result()
        finally:
            self._end()
            await asyncio.gather(self._running, return_exceptions=True)
        self._tell(command, result)
        return result

    def _end(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _tell(self, command: HostCommand, result: CommandResult | None) -> None:
        severity = {True: Severity.OK, False: Severity.BAD, None: Severity.WARN}[result.ok if result else None]
        said = f"{command.command}: {result.result if result and result.ok else 'ended before it was done'}"
        words = result.message if result and not result.ok else said
        event = Event(
            at=self._screen.clock(),
            kind=EventKind.ACTION,
            severity=severity,
            host=command.host,
            unit=command.unit,
            message=printable(f"{words} · by {who()}"),
        )
        self._screen.tell(event)


def _only_chosen(sheet: PreflightScreen) -> list[Preflight]:
    chosen = sheet.chosen
    return [Preflight(host=chosen.host, unit=chosen.unit, findings=(chosen,))] if chosen else []


def _ending(done: Sequence[CommandResult], plan: Sequence[HostCommand]) -> str:
    good = sum(bool(result.ok) for result in done)
    if good == len(plan):
        return "all done; it is looked at again" if len(plan) > 1 else "it is looked at again"
    left = len(plan) - len(done)
    return f"{good} of {len(plan)} done{f', {left} not run' if left else ''}; it is looked at again"
