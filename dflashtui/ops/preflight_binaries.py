"""Preflight: whether compiled files fit torch, CUDA, the driver, the C libraries and the unit's GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.fit import misfits
from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.preflight_environment import environment_for, findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.environment import Environment
    from dflashtui.ops.preflight_question import Question

CHECK = "binaries"


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Findings worst first. Raises `TransportLost`."""
    environment = await environment_for(question, CHECK, binaries=None)
    if isinstance(environment, PreflightFinding):
        return (environment,)
    environment = _on_own_gpus(environment, question.unit.gpus)
    return await findings(question, CHECK, environment, misfits(environment))


def _on_own_gpus(environment: Environment, wanted: Sequence[int | str]) -> Environment:
    """With those GPUs alone that the unit may use, by index or UUID."""
    if not wanted:
        return environment
    names = {str(one) for one in wanted}
    own = tuple(gpu for gpu in environment.gpus if str(gpu.index) in names or gpu.uuid in names)
    return environment.model_copy(update={"gpus": own})
