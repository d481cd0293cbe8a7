"""The main screen: what can be done to the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding

from dflashtui.errors import DflashError
from dflashtui.mask import masked
from dflashtui.model.action import UnitAction, Verb
from dflashtui.ops.masked_text import masked_lines
from dflashtui.text import printable
from dflashtui.tui import questions
from dflashtui.tui.acting import wished
from dflashtui.tui.compare.keys import COMPARE_CHOICE
from dflashtui.tui.copying import copy_choices
from dflashtui.tui.details.gpu import gpu_lines
from dflashtui.tui.details.host import host_lines
from dflashtui.tui.details.service import service_lines
from dflashtui.tui.details.unit import unit_lines
from dflashtui.tui.dialogs.confirm import LightConfirm, Question
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.places import Place
from dflashtui.tui.preflight.keys import PREFLIGHT_CHOICE, Preflights
from dflashtui.tui.rows.problems import what_of
from dflashtui.tui.serving.choices import ANSWERS, service_choices
from dflashtui.tui.serving.desk import serve
from dflashtui.tui.styled import Cell, cell
from dflashtui.tui.subject import Kind, Subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType
    from textual.command import Provider


PAGE_WIDTH = 100
CHANGE_CHOICES = (
    Choice("p", "push …", "put its unit file there, no restart", "push"),
    Choice("d", "deploy …", "push, restart, and watch it until it is ready", "deploy"),
    Choice("b", "roll back …", "put back what the last push replaced", "undo"),
)
CHANGES = frozenset(choice.value for choice in CHANGE_CHOICES)


def commands() -> type[Provider]:
    """What the palette offers; imported when it is opened."""
    from dflashtui.tui.palette import Commands  # noqa: PLC0415 - seldom needed

    return Commands


class MainScreen(Preflights):
    """The console."""

    COMMANDS = {commands}  # noqa: RUF012 - Textual declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "a", "actions", "actions", id="row.actions", tooltip="What can be done to the row, or to the marked rows"
        ),
        Binding("R", "restart", "restart", id="unit.restart", tooltip="Restart the unit; asks first"),
        Binding("l", "log", "log", id="unit.log", tooltip="The log of the unit, or of the marked units in one"),
        Binding(
            "p",
            "run_before",
            "run before",
            show=False,
            id="unit.run_before",
            tooltip="The log of the run before this one",
        ),
        Binding("d", "details", "details", id="row.details", tooltip="Everything about the row"),
        Binding(
            "y", "unit_file", "unit file", show=False, id="unit.file", tooltip="The unit file as loaded, with drop-ins"
        ),
        Binding("c", "copy", "copy", id="row.copy", tooltip="Copy name, path, pid, JSON, command"),
        Binding("s", "shell", "shell", show=False, id="row.shell", tooltip="A shell on the host; the console waits"),
        Binding("o", "sort", "sort", show=False, id="list.sort", tooltip="Sort by a column"),
    ]

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the keys act on: the marked rows, else the one thing under the cursor."""
        marked = self.list_pane.rows.chosen if self.list_pane is not None else ()
        return marked or ((self.subject,) if self.subject is not None else ())

    @property
    def subject(self) -> Subject | None:
        """The row, or the thing whose details or log have the keys; without rows, the host that is looked at."""
        row = self.list_pane.rows.current if self.list_pane is not None else None
        return row if row is not None or self.view is None else self.view.row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key works now, on this row: the footer and the palette show nothing else."""
        if self.list_pane is not None and self.list_pane.is_filtering:
            return action == "step_back"
        allowed: dict[str, Callable[[], bool]] = {
            "open": lambda: self.row is not None,
            "actions": lambda: bool(self._choices()),
            "restart": lambda: bool(self._wished(Verb.RESTART)),
            "details": lambda: self.subject is not None and self.subject.kind in {Kind.HOST, Kind.UNIT, Kind.GPU},
            "copy": lambda: self.subject is not None and self.subject.kind is not Kind.GROUP,
            "shell": lambda: self.subject is not None and bool(self.subject.host) and not self.fleet.is_demo,
            "log": self._is_unit,
            "run_before": self._is_unit,
            "unit_file": self._is_unit,
            "filter": lambda: self.list_pane is not None,
            "problems": lambda: self.list_pane is not None,
            "sort": lambda: self.list_pane is not None,
        }
        return allowed[action]() if action in allowed else super().check_action(action, parameters)

    def _is_unit(self) -> bool:
        return self.subject is not None and self.subject.kind is Kind.UNIT

    def _wished(self, verb: Verb) -> tuple[UnitAction, ...]:
        return wished(verb, self._changeable(), self.newest, self.config)

    def _changeable(self) -> tuple[Subject, ...]:
        """The units among the subjects that may be changed at all."""
        if self.options.read_only:
            return ()
        hosts = {host.name: host for host in self.newest.hosts}
        return tuple(
            subject
            for subject in self.subjects
            if subject.kind is Kind.UNIT and subject.host in hosts and not hosts[subject.host].read_only
        )

    def _choices(self) -> tuple[Choice, ...]:
        verbs = questions.verb_choices(self._changeable(), self.newest)
        looks = self._look_choices()
        host = self.newest.host(self.subject.host) if self.subject else None
        if host is not None and host.xids and self.subject is not None and self.subject.kind in {Kind.HOST, Kind.GPU}:
            words = f"{len(host.xids)} Xid fault{'s' * (len(host.xids) > 1)}: seen, no longer an alarm"
            return (*verbs, Choice("x", "acknowledge", words, "acknowledge"), *looks)
        requests = service_choices(self.subjects, self.newest, self.config, may_change=bool(self._changeable()))
        return (*verbs, *(CHANGE_CHOICES if self.pushable_units else ()), *requests, *looks)

    def _look_choices(self) -> tuple[Choice, ...]:
        """What only looks is in the menu beside what changes; its keys work without it."""
        if self.options.read_only:
            return ()
        return (PREFLIGHT_CHOICE,) * bool(self.checkable_units) + (COMPARE_CHOICE,) * bool(self.comparable)

    @work(group="action")
    async def action_actions(self) -> None:
        """The menu of what fits."""
        subjects = self.subjects
        answer = await self.app.push_screen_wait(Menu(self._title(subjects), self._choices()))
        if answer == "acknowledge":
            self.fleet.acknowledge(subjects[0].host)
        elif answer in ANSWERS:
            await serve(self, answer, subjects)
        elif answer in CHANGES:
            await self.change(answer, subjects)
        elif answer in {PREFLIGHT_CHOICE.value, COMPARE_CHOICE.value}:
            await self.run_action(answer)
        elif answer is not None:
            await self._act(Verb(answer), subjects)

    async def _act(self, verb: Verb, subjects: tuple[Subject, ...]) -> None:
        actions = wished(verb, subjects, self.newest, self.config)
        if verb is Verb.KILL:
            title = (("signal to ", ""), *self._title(subjects))
            signal = await self.app.push_screen_wait(Menu(title, questions.signal_choices()))
            if signal is None:
                return
            actions = tuple(action.model_copy(update={"signal": signal}) for action in actions)
        await self.actor.carry_out(actions)

    @work(group="action")
    async def action_restart(self) -> None:
        """Restart, after a question."""
        await self.actor.carry_out(self._wished(Verb.RESTART))

    def _title(self, subjects: tuple[Subject, ...]) -> Cell:
        if len(subjects) != 1:
            return cell(f"{len(subjects)} marked", "strong")
        subject = subjects[0]
        if subject.kind is Kind.HOST:
            return cell(printable(subject.host), "strong")
        return (*what_of(subject), (f" on {printable(subject.host)}", "dim"))

    async def action_log(self) -> None:
        """The log of the unit, alone; of marked units, in one stream."""
        if self.subject is not None:
            self.merge_next(self.subjects)
            await self.enter(Place("logs", self.subjects[0]))

    @work(group="older", exclusive=True)
    async def action_run_before(self) -> None:
        """The log of the run before this one."""
        subject = self.subject
        if subject is None:
            return
        if self.log_pane is None:
            await self.enter(Place("logs", subject))
        try:
            await self.show_run_before(subject)
        except DflashError as error:
            self.notify(printable(str(error)), severity="warning", markup=False)

    def action_details(self) -> None:
        """Everything about the row, on pages."""
        if self.subject is not None:
            self._show_pages(self.subject, "overview")

    def action_unit_file(self) -> None:
        """The unit file, with drop-ins."""
        if self.subject is not None:
            self._show_pages(self.subject, "unit file")

    def leave(self) -> None:
        """End the console."""
        self._leave_asking()

    @work(group="leave", exclusive=True)
    async def _leave_asking(self) -> None:
        """Ask while an action runs, for its outcome would not be seen."""
        if self.actor.running:
            title: Cell = (
                (f"{self.actor.running} actions are running: ", "warn"),
                ("leave without their outcome?", ""),
            )
            if not await self.app.push_screen_wait(LightConfirm(Question(title, (), "leave", ""))):
                return
        self.app.exit()

    def _show_pages(self, subject: Subject, page: str) -> None:
        pages: dict[str, tuple[Cell, ...]] = {"overview": self._overview(subject)}
        if subject.kind is Kind.UNIT:
            pages |= {"properties": (), "unit file": ()}
        sheet = TextScreen(self._title((subject,)), pages, page)
        self.app.push_screen(sheet)
        if subject.kind is Kind.UNIT:
            self._fill_pages(sheet, subject)

    def _overview(self, subject: Subject) -> tuple[Cell, ...]:
        picture = self.newest
        host, unit, gpu = picture.host(subject.host), picture.unit(subject), picture.gpu(subject)
        if subject.kind is Kind.UNIT and host is not None and unit is not None:
            samples = self.feed.history.of_service(subject.host, unit.name)
            usual = self.feed.history.good_start(subject.host, unit.name)
            figures = service_lines(unit, samples, picture.now, PAGE_WIDTH, usual)
            return unit_lines(host, unit, picture.now, PAGE_WIDTH, figures)
        if subject.kind is Kind.GPU and gpu is not None:
            return gpu_lines(gpu, self.feed.history.of(subject.host, gpu.index), picture.now, PAGE_WIDTH)
        return host_lines(host, picture.now, PAGE_WIDTH) if host is not None else (cell("no longer there", "dim"),)

    @work(group="pages", exclusive=True)
    async def _fill_pages(self, sheet: TextScreen, subject: Subject) -> None:
        """Ask the host for what the snapshot does not hold."""
        try:
            text = await self.fleet.unit_file(subject.host, subject.name)
            sheet.fill("unit file", tuple(map(_file_line, masked_lines(text.splitlines()))))
        except DflashError as error:
            sheet.fill("unit file", (cell(printable(str(error)), "warn"),))
        try:
            found = await self.fleet.properties(subject.host, subject.name)
            sheet.fill("properties", tuple(_property(name, value) for name, value in found.items()))
        except DflashError as error:
            sheet.fill("properties", (cell(printable(str(error)), "warn"),))

    @work(group="menu", exclusive=True)
    async def action_copy(self) -> None:
        """Choose what to copy."""
        subject = self.subject
        if subject is None:
            return
        choices = copy_choices(subject, self.newest, self.config)
        text = await self.app.push_screen_wait(Menu((("copy from ", ""), *self._title((subject,))), choices))
        if text is not None:
            self.copy(text)

    @work(group="menu", exclusive=True)
    async def action_sort(self) -> None:
        """Choose a column."""
        pane = self.list_pane
        if pane is None:
            return
        columns = [(place, column) for place, column in enumerate(pane.rows.table.columns) if column.letter]
        choices = [Choice(column.letter, column.title or column.id, "", str(place)) for place, column in columns]
        choices.append(Choice("o", "inventory order", "as in hosts.toml", ""))
        answer = await self.app.push_screen_wait(Menu(cell(f"sort {pane.noun} by", ""), tuple(choices)))
        if answer is not None:
            pane.rows.sort_by(int(answer) if answer else None)


def _file_line(line: str) -> Cell:
    """A line of a unit file: comments dim, sections strong."""
    text = printable(line)
    if text.lstrip().startswith(("#", ";")):
        return cell(text, "dim")
    if text.startswith("["):
        return cell(text, "title")
    key, equals, value = text.partition("=")
    return ((key, "accent"), (equals, "dim"), (value, "")) if equals else cell(text)


def _property(name: str, value: str) -> Cell:
    return ((f"{printable(name):<34} ", "dim"), (printable(masked(value), limit=500), ""))
