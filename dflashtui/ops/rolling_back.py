"""What a roll-back would do on a host, read from the host itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.ops.diff import text_change
from dflashtui.ops.push import Terms
from dflashtui.ops.pushing import PushJob, kept_text, look
from dflashtui.ops.rollback import wanted_before

if TYPE_CHECKING:
    from dflashtui.config.model import Host
    from dflashtui.model.push import UnitLook
    from dflashtui.ops.diff import UnitDiff
    from dflashtui.ops.pushing import Pushed


class RollBack(NamedTuple):
    """One host's way back."""

    job: PushJob
    diff: UnitDiff | None
    """`None`: only overlays go back."""


async def roll_back(fleet: Pushed, host: Host, unit: str) -> RollBack:
    """To what stood there before the last push; see `roll_back_from`."""
    return await roll_back_from(fleet, host, (await look(fleet, host, unit)).look)


async def roll_back_from(fleet: Pushed, host: Host, seen: UnitLook, number: int | None = None) -> RollBack:
    """From what was seen to what stood there before the last push, or to a kept text. Changes nothing.

    Raises `ActionRefused` where nothing can be put back, `DflashError` where the host cannot be asked.
    """
    unit = seen.unit
    wanted = wanted_before(seen, number)
    text = await kept_text(fleet, host, unit, wanted.sha256) if wanted.sha256 else None
    diff = text_change(seen, text, wanted.origin) if wanted.has_file else None
    return RollBack(PushJob(host, wanted, Terms(force=True, seen_sha256=seen.target.sha256)), diff)
