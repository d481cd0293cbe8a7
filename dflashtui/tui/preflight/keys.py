"""The part of the main screen that looks for faults before a start."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from dflashtui.tui.compare.keys import Compares
from dflashtui.tui.dialogs.menu import Choice
from dflashtui.tui.subject import Kind

if TYPE_CHECKING:
    from textual.binding import BindingType

    from dflashtui.tui.preflight.desk import PreflightDesk
    from dflashtui.tui.subject import Subject

PREFLIGHT_CHOICE = Choice("v", "preflight …", "every fault that shows without a start", "preflight")


class Preflights(Compares):
    """`v` on a unit, or on the marked ones."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "v", "preflight", "preflight", show=False, id="unit.preflight", tooltip="Faults that show without a start"
        ),
    ]

    @cached_property
    def _preflight_desk(self) -> PreflightDesk:
        from dflashtui.tui.preflight.desk import PreflightDesk  # noqa: PLC0415 - seldom needed

        return PreflightDesk(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The demo's hosts have nothing to look at."""
        if action == "preflight":
            return bool(self.checkable_units)
        return super().check_action(action, parameters)

    @property
    def checkable_units(self) -> tuple[Subject, ...]:
        """The subjects, where all of them are units."""
        is_units = all(one.kind is Kind.UNIT for one in self.subjects)
        return self.subjects if is_units and not self.fleet.is_demo else ()

    def action_preflight(self) -> None:
        """Look, and show what is found."""
        from dflashtui.tui.preflight.words import Place  # noqa: PLC0415 - as above

        self._preflight_desk.open([Place(one.host, one.name) for one in self.checkable_units])
