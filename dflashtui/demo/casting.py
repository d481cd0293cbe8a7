"""Who plays what: an inventory becomes plans, with every state somewhere on a large one. Pure."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import count, islice
from typing import TYPE_CHECKING

from dflashtui.demo.noise import between, noise
from dflashtui.demo.plan import GIB, Behaviour, HostFault, HostPlan, ServicePlan
from dflashtui.demo.writing import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.config.model import Config, Host, Unit

GPUS_PER_HOST = 8
STORY_GPU = 1
FEWEST_SERVICES = 5
LARGE_FLEET = 6
FIRST_FAULTY = 2
"""The first two hosts are well, as on the inventory that is shipped."""
GLOB_CHARACTERS = frozenset("*?[")
FAULTS = tuple(fault for fault in HostFault if fault is not HostFault.NONE)
INVENTED = ("sglang-qwen3-32b", "vllm-llama-70b", "sglang-dflash-27b", "embed-bge-m3", "vllm-coder-30b", "sglang-judge")
FILLERS = ("qwen3-32b", "dflash-27b", "judge", "coder-30b", "draft")
MODELS = ("/dev/shm/Qwen3.6-27B", "/models/Qwen3-32B", "/models/Llama-3.3-70B-Instruct", "/models/Qwen3-Coder-30B-A3B")  # noqa: S108 - shown only
FIRST_CAST = (Behaviour.SERVES, Behaviour.LOADS, Behaviour.SERVES, Behaviour.SERVES)
LATER_CAST = (
    (0.80, Behaviour.SERVES),
    (0.86, Behaviour.LOADS),
    (0.90, Behaviour.IS_SICK),
    (0.93, Behaviour.RUNS_OUT_OF_MEMORY),
    (0.97, Behaviour.IS_STOPPED),
    (1.00, Behaviour.LOOPS),
)


def cast(config: Config, seed: int, *, is_hostile: bool = False) -> tuple[HostPlan, ...]:
    """One plan for each host of the inventory, in its order."""
    units = _units(config)
    fixed = _fixed(config, units)
    behaviours = _behaviours(seed, len(units))
    plans: list[HostPlan] = []
    for number, host in enumerate(config.hosts):
        mine = [name for owner, name in units if owner == host.name]
        parts = [(name, fixed.get((host.name, name)) or next(behaviours)) for name in mine]
        services = _services(config, host, parts, seed)
        plans.append(_host_plan(config, host, number, services, seed))
    return tuple(_hostile(plan) for plan in plans) if is_hostile else tuple(plans)


def _hostile(plan: HostPlan) -> HostPlan:
    services = (
        replace(service, description=f"{service.description} {HOSTILE}", is_hostile=True) for service in plan.services
    )
    return replace(plan, services=tuple(services), is_hostile=True)


def _fixed(config: Config, units: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Behaviour]:
    """The two services of the story: the one that loops, and the one whose GPU was lost (GPU 1 of the first host)."""
    looping = _looping(config, units)
    fixed = {looping: Behaviour.LOOPS} if looping else {}
    for owner, name in units if len(units) >= FEWEST_SERVICES else ():
        unit = config.unit(name)
        if owner == config.hosts[0].name and unit and STORY_GPU in unit.gpus:
            fixed.setdefault((owner, name), Behaviour.LOST_ITS_GPU)
    return fixed


def _units(config: Config) -> list[tuple[str, str]]:
    """Pairs of host and unit: those that the inventory names, then inventions for globs and to reach five."""
    pairs = [(host.name, name) for host in config.hosts for name in _names(config.watched(host))]
    known = {name for _, name in pairs}
    for name in (f"{stem}.service" for stem in INVENTED):
        if len(pairs) < FEWEST_SERVICES and config.hosts and name not in known:
            pairs.append((_emptiest(config, pairs), name))
    order = {host.name: place for place, host in enumerate(config.hosts)}
    return sorted(pairs, key=lambda pair: order[pair[0]])


def _emptiest(config: Config, pairs: Sequence[tuple[str, str]]) -> str:
    return min((host.name for host in config.hosts), key=lambda name: sum(owner == name for owner, _ in pairs))


def _names(watched: Sequence[str]) -> list[str]:
    names: list[str] = []
    for pattern in watched:
        if GLOB_CHARACTERS & set(pattern):
            if any(fnmatchcase(name, pattern) for name in watched if name != pattern):
                continue
            names += [name for name in islice(_matching(pattern), 2) if name not in names]
        else:
            names.append(pattern)
    return names


def _matching(pattern: str) -> Iterator[str]:
    """Plausible names that a glob finds on a host; none if it has a form that nobody would guess."""
    for filler in FILLERS:
        name = pattern.replace("*", filler, 1).replace("*", "").replace("?", "0")
        name = name if "." in name else f"{name}.service"
        if fnmatchcase(name, pattern):
            yield name


def _looping(config: Config, units: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The story's service: one that was made after the example of another host; else the second of all."""
    referring = {unit.name for unit in config.units if unit.reference}
    chosen = next((pair for pair in units if pair[1] in referring), None)
    return chosen or (units[1] if len(units) > 1 else None)


