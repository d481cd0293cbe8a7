"""Preflight: what the installed packages ask of each other, packages present twice, leftovers of another CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.fit_requirements import requirement_misfits
from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.preflight_environment import environment_for, findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.ops.preflight_question import Question

CHECK = "requirements"


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Findings worst first. Raises `TransportLost`."""
    environment = await environment_for(question, CHECK, binaries=())
    if isinstance(environment, PreflightFinding):
        return (environment,)
    return await findings(question, CHECK, environment, requirement_misfits(environment))
