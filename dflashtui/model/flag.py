"""Options of an engine's command line."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dflashtui.model.environment import Told


class Flag(Told):
    """One option, as the engine's own text makes it."""

    names: tuple[str, ...]
    takes: Literal["nothing", "one", "unknown"] = "unknown"
    """How many values follow it."""
    choices: tuple[str, ...] | None = None
    type_name: Literal["int", "float"] | None = Field(default=None, alias="type")
    is_deprecated: bool = False


class FlagList(Told):
    """The options of one release."""

    engine: str
    version: str | None = None
    flags: tuple[Flag, ...] = ()
    is_whole: bool = True
    """False: it takes more than is listed."""
