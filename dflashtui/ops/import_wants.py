"""Which distributions would meet the imports that fail, and in which version. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis.remedies_names import distributions_of, is_well_known
from dflashtui.engines.requirements import asked
from dflashtui.model.base import Value
from dflashtui.model.environment import normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.engines.requirements import Asked
    from dflashtui.model.environment import Environment
    from dflashtui.model.imports import ImportFault

ENGINES = frozenset({"sglang", "vllm"})


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


def want_of(fault: ImportFault, here: Environment, there: Environment | None, reference: str | None) -> Want | None:
    """What would meet one fault; `None`: no installation would, or nobody knows which."""
    if fault.fault not in {"missing-module", "missing-name"}:
        return None
    wishes = asked(here)
    name = _name(fault, wishes, there)
    asking = sorted((one for one in wishes if one.name == name), key=lambda one: one.by.key not in ENGINES)
    installed = here.version(name)
    version = there.version(name) if there else None
    specifier = asking[0].specifier if asking else ""
    if not specifier and version and version != installed:
        specifier = f"=={version.partition('+')[0]}"
    if installed and not _helps(specifier, asking, installed):
        return None
    facts = (
        f"{name} {installed} is installed" if installed else f"{name} is not installed",
        *(one.words for one in asking[:3]),
        *((f"{reference} has {name} {version}",) if version and reference else ()),
        *((f"the module {fault.top} comes with the package {name}",) if normal(fault.top) != name else ()),
    )
    is_vouched_for = bool(asking or version or installed) or is_well_known(fault.top)
    return Want(name=name, specifier=specifier, facts=facts, is_vouched_for=is_vouched_for, is_asked_for=bool(asking))


def _helps(specifier: str, asking: Sequence[Asked], installed: str) -> bool:
    """Whether another version than the installed one is asked for."""
    if asking and asking[0].specifier == specifier:
        return any(one.is_met(installed) is False for one in asking)
    return bool(specifier)


def _name(fault: ImportFault, wishes: Sequence[Asked], there: Environment | None) -> str:
    """The surest first: what has it here, what is asked for, what the reference host has, what is well known."""
    if fault.owner:
        return normal(fault.owner)
    names = tuple(dict.fromkeys((*map(normal, distributions_of(fault.top)), normal(fault.top))))
    wished = {one.name for one in wishes}
    return (
        next((name for name in names if name in wished), None)
        or next((name for name in names if there and there.version(name)), None)
        or names[0]
    )
