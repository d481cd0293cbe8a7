"""Remedies for a cause, in the words of its host. Facts are asked for only when the cause asks for them."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.diagnosis import remedies as general
from dflashtui.diagnosis.remedies_names import avoiding, distributions_of
from dflashtui.diagnosis.remedies_told import told as told_by_message
from dflashtui.errors import DflashError
from dflashtui.ops.remedy_environment import (
    ENGINES,
    ask_environment,
    command_words,
    environment_of,
    interpreters,
)
from dflashtui.ops.remedy_gpu import fault_remedies, gpus_of_unit, host_memory_remedies, memory_remedies
from dflashtui.ops.remedy_host import (
    moved_flags,
    path_remedies,
    port_remedies,
    ports_of,
    space_remedies,
    unit_file_remedies,
)
from dflashtui.ops.remedy_install import library_of, library_remedies, package_remedies, wanted
from dflashtui.ops.remedy_value import HostRemedy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.config.model import Config, Host, Unit
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.finding import Cause
    from dflashtui.model.gpu import Gpu, Xid
    from dflashtui.ops.remedy_environment import Environment
    from dflashtui.ops.remedy_install import Wanted

COMPANIONS = ("torch", "torchvision", "torchaudio", "numpy")
"""What binary packages are built for."""
PACKAGE_KINDS = frozenset({"missing-module", "import-error", "abi-mismatch"})
GPU_FAULTS = frozenset({"gpu-lost", "cuda-error"})


@dataclass(frozen=True, slots=True)
class Patient:
    """A unit that failed, and what is known of it."""

    fleet: Fleet
    config: Config
    host: str
    unit: str
    cause: Cause
    properties: Mapping[str, str]
    """As `systemctl show` words them; empty: they could not be read."""
    xids: Sequence[Xid] = ()
    """Of about the time of the failure."""

    @property
    def defined(self) -> Unit | None:
        """Its entry in the inventory."""
        return self.config.unit(self.unit)

    @property
    def login(self) -> Host:
        """How its host is reached, and as whom."""
        return self.config.host(self.host)

    @property
    def words(self) -> tuple[str, ...]:
        """Its command."""
        return tuple(command_words(self.properties))

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Its GPUs, as they are now."""
        visible = environment_of(self.properties).get("CUDA_VISIBLE_DEVICES")
        meant = self.defined.gpus if self.defined else ()
        return gpus_of_unit(self.fleet.snapshot(self.host), self.unit, meant, visible)


async def remedies_on(
    fleet: Fleet, config: Config, host: str, unit: str, cause: Cause, xids: Sequence[Xid] = ()
) -> tuple[HostRemedy, ...]:
    """What to do, the most exact first, then what holds for the kind in general. Never raises `DflashError`."""
    try:
        properties = await fleet.properties(host, unit)
    except DflashError:
        properties = {}
    patient = Patient(fleet, config, host, unit, cause, properties, xids)
    exact = tuple(_as_login(one, patient) for one in await _exact(patient))
    told = {one.title for one in exact}
    named = () if exact else told_by_message(cause)
    titles = (title for title in general.TITLES.get(cause.kind, ()) if title not in told)
    looks = () if exact else general.COMMANDS.get(cause.kind, ())
    return (
        *exact,
        *(HostRemedy(title=one.title, command=one.command) for one in named),
        *(HostRemedy(title=title) for title in titles),
        *(HostRemedy(title=title, command=command) for title, command in looks),
    )


def _as_login(remedy: HostRemedy, patient: Patient) -> HostRemedy:
    """The command as this login has to give it; packages see to it themselves."""
    argv = remedy.argv
    if argv is None or patient.cause.kind in PACKAGE_KINDS:
        return remedy
    if argv[0] == "systemctl" and patient.login.manager == "user":
        argv = ("systemctl", "--user", *argv[1:])
        return remedy.model_copy(update={"argv": argv, "command": shlex.join(argv)})
    return _by_sudo(remedy) if patient.login.become == "sudo" else remedy


def _by_sudo(remedy: HostRemedy) -> HostRemedy:
    if remedy.argv is None:
        return remedy
    argv = ("sudo", "-n", *remedy.argv)
    return remedy.model_copy(update={"argv": argv, "command": shlex.join(argv)})


async def _exact(patient: Patient) -> tuple[HostRemedy, ...]:
    cause, host = patient.cause, patient.host
    snapshot = patient.fleet.snapshot(host)
    match cause.kind:
        case "cuda-oom":
            return memory_remedies(snapshot, patient.unit, patient.gpus)
        case kind if kind in GPU_FAULTS:
            return fault_remedies(cause, snapshot, patient.unit, patient.gpus, patient.xids)
        case "host-oom":
            return host_memory_remedies(snapshot, patient.unit)
        case "port-in-use":
            return await port_remedies(patient.fleet, host, patient.unit, ports_of(cause, patient.words))
        case _:
            return await _of_packages(patient)


