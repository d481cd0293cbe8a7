"""Which distributions would meet the imports that fail, and in which version. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis.remedies_names import distributions_of, is_well_known
from dflashtui.engines.import_names import known_distribution
from dflashtui.engines.requirements import asked
from dflashtui.model.base import Value
from dflashtui.model.environment import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.engines.requirements import Asked
    from dflashtui.model.environment import Environment
    from dflashtui.model.imports import ImportFault

ENGINES = frozenset({"sglang", "vllm"})
MOST_SHOWN = 3


class Want(Value):
    """One distribution to be installed, and who vouches for it."""

    name: str
    """Normal name."""
    specifier: str = ""
    """`==0.13.1`; empty: any version."""
    facts: tuple[str, ...] = ()
    is_vouched_for: bool = False
    """An installed package, the reference host or the table of well-known names says so: it is no guess."""
    is_asked_for: bool = False
    """By an installed package, for every use of it."""

    @property
    def spec(self) -> str:
        """As pip takes it."""
        return f"{self.name}{self.specifier}"


class Wants:
    """Tells what would meet a fault: asks once what the installed packages want."""

    def __init__(self, here: Environment, there: Environment | None = None) -> None:
        """`there`: the environment that this one should match."""
        self._here = here
        self._there = there
        self._wishes = asked(here)

    def of(self, fault: ImportFault) -> Want | None:
        """`None`: no installation would meet it, or nobody knows which."""
        if fault.fault not in {"missing-module", "missing-name"}:
            return None
        name = self._name(fault)
        asking = sorted((one for one in self._wishes if one.name == name), key=lambda one: one.by.key not in ENGINES)
        installed, there = self._here.version(name), self._version_there(name)
        specifier = _specifier(asking, there)
        if installed and not _is_other(specifier, asking, installed):
            return None
        return Want(
            name=name,
            specifier=specifier,
            facts=tuple(self._facts(fault, name, asking)),
            is_vouched_for=bool(asking or there or installed) or _is_known(fault.top),
            is_asked_for=bool(asking),
        )

    def _name(self, fault: ImportFault) -> str:
        """The surest first: what has it here, what is asked for, what is there, what is written down, its own name."""
        if fault.owner:
            return normal(fault.owner)
        known = known_distribution(fault.top)
        names: tuple[str, ...] = tuple(
            dict.fromkeys((*((known,) if known else ()), *map(normal, distributions_of(fault.top))))
        )
        wished = {one.name for one in self._wishes}
        return (
            next((name for name in names if name in wished), None)
            or next((name for name in names if self._version_there(name)), None)
            or names[0]
        )

    def _version_there(self, name: str) -> str | None:
        version = self._there.version(name) if self._there else None
        return version.partition("+")[0] if version else None

    def _facts(self, fault: ImportFault, name: str, asking: Sequence[Asked]) -> Iterator[str]:
        installed, there = self._here.version(name), self._version_there(name)
        yield f"{name} {installed} is installed" if installed else f"{name} is not installed"
        yield from (one.words for one in asking[:MOST_SHOWN])
        if self._there and there:
            yield f"{self._there.host} has {name} {there}"
        if normal(fault.top) != name:
            yield f"the module {fault.top} comes with the package {name}"


def _specifier(asking: Sequence[Asked], there: str | None) -> str:
    """The engine's exact version, else that of the reference host where it will do, else what is asked for."""
    asked_for = asking[0].specifier if asking else ""
    if there and not any(one.exact for one in asking[:1]) and all(one.is_met(there) is not False for one in asking):
        return f"=={there}"
    return asked_for


def _is_other(specifier: str, asking: Sequence[Asked], installed: str) -> bool:
    """Whether another version than the installed one is wanted."""
    if any(one.is_met(installed) is False for one in asking):
        return True
    return specifier.startswith("==") and specifier.removeprefix("==") != installed.partition("+")[0]


def _is_known(module: str) -> bool:
    return known_distribution(module) is not None or is_well_known(module)
