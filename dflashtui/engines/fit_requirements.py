"""Requirements that are not met, packages present twice, leftovers of another CUDA generation. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from dflashtui.engines.packages import BINARY, FLASHINFER, engine_of, nvidia_generation, parsed
from dflashtui.engines.requirements import asked, closure, unreadable
from dflashtui.model.misfit import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dflashtui.engines.requirements import Asked
    from dflashtui.model.environment import Distribution, Environment

RUNTIME = "nvidia-cuda-runtime"
SHOWN = 6
GRAVE = BINARY | frozenset(FLASHINFER)


def requirement_misfits(environment: Environment) -> tuple[Misfit, ...]:
    """All that the metadata of an environment tells, worst first."""
    found = asked(environment)
    needed = closure(environment, engine_of(environment), found)
    every = (
        *_unmet(environment, found, needed),
        *_python(environment, needed),
        *_twice(environment),
        *_leftovers(environment, found),
        *_unreadable(environment),
    )
    order = ("fatal", "warning", "unknown", "note")
    return tuple(sorted(every, key=lambda one: order.index(one.level)))


def _unmet(environment: Environment, found: Iterable[Asked], needed: frozenset[str]) -> Iterator[Misfit]:
    by_name: defaultdict[str, list[Asked]] = defaultdict(list)
    for one in found:
        by_name[one.name].append(one)
    for name, wishes in sorted(by_name.items()):
        version = environment.version(name)
        if version is None and name not in environment.by_name:
            yield _absent(environment, name, wishes, needed)
        elif unmet := [one for one in wishes if one.is_met(version) is False]:
            yield _other_version(environment, name, unmet, wishes, needed)


def _absent(environment: Environment, name: str, wishes: Sequence[Asked], needed: frozenset[str]) -> Misfit:
    return Misfit(
        id=f"missing:{name}",
        level=_level(environment, name, wishes, needed),
        about=(name,),
        message=f"{name} is not installed; {_first(environment, wishes).words}",
        evidence=_words(wishes),
        remedy=f"install {_spec(environment, name, wishes)}",
        install=(_spec(environment, name, wishes),),
    )


def _other_version(
    environment: Environment, name: str, unmet: Sequence[Asked], wishes: Sequence[Asked], needed: frozenset[str]
) -> Misfit:
    spec = _spec(environment, name, wishes)
    remedy = f"install {spec}"
    if not _agree(wishes):
        remedy += ", which suits the engine; not all that is asked of it can be met at once"
    return Misfit(
        id=f"version:{name}",
        level=_level(environment, name, unmet, needed),
        about=(name,),
        message=f"{name} is {environment.version(name)}; {_first(environment, unmet).words}",
        evidence=_words(unmet),
        remedy=remedy,
        install=(spec,),
    )


def _level(
    environment: Environment, name: str, wishes: Iterable[Asked], needed: frozenset[str]
) -> Literal["fatal", "warning", "note"]:
    """Grave where the engine, or torch, asks for what was built for one torch; the sweep of imports judges the rest."""
    askers = {one.by.key for one in wishes}
    if name in GRAVE and askers & {engine_of(environment), "torch"}:
        return "fatal"
    return "warning" if askers & needed else "note"


def _first(environment: Environment, wishes: Sequence[Asked]) -> Asked:
    """The engine's word counts most."""
    return min(wishes, key=lambda one: one.by.key != engine_of(environment))


def _words(wishes: Iterable[Asked]) -> tuple[str, ...]:
    """Nothing, where the message says it already."""
    words = [one.words for one in wishes]
    if len(words) == 1:
        return ()
    rest = len(words) - SHOWN
    return (*words[:SHOWN], f"and {rest} more") if rest > 0 else tuple(words)


def _spec(environment: Environment, name: str, wishes: Sequence[Asked]) -> str:
    """The engine's own pin, else all that is asked for together."""
    first = _first(environment, wishes)
    if first.exact:
        return f"{name}=={first.exact}"
    together = ",".join(dict.fromkeys(part for one in wishes for part in one.specifier.split(",") if part))
    return f"{name}{together if _agree(wishes) else first.specifier}"


def _agree(wishes: Iterable[Asked]) -> bool:
    """Whether no two exact wishes contradict each other, as far as that can be told without an index."""
    exact = {one.exact for one in wishes if one.exact}
    return len(exact) <= 1 and all(one.is_met(version) is not False for version in exact for one in wishes)


def _python(environment: Environment, needed: frozenset[str]) -> Iterator[Misfit]:
    version = parsed(environment.interpreter.version)
    for name, one in environment.by_name.items():
        if version is None or not one.requires_python:
            continue
        try:
            fits = SpecifierSet(one.requires_python).contains(version, prereleases=True)
        except InvalidSpecifier:
            continue
        if not fits:
            yield Misfit(
                id=f"python:{name}",
                level="warning" if name in needed else "note",
                about=(name, "python"),
                message=f"{one.name} {one.version} asks for Python {one.requires_python}, this is {version}",
                evidence=(one.metadata,),
            )


def _twice(environment: Environment) -> Iterator[Misfit]:
    """Metadata of one name in one folder: a copy over an older installation. In two folders: the first is imported."""
    places: defaultdict[str, list[Distribution]] = defaultdict(list)
    for one in environment.distributions:
        places[one.key].append(one)
    for name, copies in places.items():
        if len(copies) == 1:
            continue
        is_one_folder = len({one.site for one in copies}) < len(copies)
        versions = " and ".join(dict.fromkeys(one.version or "?" for one in copies))
        yield Misfit(
            id=f"twice:{name}",
            level="warning" if is_one_folder else "note",
            about=(name,),
            message=f"{name} is there {len(copies)} times: {versions}",
            evidence=tuple(one.metadata for one in copies),
            remedy="install it again, so that one is left" if is_one_folder else "the first on the path is imported",
        )


def _leftovers(environment: Environment, found: Iterable[Asked]) -> Iterator[Misfit]:
    ours = environment.cuda_generation
    if ours is None:
        return
    wanted = {one.name for one in found}
    by_generation = _by_generation(environment)
    for generation, names in sorted(by_generation.items()):
        if generation == ours:
            continue
        idle = tuple(name for name in names if name not in wanted)
        yield Misfit(
            id=f"leftover:cu{generation}",
            level="warning",
            about=tuple(names),
            message=f"{len(names)} packages of CUDA {generation} beside a torch for CUDA {environment.cuda}",
            evidence=tuple(f"{name} {environment.version(name)}" for name in names),
            remedy=f"uninstall them: {', '.join(idle)}" if idle else "other packages ask for them: look at those first",
            uninstall=idle,
        )


def _by_generation(environment: Environment) -> Mapping[int, list[str]]:
    runtime = environment.version(RUNTIME)
    by_generation: defaultdict[int, list[str]] = defaultdict(list)
    for name in sorted(environment.by_name):
        if generation := nvidia_generation(name, runtime):
            by_generation[generation].append(name)
    return by_generation


def _unreadable(environment: Environment) -> Iterator[Misfit]:
    for one, text in unreadable(environment):
        yield Misfit(
            id=f"unreadable:{one.key}:{text}",
            level="note",
            about=(one.key,),
            message=f"{one.name} {one.version} asks for something that nobody can read: {text}",
        )
    for one in environment.distributions:
        if one.problem:
            yield Misfit(
                id=f"metadata:{one.key}",
                level="unknown",
                about=(one.key,),
                message=f"{one.metadata}: {one.problem}",
                remedy="install the package again",
            )