async def _of_packages(patient: Patient) -> tuple[HostRemedy, ...]:
    match patient.cause.kind:
        case kind if kind in PACKAGE_KINDS and patient.cause.module:
            return await _packages(patient, patient.cause.module)
        case "shared-library":
            return await _library(patient)
        case _:
            return await _of_files(patient)


async def _of_files(patient: Patient) -> tuple[HostRemedy, ...]:
    cause, fleet, host = patient.cause, patient.fleet, patient.host
    match cause.kind:
        case "model-not-found" | "permission" | "model-invalid":
            return await path_remedies(fleet, host, cause)
        case "disk-full":
            return await space_remedies(fleet, host, cause)
        case "systemd-exec":
            return await unit_file_remedies(fleet, host, patient.unit)
        case "bad-argument":
            return moved_flags(cause)
        case _:
            return ()


async def _packages(patient: Patient, module: str) -> tuple[HostRemedy, ...]:
    order = _order(patient, (*distributions_of(module), *_companions(patient.cause)), (module,))
    async with asyncio.TaskGroup() as group:
        mine = group.create_task(_environment(patient, order))
        theirs = group.create_task(_reference(patient, order))
    here, problem = mine.result()
    if here is None:
        return _unasked(patient, problem)
    there = theirs.result()
    one = wanted(module, here, there, patient.defined.reference if patient.defined else None)
    found = _installs(patient, one, here)
    return (*_with_companions(patient.cause, found, here), *_around(patient, module, here))


def _installs(patient: Patient, one: Wanted, here: Environment) -> tuple[HostRemedy, ...]:
    """By sudo, where the login itself may not write there."""
    if patient.login.become != "sudo" or here.is_site_writable:
        return package_remedies(patient.cause, one, here)
    return tuple(map(_by_sudo, package_remedies(patient.cause, one, here.model_copy(update={"user": "root"}))))


def _companions(cause: Cause) -> tuple[str, ...]:
    return COMPANIONS if cause.kind == "abi-mismatch" else ()


def _with_companions(cause: Cause, found: tuple[HostRemedy, ...], here: Environment) -> tuple[HostRemedy, ...]:
    lines = tuple(f"{name} {version} is installed" for name in _companions(cause) if (version := here.version(name)))
    return tuple(one.model_copy(update={"details": (*one.details, *lines)}) for one in found)


def _unasked(patient: Patient, problem: str | None) -> tuple[HostRemedy, ...]:
    """What the log alone tells, and why there is no more."""
    why = (problem,) if problem else ("the unit's command names no Python interpreter",)
    return tuple(
        HostRemedy(title=one.title, command=one.command, details=why)
        for one in general.remedies(patient.cause)
        if one.command
    )


def _order(patient: Patient, names: Sequence[str], modules: Sequence[str]) -> dict[str, object]:
    paths = environment_of(patient.properties).get("PYTHONPATH", "").split(":")
    return {"names": list(names), "modules": list(modules), "engines": list(ENGINES), "paths": paths}


async def _environment(patient: Patient, order: Mapping[str, object]) -> tuple[Environment | None, str | None]:
    python = patient.defined.python if patient.defined else None
    candidates = interpreters(patient.cause, patient.properties, python)
    return await ask_environment(patient.fleet, patient.host, candidates, order)


async def _reference(patient: Patient, order: Mapping[str, object]) -> Environment | None:
    """The environment of the same engine on the host that this one should match."""
    unit = patient.defined
    if unit is None or unit.reference is None or unit.reference == patient.host:
        return None
    candidates: list[str] = []
    for other in patient.config.units:
        if unit.reference in other.hosts and other.engine == unit.engine:
            candidates += await _python_of(patient.fleet, unit.reference, other)
    candidates += [unit.python] if unit.python else []
    order = {**order, "paths": []}
    found, _ = await ask_environment(patient.fleet, unit.reference, dict.fromkeys(candidates), order)
    return found


async def _python_of(fleet: Fleet, host: str, unit: Unit) -> tuple[str, ...]:
    try:
        properties = await fleet.properties(host, unit.name)
    except DflashError:
        return (unit.python,) if unit.python else ()
    return interpreters(None, properties, unit.python)


def _around(patient: Patient, module: str, here: Environment) -> tuple[HostRemedy, ...]:
    """The flag that goes without the broken package."""
    engine = here.engine
    flag = avoiding(engine.name if engine else None, engine.version if engine else None, module, patient.words)
    if flag is None:
        return ()
    is_rendered = patient.defined is not None and patient.defined.template is not None
    where = f'args of [units."{patient.unit}"] in hosts.toml, then push' if is_rendered else "ExecStart= of the unit"
    return (HostRemedy(title=f"or start it with {' '.join(flag.words)}", details=(flag.costs, f"where: {where}")),)


async def _library(patient: Patient) -> tuple[HostRemedy, ...]:
    library = library_of(patient.cause)
    if library is None:
        return ()
    order = {**_order(patient, (), ()), "libraries": [library]}
    here, _ = await _environment(patient, order)
    return library_remedies(library, here) if here else ()
