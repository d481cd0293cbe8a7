"""The part of the main screen that changes unit files: difference, push, deploy, edit."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding

from dflashtui.errors import DflashError
from dflashtui.text import printable
from dflashtui.tui.changes.answer import Answer
from dflashtui.tui.crash.crashes import Crashes
from dflashtui.tui.subject import Kind, unit_subject
from dflashtui.tui.tools import run_in_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from dflashtui.tui.changes.desk import ChangeDesk
    from dflashtui.tui.subject import Subject


class Changes(Crashes):
    """`D` compares, `P` pushes, `e` edits; deploy and roll-back are in the action menu."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("D", "difference", "difference", show=False, id="unit.diff", tooltip="What a push would change"),
        Binding("P", "push", "push", show=False, id="unit.push", tooltip="Push the unit file; asks first"),
        Binding(
            "e", "edit", "edit", show=False, id="unit.edit", tooltip="Edit the local template, then see the difference"
        ),
    ]

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the keys act on."""
        raise NotImplementedError

    @cached_property
    def _change_desk(self) -> ChangeDesk:
        from dflashtui.tui.changes.desk import ChangeDesk  # noqa: PLC0415 - seldom needed

        return ChangeDesk(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only units of the inventory are rendered; the demo's hosts have no unit files."""
        match action:
            case "difference" | "edit":
                return bool(self.defined_units)
            case "push":
                return bool(self.pushable_units)
            case _:
                return super().check_action(action, parameters)

    @property
    def defined_units(self) -> tuple[Subject, ...]:
        """The subjects, where all are one unit that the inventory defines."""
        units = [one for one in self.subjects if one.kind is Kind.UNIT]
        is_one = len({one.name for one in units}) == 1 and len(units) == len(self.subjects)
        is_defined = is_one and self.config.unit(units[0].name) is not None
        return tuple(units) if is_defined and not self.fleet.is_demo else ()

    @property
    def pushable_units(self) -> tuple[Subject, ...]:
        """The same, where they may be changed."""
        units = self.defined_units
        may = not self.options.read_only and not any(self.fleet.snapshot(one.host).read_only for one in units)
        return units if may else ()

    @work(group="changes")
    async def action_difference(self) -> None:
        """Over all hosts of the unit, or over the marked ones."""
        units = self.defined_units
        if units:
            await self._differ(units[0].name, units[0].host, self._hosts_of(units))

    @work(group="changes")
    async def action_push(self) -> None:
        """To the marked hosts, or to the row's."""
        units = self.pushable_units
        if units:
            answer = await self._change_desk.push(units[0].name, [one.host for one in units])
            await self._go_on(answer, units[0].name, [one.host for one in units])

    @work(group="changes")
    async def action_edit(self) -> None:
        """The console waits for the editor; the difference is shown when it comes back."""
        units = self.defined_units
        if units:
            await self._edit(units[0].name, units[0].host, self._hosts_of(units))

    async def change(self, wish: str, units: Sequence[Subject]) -> None:
        """What the action menu offers: `push`, `deploy`, `undo`."""
        hosts = [one.host for one in units]
        await self._go_on(Answer(wish, tuple(hosts)), units[0].name, hosts)

    async def undo_push(self, subject: Subject) -> None:
        """From the crash card."""
        await self._go_on(Answer("undo", (subject.host,)), subject.name, [subject.host])

    def _hosts_of(self, units: Sequence[Subject]) -> list[str]:
        """Marks say which; a single row stands for its unit wherever the inventory has it."""
        if len(units) > 1:
            return [one.host for one in units]
        defined = self.config.unit(units[0].name)
        wanted = (*(defined.hosts if defined else ()), units[0].host)
        return [host.name for host in self.config.hosts if host.name in wanted]

    async def _differ(self, unit: str, host: str, hosts: Sequence[str]) -> None:
        await self._go_on(await self._change_desk.difference(unit, host, hosts), unit, hosts)

    async def _go_on(self, answer: Answer | None, unit: str, hosts: Sequence[str]) -> None:
        """From one wish to the next, until there is none."""
        while answer is not None:
            match answer.wish:
                case "push":
                    answer = await self._change_desk.push(unit, answer.hosts)
                case "deploy":
                    answer = await self._change_desk.deploy(unit, answer.hosts)
                case "undo":
                    answer = await self._change_desk.undo(unit, answer.hosts)
                case "edit":
                    await self._edit(unit, answer.hosts[0] if answer.hosts else hosts[0], hosts)
                    return
                case _:
                    self._open(unit_subject(answer.hosts[0], unit))
                    return

    async def _edit(self, unit: str, host: str, hosts: Sequence[str]) -> None:
        from dflashtui.tui.changes.editing import editor_argv, file_to_edit, read_again  # noqa: PLC0415 - as above

        path = file_to_edit(self.config, unit)
        if path is None:
            self.notify("no inventory file to edit: write one first", severity="warning", markup=False)
            return
        try:
            with self.app.suspend():
                status = await run_in_terminal(editor_argv(path))
            self.config, later = read_again(self.config)
        except SuspendNotSupported:
            self.notify(f"this terminal cannot be lent to an editor: edit {path}", severity="warning", markup=False)
            return
        except (DflashError, OSError) as wrong:
            self.notify(printable(str(wrong)), severity="error", markup=False, timeout=15)
            return
        if status:
            self.notify(f"the editor ended with status {status}", severity="warning", markup=False)
        for words in later:
            self.notify(f"{words}: start the console again to see them", severity="warning", markup=False)
        await asyncio.sleep(0)
        await self._differ(unit, host, hosts)
