"""A recorded environment that works: torch 2.11.0+cu130 on an H200, 201 distributions, 844 compiled files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dflashtui.engines.fit import misfits
from dflashtui.engines.fit_requirements import requirement_misfits
from dflashtui.model.environment import Binary, Environment
from dflashtui.ops.environment import environment_of
from dflashtui.ops.survey import sorted_out

RECORDED = Path(__file__).parent.parent / "data/environments/torch-2.11-cu130-h200.jsonl"


@pytest.fixture(scope="module")
def recorded() -> Environment:
    return environment_of(sorted_out("gpu-a", RECORDED.read_bytes().splitlines(), None))


def grave(environment: Environment) -> list[str]:
    found = (*misfits(environment), *requirement_misfits(environment))
    return [one.id for one in found if one.level != "note"]


def test_nothing_is_said_against_what_works(recorded: Environment) -> None:
    """`pip check` said "No broken requirements found." there, and torch computed on the GPU."""
    assert (recorded.cuda, recorded.system.driver, recorded.gpus[0].sm) == ("13.0", "580.159.04", 90)
    assert len(recorded.binaries or ()) > 40
    assert grave(recorded) == []


def test_an_older_driver_would_be_said(recorded: Environment) -> None:
    older = recorded.system.model_copy(update={"driver": "570.86.15"})
    assert grave(recorded.model_copy(update={"system": older})) == ["driver:old"]


@pytest.mark.parametrize(("capability", "is_built"), [((7, 5), True), ((8, 9), True), ((12, 0), True), ((7, 0), False)])
def test_torchs_own_code_decides_which_gpus_it_runs_on(
    recorded: Environment, capability: tuple[int, int], *, is_built: bool
) -> None:
    """What `torch.cuda.get_arch_list()` said there: sm_75, 80, 86, 90, 100, 120."""
    gpu = recorded.gpus[0].model_copy(update={"capability": capability})
    said = [name for name in grave(recorded.model_copy(update={"gpus": (gpu,)})) if name == "architecture:torch"]
    assert said == ([] if is_built else ["architecture:torch"])


def test_a_wheel_that_went_missing_would_be_said(recorded: Environment) -> None:
    """Without nvidia-nccl-cu13 libtorch_cuda.so cannot be loaded, and pip check would tell, too."""
    kept = tuple(one for one in recorded.distributions if one.key != "nvidia-nccl-cu13")
    wants = Binary(binary="/opt/venv/torch/lib/libtorch_cuda.so", top="torch", owner="torch", missing=LACKS_NCCL)
    without = recorded.model_copy(update={"distributions": kept, "binaries": (*(recorded.binaries or ()), wants)})
    assert grave(without) == ["libraries:torch", "missing:nvidia-nccl-cu13"]


LACKS_NCCL = [{"library": "libnccl.so.2"}]
