"""Something in an environment that does not fit together."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.base import Value


class Misfit(Value):
    """One rule that is broken. Texts are of the host in part: not yet `printable()`."""

    id: str
    """Stable: the rule and the thing."""
    level: Literal["fatal", "warning", "note", "unknown"]
    about: tuple[str, ...]
    """What it is about: normal names of distributions, `driver`, `glibc`, `gpus`, …"""
    message: str
    evidence: tuple[str, ...] = ()
    remedy: str | None = None
    install: tuple[str, ...] = ()
    """Requirements that would cure it."""
    uninstall: tuple[str, ...] = ()
    """Distributions that are to go."""
