"""Where the console is, and the way back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
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
    above: tuple[Place, ...] = ()
    """Where `escape` and `q` go, nearest last."""
    last: Place = FLEET
    """Where `-` goes."""
    above_last: tuple[Place, ...] = ()
    """What was above it then."""

    def enter(self, place: Place) -> None:
        """Go one level in; `up` comes back."""
        if place != self.here:
            self._move(place, (*self.above, self.here))

    def jump(self, place: Place) -> None:
        """Go to a view by its number; above it is the fleet. The view where we are is no step."""
        if place.view == self.here.view:
            self.here = place
        else:
            self._move(place, () if place.view == FLEET.view else (FLEET,))

    def up(self) -> bool:
        """One level up; false at the top."""
        if not self.above:
            return False
        self._move(self.above[-1], self.above[:-1])
        return True

    def back(self) -> None:
        """To the place before this one, and with the next press here again."""
        self._move(self.last, self.above_last)

    def look_at(self, subject: Subject | None) -> None:
        """Remember what this place looks at, for the way back."""
        self.here = self.here._replace(subject=subject)

    def _move(self, place: Place, above: tuple[Place, ...]) -> None:
        self.last, self.above_last = self.here, self.above
        self.here, self.above = place, above
