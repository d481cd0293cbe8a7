"""From tables to values: defaults merged in, paths made whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.config.file import unwise
from dflashtui.config.model import Config, Console, Group, Host, Overlay, ReadinessRule, Unit
from dflashtui.config.templates import own_template

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.config.schema import Document, HostTable, OverlayTable, Table, UnitTable

PATHS = ("identity_file", "known_hosts", "file")


def build(document: Document, path: Path, warnings: tuple[str, ...]) -> Config:
    """The inventory of a file without errors. Relative paths count from the file's folder."""
    folder = path.absolute().parent
    return Config(
        path=path,
        hosts=tuple(_host(name, document.defaults, table, folder) for name, table in document.hosts.items()),
        groups=tuple(Group(name=name, **_written(table)) for name, table in document.groups.items()),
        units=tuple(_unit(name, table, folder) for name, table in document.units.items()),
        console=Console(**_written(document.console)),
        warnings=(*warnings, *_unwise_beside(document, folder)),
    )


def _written(table: Table) -> dict[str, Any]:
    """The keys that stand in the file."""
    return {key: getattr(table, key) for key in table.model_fields_set}


def _host(name: str, defaults: HostTable, table: HostTable, folder: Path) -> Host:
    merged = {**_written(defaults), **_written(table), "vars": {**defaults.vars, **table.vars}}
    return Host(name=name, **_whole(merged, folder))


def _unit(name: str, table: UnitTable, folder: Path) -> Unit:
    rule = table.readiness
    written = {
        **_written(table),
        "hosts": dict.fromkeys(table.hosts),
        "readiness": ReadinessRule(url=rule.url, via=rule.via, timeout_seconds=rule.timeout),
        "overlays": [_overlay(each, folder) for each in table.overlays],
    }
    return Unit(name=name, **_whole(written, folder))


def _overlay(table: OverlayTable, folder: Path) -> Overlay:
    return Overlay(source=folder / table.source, package=table.package, version=table.version)


def _whole(written: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Lists as tuples, paths from the root on."""
    tuples = {
        key: tuple(value)
        for key, value in written.items()
        if key in {"units", "hosts", "gpus", "extra_args", "overlays"}
    }
    paths = {key: folder / written[key] for key in PATHS if key in written}
    return {**written, **tuples, **paths}


def _unwise_beside(document: Document, folder: Path) -> Iterator[str]:
    """Warnings about the texts that would be pushed to hosts."""
    files = {folder / unit.file for unit in document.units.values() if unit.file}
    own = {own_template(unit.template, folder) for unit in document.units.values() if unit.template}
    for path in sorted({*files, *filter(None, own)}):
        if path.is_file():
            yield from unwise(path, path.stat())
