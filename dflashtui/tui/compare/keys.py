"""The part of the main screen that compares the environments of hosts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding

from dflashtui.text import printable
from dflashtui.tui.changes.keys import Changes
from dflashtui.tui.compare.pairing import pairings
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from dflashtui.tui.compare.desk import CompareDesk
    from dflashtui.tui.compare.pairing import Pairing

COMPARE_CHOICE = Choice("=", "compare …", "what differs between the environments", "compare")
LETTERS = "123456789abcdefghijklmnopqrstuvwxyz"


class Compares(Changes):
    """`=` on marked hosts, on marked copies of a unit, or on what has a reference host."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "equals_sign", "compare", "compare", show=False, id="host.compare",
            tooltip="What differs between the environments of the marked hosts, or against the reference host",
        ),
    ]  # fmt: skip

    @cached_property
    def _compare_desk(self) -> CompareDesk:
        from dflashtui.tui.compare.desk import CompareDesk  # noqa: PLC0415 - seldom needed

        return CompareDesk(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Two environments are needed; the demo's hosts have none."""
        if action == "compare":
            return bool(self.comparable)
        return super().check_action(action, parameters)

    @property
    def comparable(self) -> tuple[Pairing, ...]:
        """What the subjects could be compared with."""
        return () if self.fleet.is_demo else pairings(self.subjects, self.config)

    @work(group="compare", exclusive=True)
    async def action_compare(self) -> None:
        """Read, and show what differs; where hosts have several environments, choose first."""
        found = self.comparable
        if len(found) > 1:
            title = cell("compare the environments of", "strong")
            answer = await self.app.push_screen_wait(Menu(title, _choices(found)))
            found = (found[int(answer)],) if answer is not None else ()
        if found:
            self._compare_desk.open(found[0])


def _choices(found: Sequence[Pairing]) -> tuple[Choice, ...]:
    return tuple(
        Choice(letter, unit_label(one.unit or ""), f"on {', '.join(map(printable, one.hosts))}", str(place))
        for place, (letter, one) in enumerate(zip(LETTERS, found, strict=False))
    )
