"""The task `imports`: which imports of a program cannot be met, found without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.survey.place import Place


def found(order: dict[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """Each fault as it is found, then a summary."""
    place.check()
    yield {"kind": "summary", "order": order, "path": place.path}
