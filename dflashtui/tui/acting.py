"""From a wish to a change: ask by weight, act through `ops`, tell what came of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.ops.audit import Audit, who
from dflashtui.ops.units import act
from dflashtui.ops.weight import confirmation, fitting
from dflashtui.paths import state_folder
from dflashtui.text import printable
from dflashtui.tui import questions
from dflashtui.tui.dialogs.confirm import Confirm, LightConfirm
from dflashtui.tui.dialogs.run import RunScreen
from dflashtui.tui.styled import cell
from dflashtui.tui.subject import unit_subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.config.model import Config
    from dflashtui.model.action import ActionResult
    from dflashtui.model.command import CommandResult
    from dflashtui.tui.crash.starts import Starts
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.shell import Shell
    from dflashtui.tui.subject import Subject

TOAST_SECONDS = 5


class NoAudit(Audit):
    """The demo changes no host, so that nothing of it belongs into the person's audit file."""

    def require(self) -> None:
        """Nothing is recorded."""

    def record(self, result: ActionResult) -> str | None:  # noqa: ARG002 - the interface
        """Nothing is recorded."""
        return None

    def record_command(self, result: CommandResult) -> str | None:  # noqa: ARG002 - the interface
        """Nothing is recorded."""
        return None


def audit_for(*, is_demo: bool) -> Audit:
    """Where changes are recorded."""
    return (NoAudit if is_demo else Audit)(state_folder())


def wished(verb: Verb, subjects: Iterable[Subject], picture: Picture, config: Config) -> tuple[UnitAction, ...]:
    """The actions for the units that the verb fits."""
    return tuple(
        UnitAction(verb=verb, host=subject.host, unit=subject.name, manager=config.host(subject.host).manager)
        for subject in subjects
        if (unit := picture.unit(subject)) is not None and verb in fitting(unit)
    )


def runs_of(actions: Sequence[UnitAction], picture: Picture) -> tuple[str | None, ...]:
    """The invocation ids that the actions are about: a confirmation holds for these runs, and for no later one."""
    units = [picture.unit(unit_subject(action.host, action.unit)) for action in actions]
    return tuple(unit.invocation_id if unit else None for unit in units)


class Actor:
    """Asks, acts and tells, for one screen."""

    def __init__(self, screen: Shell, starts: Starts) -> None:
        """`starts`: those that are asked for are watched there."""
        self._screen = screen
        self._starts = starts
        self._audit = audit_for(is_demo=screen.fleet.is_demo)
        self.running = 0
        """How many actions have not ended."""

    async def carry_out(self, actions: Sequence[UnitAction]) -> None:
        """The whole way from the question to the result."""
        if not actions:
            return
        before = runs_of(actions, self._screen.newest)
        if not await self._ask(actions):
            return
        if runs_of(actions, self._screen.newest) != before:
            words = "not sent: a unit was started anew while you were asked; look again, then ask again"
            self._tell_console(words, Severity.WARN)
            return
        await self.carry_out_confirmed(actions)

    async def _ask(self, actions: Sequence[UnitAction]) -> bool:
        picture = self._screen.newest
        asked = confirmation(actions, {host.name: host for host in picture.hosts})
        if asked.weight is Weight.LIGHT:
            return await self._screen.app.push_screen_wait(LightConfirm(questions.light_question(actions[0])))
        dialog = Confirm(questions.question(asked, actions, picture))
        if len(actions) == 1:
            self._screen.run_worker(self._add_dependents(dialog, actions[0]), group="dependents", exclusive=True)
        return await self._screen.app.push_screen_wait(dialog)

    async def _add_dependents(self, dialog: Confirm, action: UnitAction) -> None:
        """What depends on the unit is asked of the host; the dialog does not wait for it."""
        try:
            properties = await self._screen.fleet.properties(action.host, action.unit)
        except DflashError as error:
            dialog.add((cell(f"what depends on it is not known: {printable(str(error))}", "warn"),))
        else:
            dialog.add(questions.dependents(properties))

    async def carry_out_confirmed(self, actions: Sequence[UnitAction]) -> None:
        """What a person has said yes to already."""
        stop = asyncio.Event()
        sheet = RunScreen(actions, stop) if len(actions) > 1 else None
        if sheet is not None:
            await self._screen.app.push_screen(sheet)
        self.running += len(actions)
        self._starts.begin(actions)
        try:
            read_only = self._screen.options.read_only
            async for result in act(actions, self._screen.fleet, self._audit, read_only=read_only, stop=stop):
                self.running -= 1
                self._starts.asked(result)
                self._tell(result, quietly=sheet is not None)
                if sheet is not None:
                    sheet.result(result)
        finally:
            self.running = 0
            self._starts.give_up(actions)
        if sheet is not None:
            sheet.end()

    def _tell(self, result: ActionResult, *, quietly: bool) -> None:
        action = result.action
        severity = {True: Severity.OK, False: Severity.BAD, None: Severity.WARN}[result.ok]
        words = _in_words(result)
        message = f"{words} · {result.duration_seconds:.1f} s · by {who()}"
        event = Event(
            at=result.started_at,
            kind=EventKind.ACTION,
            severity=severity,
            host=action.host,
            unit=action.unit,
            message=message,
        )
        self._screen.tell(event)
        if not quietly:
            place = f"{action.host}: "
            self._toast(printable(place + words.removeprefix(place)), severity)

    def _tell_console(self, words: str, severity: Severity) -> None:
        self._screen.tell(Event(at=self._screen.clock(), kind=EventKind.CONSOLE, severity=severity, message=words))
        self._toast(words, severity)

    def _toast(self, words: str, severity: Severity) -> None:
        level = {Severity.BAD: "error", Severity.WARN: "warning"}.get(severity, "information")
        self._screen.notify(words, severity=level, markup=False, timeout=TOAST_SECONDS)  # type: ignore[arg-type]


def _in_words(result: ActionResult) -> str:
    """`systemctl restart x: done`; a failure says why, and names the command once."""
    command = result.action.command
    if result.ok:
        return f"{command}: {result.result}"
    return result.message if command in result.message else f"{command}: {result.message}"
