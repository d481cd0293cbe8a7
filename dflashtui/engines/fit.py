"""Whether an environment fits together, and onto its machine. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.fit_binaries import binary_misfits
from dflashtui.engines.fit_versions import version_misfits
from dflashtui.engines.packages import BINARY

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment
    from dflashtui.model.misfit import Misfit


def misfits(environment: Environment) -> tuple[Misfit, ...]:
    """What does not fit, worst first: a rule by number is left out where the files themselves prove the same."""
    proven = binary_misfits(environment)
    known = {about for one in proven if one.id.startswith(("generation:", "symbols:")) for about in one.about}
    by_number = (one for one in version_misfits(environment) if not (_is_guess(one) and set(one.about) <= known))
    order = ("fatal", "warning", "unknown", "note")
    return tuple(sorted((*by_number, *proven), key=lambda one: order.index(one.level)))


def _is_guess(misfit: Misfit) -> bool:
    name, _, about = misfit.id.partition(":")
    return name in BINARY and about in {"torch", "cuda"}
