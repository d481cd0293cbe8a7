"""What is wanted of each host, from the inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.engines.readiness import ReadinessRule, rule
from dflashtui.model.host import HostSnapshot

if TYPE_CHECKING:
    from dflashtui.config.model import Config, Host

ALL_SOURCES = frozenset({"units", "journal", "gpus"})


@dataclass(frozen=True, slots=True)
class HostPlan:
    """One host's part of the inventory."""

    host: Host
    patterns: tuple[str, ...]
    """Unit names and globs to watch."""
    readiness_rules: dict[str, ReadinessRule]
    """By unit: those that can be asked whether they answer."""
    asked_from_console: frozenset[str]
    engines: dict[str, str] = field(default_factory=dict)
    """By unit: those whose log and metrics tell of a service."""
    expects_gpus: bool = False
    """Some unit of this host is to run on GPUs."""
    sources: frozenset[str] = ALL_SOURCES


def host_plan(config: Config, host: Host, sources: frozenset[str] = ALL_SOURCES) -> HostPlan:
    """What to watch on a host, and how its services are asked."""
    units = [unit for unit in config.units if host.name in unit.hosts]
    rules = {unit.name: rule(unit.engine, unit.listen, unit.readiness.url) for unit in units}
    return HostPlan(
        host=host,
        patterns=config.watched(host),
        readiness_rules={name: found for name, found in rules.items() if found},
        asked_from_console=frozenset(unit.name for unit in units if unit.readiness.via == "console"),
        engines={unit.name: unit.engine for unit in units if unit.engine != "none"},
        expects_gpus=any(unit.gpus for unit in units),
        sources=sources,
    )


def first_snapshot(config: Config, host: Host) -> HostSnapshot:
    """What is known of a host before it answers."""
    group = config.group_of(host)
    return HostSnapshot(
        name=host.name,
        group=host.group,
        address=host.address,
        protected=bool(group and group.protected),
        read_only=bool(group and group.read_only),
    )
