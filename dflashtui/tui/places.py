"""Where the console is, and the way back. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dflashtui.tui.subject import Subject


class Place(NamedTuple):
    """A view, and what it looks at."""

    view: str
    subject: Subject | None = None


FLEET = Place("fleet")


@dataclass(slots=True)
class Way:
    """The places that were gone through."""

    here: Place = FLEET
    last: Place = FLEET
    """Where `-` goes."""
    above: list[Place] = field(default_factory=list)
    """Where `escape` and `q` go, nearest last."""

    def enter(self, place: Place) -> None:
        """Go one level in; `up` comes back."""
        if place != self.here:
            self.above.append(self.here)
            self._move(place)

    def jump(self, place: Place) -> None:
        """Go to a view by its number; above it is the fleet."""
        if place != self.here:
            self.above = [] if place.view == FLEET.view else [FLEET]
            self._move(place)

    def up(self) -> bool:
        """One level up; false at the top."""
        if not self.above:
            return False
        self._move(self.above.pop())
        return True

    def back(self) -> None:
        """To the place before this one, and with the next press here again."""
        self._move(self.last)

    def look_at(self, subject: Subject | None) -> None:
        """Remember what this place looks at, for the way back."""
        self.here = self.here._replace(subject=subject)

    def _move(self, place: Place) -> None:
        self.last, self.here = self.here, place
