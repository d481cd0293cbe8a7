"""Names in the file that must stand for something in it. Judges tables as they are, right or wrong in other ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.config import names, templates
from dflashtui.config.problems import Keys, Problem
from dflashtui.config.words import proposal, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NO_HOST = 'defines no host; add a table such as [hosts.gpu-a], or [hosts.localhost] with transport = "local"'


def problems(data: Mapping[str, Any], folder: Path) -> Iterator[Problem]:
    """Unknown groups, hosts, references and templates; two ways of getting one unit's text; no host at all."""
    hosts, groups = _table(data, "hosts"), _table(data, "groups")
    if data.get("hosts", {}) == {}:
        yield Problem(NO_HOST)
    yield from _unknown(groups, "group", _table(data, "defaults").get("group"), ("defaults", "group"))
    for name in hosts:
        yield from _unknown(groups, "group", _table(hosts, name).get("group"), ("hosts", name, "group"))
    for name in _table(data, "units"):
        yield from _of_unit(_table(_table(data, "units"), name), ("units", name), hosts, folder)


def _of_unit(unit: Mapping[str, Any], keys: Keys, hosts: Mapping[str, Any], folder: Path) -> Iterator[Problem]:
    on = unit.get("hosts")
    for position, host in enumerate(on if isinstance(on, list) else ()):
        yield from _unknown(hosts, "host", host, (*keys, "hosts", position))
    yield from _unknown(hosts, "host", unit.get("reference"), (*keys, "reference"))
    if "template" in unit and "file" in unit:
        yield Problem("expected either template or file, not both", (*keys, "file"))
    template = unit.get("template")
    if _is_label(template) and (complaint := templates.complaint(str(template), folder)):
        yield Problem(complaint, (*keys, "template"))


def _unknown(known: Mapping[str, Any], noun: str, name: object, keys: Keys) -> Iterator[Problem]:
    """Nothing about what is no name at all: that is told where types are judged."""
    if _is_label(name) and name not in known:
        yield Problem(f"no {noun} {shown(name)}{proposal(str(name), known, f'{noun}s')}", keys)


def _is_label(name: object) -> bool:
    return isinstance(name, str) and names.LABEL.match(name) is not None


def _table(tables: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = tables.get(key)
    return found if isinstance(found, dict) else {}
