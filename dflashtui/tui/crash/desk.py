"""What stands behind the crash cards of a screen: it reads runs, asks for remedies, runs them, and restarts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.worker import WorkerCancelled, WorkerFailed

from dflashtui.errors import DflashError
from dflashtui.model.action import Verb
from dflashtui.model.command import HostCommand
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.failed_run import UnitText
from dflashtui.ops.audit import who
from dflashtui.ops.commands import run_command
from dflashtui.ops.remedy_asking import remedy_confirmation
from dflashtui.text import printable
from dflashtui.tui.acting import audit_for, wished
from dflashtui.tui.crash.asking import remedy_question
from dflashtui.tui.crash.command import CommandScreen
from dflashtui.tui.crash.later import run_later
from dflashtui.tui.dialogs.confirm import Confirm
from dflashtui.tui.subject import unit_subject

if TYPE_CHECKING:
    from dflashtui.model.action import UnitAction
    from dflashtui.model.command import CommandResult
    from dflashtui.model.gpu import Xid
    from dflashtui.ops.before import GpusBefore
    from dflashtui.ops.failed_runs import FailedRuns
    from dflashtui.ops.remedy_value import HostRemedy
    from dflashtui.tui.acting import Actor
    from dflashtui.tui.crash.card import CrashCard
    from dflashtui.tui.crash.starts import Starts
    from dflashtui.tui.crash.state import CardState
    from dflashtui.tui.shell import Shell
    from dflashtui.tui.subject import Subject


class Desk:
    """One for a screen."""

    def __init__(self, screen: Shell, actor: Actor, kept: FailedRuns, before: GpusBefore, starts: Starts) -> None:
        self._screen = screen
        self._actor = actor
        self._kept = kept
        self._before = before
        self._starts = starts
        self._audit = audit_for(is_demo=screen.fleet.is_demo)
        self._xids: dict[Subject, tuple[Xid, ...]] = {}

    def renewed(self, state: CardState) -> CardState:
        """The same card with what is known of the unit now."""
        subject = unit_subject(state.host, state.unit)
        start = self._starts.of(subject)
        status = self._screen.newest.unit(subject)
        return replace(state, now=self._screen.clock(), status=status, update=start.update if start else state.update)

    def may_change(self, host: str) -> bool:
        """Whether anything may be run there."""
        return not self._screen.options.read_only and not self._screen.fleet.snapshot(host).read_only

    async def read(self, card: CrashCard, run_id: str | None = None) -> None:
        """Read the failed run whole, then ask the host what to do."""
        from dflashtui.ops.post_mortem import post_mortem  # noqa: PLC0415 - see `Crashes`

        host, unit = card.subject.host, card.subject.name
        screen = self._screen
        found = await post_mortem(
            screen.fleet, screen.config, self._kept, host, unit, run_id=run_id, before=self._before
        )
        self._xids[card.subject] = found.xids
        self._warn_of_folder()
        runs = self._kept.of(host, unit)
        number = runs.index(found.run) + 1 if found.run in runs else 0
        card.show(run=found.run, suspected=None, number=number, total=len(runs))
        await self.ask(card)

    async def ask(self, card: CrashCard) -> None:
        """Remedies for what the card is about."""
        card.show(remedies=await self._remedies(card))

    async def _remedies(self, card: CrashCard) -> tuple[HostRemedy, ...]:
        from dflashtui.ops.remedy import remedies_on  # noqa: PLC0415 - see `Crashes`

        cause = card.state.cause
        if cause is None:
            return ()
        screen, subject = self._screen, card.subject
        xids = self._xids.get(subject, ())
        return await remedies_on(screen.fleet, screen.config, subject.host, subject.name, cause, xids)

    async def show_run(self, card: CrashCard, number: int) -> None:
        """Another of the kept runs, the newest is 1."""
        runs = self._kept.of(card.subject.host, card.subject.name)
        if number <= len(runs):
            card.show(run=runs[number - 1], number=number, total=len(runs), suspected=None)
            await self.ask(card)

    async def run_remedy(self, card: CrashCard, remedy: HostRemedy, *, restart: bool) -> None:
        """From the question to the result; `restart`: the unit is restarted after a success."""
        command = HostCommand(
            host=card.subject.host, unit=card.subject.name, argv=remedy.argv or (), title=remedy.title
        )
        then = self.restarts(card) if restart else ()
        if not await self._is_wanted(command, remedy, then):
            return
        if not await self._still_holds(card, remedy):
            self._tell("not sent: the host says otherwise by now; look at the card again", Severity.WARN, command)
            return
        result = await self._run(command, has_more=bool(then))
        if result is not None and result.ok and then:
            await self._actor.carry_out_confirmed(then)
        elif result is not None and result.ok:
            await self.ask(card)

    def restarts(self, card: CrashCard) -> tuple[UnitAction, ...]:
        """A restart of the card's unit, or a start where that is what fits; the start limit is lifted if it was hit."""
        subjects, picture, config = (card.subject,), self._screen.newest, self._screen.config
        again = wished(Verb.RESTART, subjects, picture, config) or wished(Verb.START, subjects, picture, config)
        unit = picture.unit(card.subject)
        is_limited = unit is not None and unit.result == "start-limit-hit"
        return (*(wished(Verb.RESET_FAILED, subjects, picture, config) if is_limited else ()), *again)

    async def restart(self, card: CrashCard) -> None:
        """After a question."""
        await self._actor.carry_out(self.restarts(card))

    async def _is_wanted(self, command: HostCommand, remedy: HostRemedy, then: tuple[UnitAction, ...]) -> bool:
        picture = self._screen.newest
        asked = remedy_confirmation(command, remedy, then, {host.name: host for host in picture.hosts})
        return await self._screen.app.push_screen_wait(Confirm(remedy_question(asked, command, remedy, then)))

    async def _still_holds(self, card: CrashCard, remedy: HostRemedy) -> bool:
        """A card may stand for hours: what it offers is checked once more before it is sent."""
        fresh = await self._remedies(card)
        holds = any(one.argv == remedy.argv for one in fresh)
        if not holds:
            card.show(remedies=fresh)
        return holds

    async def _run(self, command: HostCommand, *, has_more: bool) -> CommandResult | None:
        screen = self._screen
        sheet = CommandScreen(command, end=lambda: worker.cancel())  # noqa: PLW0108 - it is made below

        async def running() -> CommandResult:
            read_only = screen.options.read_only
            return await run_command(command, screen.fleet, self._audit, sheet.line, read_only=read_only)

        await screen.app.push_screen(sheet)
        worker = run_later(screen, "command", running, exit_on_error=False)
        try:
            result = await worker.wait()
        except WorkerCancelled:
            sheet.dismiss(None)
            self._tell(f"{command.command}: ended before it was done", Severity.WARN, command)
            return None
        except WorkerFailed:
            sheet.dismiss(None)
            raise
        self._told(command, result)
        if result.ok and has_more:
            sheet.dismiss(None)
        else:
            sheet.end(result)
        return result

    def _told(self, command: HostCommand, result: CommandResult) -> None:
        severity = {True: Severity.OK, False: Severity.BAD, None: Severity.WARN}[result.ok]
        words = f"{command.command}: {result.result}" if result.ok else result.message
        self._tell(f"{words} · {result.duration_seconds:.1f} s · by {who()}", severity, command)

    def _tell(self, words: str, severity: Severity, command: HostCommand) -> None:
        kind = EventKind.ACTION
        event = Event(
            at=self._screen.clock(),
            kind=kind,
            severity=severity,
            host=command.host,
            unit=command.unit,
            message=words,
        )
        self._screen.tell(event)
        level = {Severity.BAD: "error", Severity.WARN: "warning"}.get(severity, "information")
        self._screen.notify(printable(words, limit=300), severity=level, markup=False, timeout=5)  # type: ignore[arg-type]

    async def keep_good(self, subject: Subject) -> None:
        """A start went well: its unit file is what later failures are compared with."""
        try:
            text = await self._screen.fleet.unit_file(subject.host, subject.name)
        except DflashError:
            return
        self._kept.keep_text(subject.host, subject.name, UnitText(at=self._screen.clock(), text=text))
        self._warn_of_folder()

    async def keep_failed(self, subject: Subject) -> None:
        """A unit failed while nobody asked for it: its evidence is kept all the same."""
        from dflashtui.ops.post_mortem import post_mortem  # noqa: PLC0415 - see `Crashes`

        screen = self._screen
        await post_mortem(screen.fleet, screen.config, self._kept, subject.host, subject.name, before=self._before)
        self._warn_of_folder()

    def _warn_of_folder(self) -> None:
        problem, self._kept.problem = self._kept.problem, None
        if problem:
            self._screen.warn(problem)
