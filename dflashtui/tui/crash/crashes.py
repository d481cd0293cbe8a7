"""The part of the main screen that watches starts and opens crash cards."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding
from textual.widgets import Input

from dflashtui.errors import DflashError
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.journal import JournalEntry
from dflashtui.model.unit import ActiveState
from dflashtui.ops.before import GpusBefore, is_alive
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.failed_runs import FailedRuns
from dflashtui.paths import state_folder
from dflashtui.text import printable
from dflashtui.tui.acting import Actor
from dflashtui.tui.crash.card import CrashCard
from dflashtui.tui.crash.desk import Desk
from dflashtui.tui.crash.later import run_later
from dflashtui.tui.crash.starts import Start, Starts
from dflashtui.tui.crash.state import CardState
from dflashtui.tui.crash.strip import FAILURES, StartStrip
from dflashtui.tui.crash.words import told
from dflashtui.tui.log.prompt import LogPrompt
from dflashtui.tui.messages import HostChanged
from dflashtui.tui.places import Place
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell
from dflashtui.tui.subject import Kind, Subject, unit_subject
from dflashtui.tui.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.failed_run import FailedRun
    from dflashtui.model.finding import Cause
    from dflashtui.model.probe import ProbeResult, ProbeUpdate
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.app import Options

STRIP_SECONDS = 1.0
NEEDED = ("dflashtui.ops.probe", "dflashtui.ops.post_mortem", "dflashtui.ops.remedy")
KEEP_AGAIN_SECONDS = 120.0
"""A unit that loops is read once in a while, not at every round."""
LOG_LINES = 5000
SEARCH_CHARACTERS = 80


class Crashes(Tools):
    """`x` on a unit that failed; cards that open by themselves; a line about what is starting."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "crash", "why", id="unit.crash", tooltip="Crash card: why the unit failed, and what to do"),
        Binding(
            "W",
            "leave_starts",
            "stop watching",
            show=False,
            id="start.leave",
            tooltip="Watch the starts no longer; they go on",
        ),
    ]

    def __init__(self, config: Config, fleet: Fleet, options: Options, clock: Callable[[], datetime]) -> None:
        super().__init__(config, fleet, options, clock)
        folder = None if fleet.is_demo else state_folder()
        evidence = Evidence(folder)
        self.feed.history.good_start = evidence.good_start
        self.starts = Starts(self, evidence, self._told, self._ended)
        self.actor = Actor(self, self.starts)
        self._failed = FailedRuns(folder)
        self._gpus_before = GpusBefore()
        self._desk = Desk(self, self.actor, self._failed, self._gpus_before, self.starts)
        self._lived: dict[Subject, str] = {}
        self._kept_at: dict[Subject, datetime] = {}

    @property
    def subject(self) -> Subject | None:
        """The one thing under the cursor."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The line stands above the footer."""
        yield from super().compose()
        yield StartStrip(id="starts")

    async def on_mount(self) -> None:
        """Ages on the line go on between samples."""
        self.set_interval(STRIP_SECONDS, self._draw_strip)
        run_later(self, "get ready", self._get_ready)

    async def _get_ready(self) -> None:
        """Import what a crash needs behind the first pictures: neither they nor the card wait for it."""
        for name in NEEDED:
            await asyncio.to_thread(import_module, name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key works now."""
        match action:
            case "crash":
                return self._crashed is not None
            case "leave_starts":
                return self.starts.going
            case _:
                return super().check_action(action, parameters)

    @property
    def _crashed(self) -> Subject | None:
        """The unit that a card could be about: of the row, else the one whose start will fail."""
        subject = self._unit_of(self.subject)
        if subject is not None and self._has_card(subject):
            return subject
        start = self.starts.suspected
        return start.subject if start else None

    def _unit_of(self, subject: Subject | None) -> Subject | None:
        if subject is None or subject.kind is Kind.UNIT:
            return subject
        if subject.kind is not Kind.EVENT:
            return None
        picture = self.picture
        event = picture.events[int(subject.name) - picture.first_event]
        return unit_subject(event.host, event.unit) if event.host and event.unit else None

    def _has_card(self, subject: Subject) -> bool:
        unit = self.newest.unit(subject)
        start = self.starts.of(subject)
        is_suspected = start is not None and start.update is not None and start.update.suspected is not None
        return is_suspected or (unit is not None and has_ended(unit)) or bool(self._failed.of(*subject[1:]))

    def action_crash(self) -> None:
        """Open the card of the unit."""
        subject = self._crashed
        if subject is None:
            return
        start = self.starts.of(subject)
        suspected = start.update.suspected if start and start.update and not start.update.result else None
        if suspected is not None:
            self._open(subject, suspected=suspected)
            return
        runs = self._failed.of(subject.host, subject.name)
        unit = self.newest.unit(subject)
        is_newest = bool(runs) and unit is not None and runs[0].invocation_id == unit.invocation_id
        if runs and unit is not None and not has_ended(unit):
            self._open(subject, run=runs[0], is_read=True)
        else:
            self._open(subject, run=runs[0] if is_newest else None)

    def _open(
        self,
        subject: Subject,
        *,
        run: FailedRun | None = None,
        suspected: Cause | None = None,
        run_id: str | None = None,
        is_read: bool = False,
    ) -> None:
        """Show what is known at once; the rest comes when it is read. `is_read`: nothing more is to be read."""
        card = self._card_of(subject)
        if card is None:
            card = CrashCard(subject, self._state(subject), self._desk.renewed, self._want, self._badges)
            self.app.push_screen(card)
        total = len(self._failed.of(subject.host, subject.name))
        card.show(run=run, suspected=suspected, number=1 if run else 0, total=total)
        if suspected or is_read:
            run_later(self, f"card {id(card)}", self._desk.ask, card)
        else:
            run_later(self, f"card {id(card)}", self._desk.read, card, run_id)

    def _state(self, subject: Subject) -> CardState:
        may_change = self._desk.may_change(subject.host)
        can_undo = may_change and not self.fleet.is_demo
        state = CardState(subject.host, subject.name, self.clock(), may_change=may_change, can_undo=can_undo)
        return self._desk.renewed(state)

    @property
    def _badges(self) -> Cell:
        picture = self.newest
        badges: Cell = EMPTY
        for words, holds in ((" DEMO ", picture.is_demo), (" READ-ONLY ", picture.read_only)):
            badges += (*cell(words, "badge"), (" ", "")) if holds else EMPTY
        return badges[:-1]

    def _card_of(self, subject: Subject) -> CrashCard | None:
        cards = (screen for screen in self.app.screen_stack if isinstance(screen, CrashCard))
        return next((card for card in cards if card.subject == subject), None)

    def action_leave_starts(self) -> None:
        """The starts go on, unwatched."""
        self.starts.leave_all()
        self._draw_strip()
        self.refresh_bindings()

    def _draw_strip(self) -> None:
        if self.is_mounted:
            self.query_one(StartStrip).show(self.starts.watched)

    def _told(self, start: Start, update: ProbeUpdate) -> None:
        """News of a start that is watched."""
        self._draw_strip()
        card = self._card_of(start.subject)
        if update.result is None and card is not None and card.state.run is None:
            is_new = card.state.suspected != update.suspected
            card.show(suspected=update.suspected)
            if is_new and update.suspected is not None:
                run_later(self, f"card {id(card)}", self._desk.ask, card)
        if update.result is not None and update.result.verdict in FAILURES and not update.result.is_complete:
            self._show_failure(start, update.result)
        self.refresh_bindings()

    def _ended(self, start: Start, result: ProbeResult) -> None:
        """The verdict, with all lines there."""
        self._draw_strip()
        self._tell_verdict(start, result)
        if result.verdict in FAILURES:
            self._show_failure(start, result)
        elif result.verdict.value == "ready":
            run_later(self, f"good {start.subject}", self._desk.keep_good, start.subject)

    def _show_failure(self, start: Start, result: ProbeResult) -> None:
        """A card for a start that the person asked for; never over a dialog or while something is typed."""
        if result.invocation_id is None:
            return
        from dflashtui.ops.post_mortem import of_probe  # noqa: PLC0415 - see `_get_ready`

        run = of_probe(result, self.newest.unit(start.subject))
        is_open = self._card_of(start.subject) is not None
        is_free = self.app.screen is self and not isinstance(self.focused, Input)
        if is_open or is_free:
            self._open(start.subject, run=run, run_id=result.invocation_id, is_read=not result.is_complete)
        elif result.is_complete:
            self.notify("a start failed: x shows why", severity="warning", markup=False)

    def _tell_verdict(self, start: Start, result: ProbeResult) -> None:
        why = told(result.cause) if result.cause else result.words
        message = f"{result.verdict.value} after {result.elapsed_seconds:.1f} s: {why}"
        failed, ready = result.verdict in FAILURES, result.verdict.value == "ready"
        severity = Severity.BAD if failed else Severity.OK if ready else Severity.WARN
        subject = start.subject
        event = Event(
            at=self.clock(),
            kind=EventKind.UNIT,
            severity=severity,
            host=subject.host,
            unit=subject.name,
            message=message,
        )
        self.tell(event)
        if not failed:
            level = "information" if ready else "warning"
            words = f"{unit_label(subject.name)} on {printable(subject.host)}: {printable(message, limit=200)}"
            self.notify(words, severity=level, markup=False, timeout=5)  # type: ignore[arg-type]

    @on(HostChanged)
    def _remember(self, message: HostChanged) -> None:
        """What was there before a failure, and failures that nobody asked for."""
        snapshot = message.change.snapshot
        self._gpus_before.take(snapshot)
        for unit in snapshot.units or ():
            subject = unit_subject(snapshot.name, unit.name)
            if is_alive(unit) and unit.invocation_id:
                self._lived[subject] = unit.invocation_id
            elif has_failed(unit) and self._lived.pop(subject, None) == unit.invocation_id and self._is_due(subject):
                run_later(self, f"keep {subject}", self._desk.keep_failed, subject)

    def _is_due(self, subject: Subject) -> bool:
        if self.starts.of(subject) is not None:
            return False
        now, last = self.clock(), self._kept_at.get(subject)
        if last is not None and (now - last).total_seconds() < KEEP_AGAIN_SECONDS:
            return False
        self._kept_at[subject] = now
        return True

    @work(group="remedy", exclusive=True)
    async def _want(self, card: CrashCard, what: str, number: int) -> None:
        """What a key of a card asks for."""
        match what:
            case "remedy" if card.state.remedies:
                await self._desk.run_remedy(card, card.state.remedies[number - 1], restart=False)
            case "fix" if card.state.cure:
                await self._desk.run_remedy(card, card.state.cure, restart=True)
            case "restart":
                await self._desk.restart(card)
            case "run":
                await self._desk.show_run(card, number)
            case "log":
                await self._show_log(card)
            case "undo":
                await self.undo_push(card.subject)
            case _:
                pass

    async def undo_push(self, subject: Subject) -> None:
        """Put back what the last push of the unit replaced."""
        raise NotImplementedError

    async def _show_log(self, card: CrashCard) -> None:
        """The log of the run, at the cause."""
        run, subject = card.state.run, card.subject
        if run is None:
            return
        card.dismiss(None)
        await self.enter(Place("logs", subject))
        pane = self.log_pane
        if pane is None or run.invocation_id is None:
            return
        try:
            items = await self.fleet.history(
                subject.host, subject.name, lines=LOG_LINES, invocation_id=run.invocation_id
            )
        except DflashError as error:
            self.notify(printable(str(error)), severity="warning", markup=False)
            return
        self.show_run(subject, items, "failed run")
        if run.cause and any(isinstance(item, JournalEntry) for item in items):
            pane.on_log_prompt_typed(LogPrompt.Typed("/", run.cause.message[:SEARCH_CHARACTERS]))


def has_failed(unit: UnitStatus) -> bool:
    """Whether the newest run of a unit ended as none should."""
    if unit.active_state is ActiveState.FAILED or unit.is_looping:
        return True
    return unit.active_state is ActiveState.INACTIVE and unit.result not in {None, "success"}


def has_ended(unit: UnitStatus) -> bool:
    """Whether there may be a reason to look why: a server that ends with status 0 may have failed, too."""
    return has_failed(unit) or (unit.active_state is ActiveState.INACTIVE and bool(unit.exec_main_code))
