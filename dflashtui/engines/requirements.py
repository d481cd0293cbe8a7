"""What installed distributions ask of each other, as `pip check` judges it, and beyond (PEP 508, PEP 440). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from dflashtui.engines.packages import parsed
from dflashtui.engines.pins import asking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dflashtui.model.environment import Distribution, Environment

MOST_ROUNDS = 100
"""Extras that ask for extras settle long before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One distribution asks for another."""

    by: Distribution
    name: str
    """Normal name of what is asked for."""
    specifier: str
    extras: tuple[str, ...]

    @property
    def words(self) -> str:
        """`sglang 0.5.11 asks for xgrammar==0.1.32`."""
        return f"{self.by.name} {self.by.version or '?'} asks for {self.name}{self.specifier or ', any version'}"

    @property
    def exact(self) -> str | None:
        """The one version that is asked for, if it is one."""
        version = self.specifier.removeprefix("===").removeprefix("==")
        is_one = self.specifier.startswith("==") and not set(version) & {",", "*"}
        return version if is_one else None

    def is_met(self, version: str | None) -> bool | None:
        """Whether that version will do; `None`: it cannot be compared."""
        found = parsed(version)
        if not self.specifier:
            return True
        return None if found is None else Requirement(f"x{self.specifier}").specifier.contains(found, prereleases=True)


def asked(environment: Environment) -> tuple[Asked, ...]:
    """Every requirement that holds here: markers met, extras as far as somebody asks for them; see `pins.asking`."""
    extras: dict[str, set[str]] = {name: set() for name in environment.by_name}
    for _ in range(MOST_ROUNDS):
        found = tuple(_asked(environment, extras))
        if not _more_extras(extras, found):
            return found
    return tuple(_asked(environment, extras))


def _more_extras(extras: dict[str, set[str]], found: Iterable[Asked]) -> bool:
    """Take in the extras that are asked for; whether there was a new one."""
    grew = False
    for one in found:
        known = extras.get(one.name)
        if known is not None and not known.issuperset(one.extras):
            known.update(one.extras)
            grew = True
    return grew


def _asked(environment: Environment, extras: Mapping[str, set[str]]) -> Iterator[Asked]:
    for one in asking(environment):
        for text in one.requires:
            requirement = _requirement(text)
            if requirement and _holds(requirement, environment.system.markers, extras.get(one.key, ())):
                asked_for = tuple(sorted(canonicalize_name(extra) for extra in requirement.extras))
                yield Asked(one, canonicalize_name(requirement.name), str(requirement.specifier), asked_for)


def _holds(requirement: Requirement, markers: Mapping[str, str], extras: Iterable[str]) -> bool:
    """An extra that nobody asks for asks for nothing; a marker that cannot be judged does not hold."""
    if requirement.marker is None:
        return True
    for extra in ("", *extras):
        try:
            if requirement.marker.evaluate({**markers, "extra": extra}):
                return True
        except (UndefinedComparison, UndefinedEnvironmentName, ValueError):
            return False
    return False


@lru_cache(maxsize=8192)
def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return None


def unreadable(environment: Environment) -> tuple[tuple[Distribution, str], ...]:
    """Requirements that are not written as PEP 508 asks: nobody can judge them."""
    every = ((one, text) for one in environment.by_name.values() for text in one.requires)
    return tuple((one, text) for one, text in every if _requirement(text) is None)


def closure(environment: Environment, root: str | None, found: Iterable[Asked]) -> frozenset[str]:
    """Normal names of all that a distribution needs, itself among them; without a root, all that is installed."""
    if root is None:
        return frozenset(environment.by_name)
    wants: dict[str, list[str]] = {}
    for one in found:
        wants.setdefault(one.by.key, []).append(one.name)
    reached, waiting = {root}, [root]
    while waiting:
        for name in wants.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return frozenset(reached)
