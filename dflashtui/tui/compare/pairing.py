"""Which environments a person means by the rows that are chosen. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.tui.subject import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config, Unit
    from dflashtui.tui.subject import Subject

FEWEST = 2


class Pairing(NamedTuple):
    """Hosts, and the unit whose environment is meant; `None`: that of all the host's units."""

    hosts: tuple[str, ...]
    """The reference first, where the inventory names one."""
    unit: str | None
    reference: str | None = None


def pairings(subjects: Sequence[Subject], config: Config) -> tuple[Pairing, ...]:
    """What could be compared: marked hosts with each other, one host with the reference of a unit of its."""
    hosts = tuple(dict.fromkeys(one.host for one in subjects))
    kinds = {one.kind for one in subjects}
    if kinds == {Kind.UNIT} and len({one.name for one in subjects}) == 1:
        return _of_unit(subjects[0].name, hosts, config)
    if kinds != {Kind.HOST}:
        return ()
    units = [unit for unit in config.units if unit.python and set(hosts) <= {*unit.hosts, unit.reference}]
    if len(hosts) < FEWEST:
        return tuple(dict.fromkeys(one for unit in _different(units) for one in _of_unit(unit.name, hosts, config)))
    return tuple(Pairing(hosts, unit.name) for unit in _different(units)) or (Pairing(hosts, None),)


def _of_unit(unit: str, hosts: tuple[str, ...], config: Config) -> tuple[Pairing, ...]:
    if len(hosts) >= FEWEST:
        return (Pairing(hosts, unit),)
    defined = config.unit(unit)
    reference = defined.reference if defined else None
    if reference in {None, *hosts} or reference not in {host.name for host in config.hosts}:
        return ()
    return (Pairing((str(reference), *hosts), unit, reference),)


def _different(units: Sequence[Unit]) -> list[Unit]:
    """One unit for each environment."""
    return list(
        {(unit.python, unit.reference, tuple(unit.environment.items())): unit for unit in reversed(units)}.values()
    )[::-1]
