"""What the action menu offers for services. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.unit import ActiveState
from dflashtui.ops.bench_switch import must_share
from dflashtui.tui.dialogs.menu import Choice
from dflashtui.tui.subject import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

SMOKE, BENCH = "smoke", "bench"
ANSWERS = frozenset({SMOKE, BENCH})
PAIR = 2


def service_choices(
    subjects: Sequence[Subject], picture: Picture, config: Config, *, may_change: bool
) -> tuple[Choice, ...]:
    """Smoke for one unit that runs; a bench of one, or an A/B of two marked ones. Nothing on a read-only console."""
    if picture.is_demo or picture.read_only or not subjects or any(one.kind is not Kind.UNIT for one in subjects):
        return ()
    places = [(one.host, one.name) for one in subjects]
    if len(subjects) == 1 and _runs(subjects[0], picture):
        return (
            Choice("o", SMOKE, "ask it for one real completion", SMOKE),
            Choice("e", BENCH, "measure it with real requests", BENCH),
        )
    takes_turns = must_share(config, places)
    if len(subjects) == PAIR and (may_change if takes_turns else all(_runs(one, picture) for one in subjects)):
        hint = "they share a GPU: stopped and started in turn" if takes_turns else "the same requests to both"
        return (Choice("e", "bench A/B …", hint, BENCH),)
    return ()


def _runs(subject: Subject, picture: Picture) -> bool:
    unit = picture.unit(subject)
    return unit is not None and unit.active_state is ActiveState.ACTIVE