def _behaviours(seed: int, service_count: int) -> Iterator[Behaviour]:
    yield from FIRST_CAST
    for number in count():
        chance = noise(seed, "behaviour", number, service_count)
        yield next(behaviour for limit, behaviour in LATER_CAST if chance < limit)


def _services(config: Config, host: Host, parts: Sequence[tuple[str, Behaviour]], seed: int) -> tuple[ServicePlan, ...]:
    free = _free_gpus(config, host)
    return tuple(
        _service(host, name, config.unit(name), behaviour, (next(free), place, seed))
        for place, (name, behaviour) in enumerate(parts)
    )


def _free_gpus(config: Config, host: Host) -> Iterator[int]:
    """GPUs for services whose definition names none."""
    taken = {gpu for unit in config.units if host.name in unit.hosts for gpu in unit.gpus}
    free = [index for index in range(GPUS_PER_HOST) if index not in taken] or [0]
    return (free[place % len(free)] for place in count())


def _service(
    host: Host, name: str, unit: Unit | None, behaviour: Behaviour, place: tuple[int, int, int]
) -> ServicePlan:
    gpu, number, seed = place
    engine = unit.engine if unit and unit.engine != "none" else _engine(name)
    gpus = tuple(index for index in unit.gpus if isinstance(index, int)) if unit else ()
    model = (unit.model if unit else None) or MODELS[int(noise(seed, name) * len(MODELS))]
    port = _port(unit.listen if unit else None, 30000 + number)
    python = (unit.python if unit else None) or f"/opt/{engine}/bin/python"
    module = "vllm.entrypoints.openai.api_server" if engine == "vllm" else "sglang.launch_server"
    return ServicePlan(
        host=host.name,
        unit=name,
        description=(unit.description if unit else None) or f"{name.partition('.')[0]} on GPU {gpu}",
        engine=engine,
        model=model,
        gpus=gpus or (gpu,),
        port=port,
        behaviour=behaviour,
        memory_bytes=int(between(58, 86, seed, host.name, name) * GIB),
        load_seconds=between(55, 110, seed, host.name, name, "load"),
        command=f"{python} -m {module} --model-path {model} --port {port}",
    )


def _engine(name: str) -> str:
    return next((engine for engine in ("sglang", "vllm") if engine in name), "openai")


def _port(listen: str | None, default: int) -> int:
    port = (listen or "").rpartition(":")[2]
    return int(port) if port.isdecimal() else default


def _host_plan(config: Config, host: Host, number: int, services: tuple[ServicePlan, ...], seed: int) -> HostPlan:
    group = config.group_of(host)
    used = {gpu for service in services for gpu in service.gpus}
    unused = [gpu for gpu in range(GPUS_PER_HOST) if gpu not in used]
    has_lost = number == 0 or (len(config.hosts) >= LARGE_FLEET and noise(seed, host.name, "lost") < 0.02)  # noqa: PLR2004 - rare
    orphan_host = min(1, len(config.hosts) - 1)
    return HostPlan(
        name=host.name,
        number=number,
        address=host.address or host.name,
        group=host.group,
        protected=bool(group and group.protected),
        read_only=bool(group and group.read_only),
        fault=_fault(len(config.hosts), number, host, seed),
        lost_gpu=_lost_gpu(services, unused) if has_lost else None,
        orphan_gpu=unused[-1] if number == orphan_host and unused else None,
        services=services,
    )


def _lost_gpu(services: Sequence[ServicePlan], unused: Sequence[int]) -> int | None:
    """The one whose service failed with it; else one that no service uses."""
    if any(service.behaviour is Behaviour.LOST_ITS_GPU for service in services):
        return STORY_GPU
    return unused[0] if unused else None


def _fault(host_count: int, number: int, host: Host, seed: int) -> HostFault:
    if host_count < LARGE_FLEET or number < FIRST_FAULTY:
        return HostFault.NONE
    place = number - FIRST_FAULTY
    if place % 2 and place // 2 < len(FAULTS):
        return FAULTS[place // 2]
    return HostFault.LOST if noise(seed, host.name, "fault") < 0.01 else HostFault.NONE  # noqa: PLR2004 - rare
