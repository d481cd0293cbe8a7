"""What a template is given: tables of hosts.toml, and what follows from them. Plain values, no objects of ours."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from dflashtui.config.quantities import LISTEN
from dflashtui.unitfile.quoting import plain, writable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflashtui.config.model import Config, Host, Unit
    from dflashtui.config.problems import Keys

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CUDA_TOOLS = "/usr/local/cuda/bin"
VISIBLE = "CUDA_VISIBLE_DEVICES"
SHM = "/dev/shm/"  # noqa: S108 - models stand there


class Table(dict[str, Any]):
    """A table that knows its name, for messages about what it lacks."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        super().__init__({key: _named(f"{name}.{key}", value) for key, value in values.items() if value is not None})
        self._title = name

    def __str__(self) -> str:
        """Its name in hosts.toml."""
        return self._title


def title(table: Table) -> str:
    """`[hosts.gpu-a.vars]`."""
    return str(table)


def _named(name: str, value: Any) -> Any:  # noqa: ANN401 - any value of TOML
    return Table(name, value) if isinstance(value, dict) else value


class UnfitValueError(ValueError):
    """A value of hosts.toml that cannot be used, by its keys."""

    def __init__(self, keys: Keys, message: str) -> None:
        super().__init__(message)
        self.keys = keys


def values(config: Config, unit: Unit, host: Host) -> dict[str, Any]:
    """Everything that a template may name. Raises `UnfitValueError`."""
    table = _unit_table(config, unit)
    _check(("units", unit.name), table)
    _check(("hosts", host.name, "vars"), host.vars)
    return {
        "unit": Table(f'[units."{unit.name}"]', table),
        "host": Table(f"[hosts.{host.name}]", host.model_dump(mode="json", exclude={"vars", "units"})),
        "vars": Table(f"[hosts.{host.name}.vars]", host.vars),
        "listen": Table(f'listen of [units."{unit.name}"]', _listen(unit)),
        "description": unit.description or _description(unit),
        "environment": environment(unit),
        "environment_file": _environment_file(unit, host),
        "needed_paths": list(dict.fromkeys(_needed_paths(unit))),
    }


def _unit_table(config: Config, unit: Unit) -> dict[str, Any]:
    table = unit.model_dump(mode="json", exclude={"overlays", "readiness"})
    return {**table, "file": None, "folder": str(config.path.absolute().parent) if config.path else None}


def _check(keys: Keys, value: object) -> None:
    """Refuse what no line of a unit file can hold, naming its keys."""
    match value:
        case str():
            try:
                writable(value)
            except ValueError as unfit:
                raise UnfitValueError(keys, str(unfit)) from None
        case dict():
            for key, each in value.items():
                _check((*keys, str(key)), each)
        case list() | tuple():
            for position, each in enumerate(value):
                _check((*keys, position), each)


def _listen(unit: Unit) -> dict[str, Any]:
    parts = LISTEN.match(unit.listen or "")
    return {"host": parts["ipv6"] or parts["host"], "port": int(parts["port"])} if parts else {}


def _description(unit: Unit) -> str:
    """`sglang Qwen3.6-27B on GPU 1 (port 30001)`."""
    model = (unit.model or "").rstrip("/").rpartition("/")[2]
    listen = _listen(unit)
    words = (
        unit.name.rpartition(".")[0] if unit.engine == "none" else unit.engine,
        model,
        f"on GPU {','.join(map(str, unit.gpus))}" if unit.gpus else "",
        f"(port {listen['port']})" if listen else "",
    )
    return " ".join(filter(None, words))


def environment(unit: Unit) -> dict[str, str]:
    """What `Environment=` sets; the unit's own variables last, so that they win. Raises `UnfitValueError`."""
    found = {"PYTHONUNBUFFERED": "1"}
    if unit.python:
        found["PATH"] = f"{unit.python.rpartition('/')[0]}:{SYSTEM_PATH}:{CUDA_TOOLS}"
    if unit.gpus:
        visible = ",".join(map(str, unit.gpus))
        if unit.environment.get(VISIBLE, visible) != visible:
            raise UnfitValueError(("units", unit.name, "environment", VISIBLE), f"says otherwise than gpus ({visible})")
        found |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", VISIBLE: visible}
    return found | dict(unit.environment)


def _environment_file(unit: Unit, host: Host) -> str:
    """As a unit file writes it: `%h` is the home folder of the user manager's user."""
    folder = "/etc/dflashtui" if host.manager == "system" else "%h/.config/dflashtui"
    return f"{folder}/{plain(unit.name.rpartition('.')[0])}.env"


def _needed_paths(unit: Unit) -> Iterator[str]:
    """The models that the arguments name, and whatever stands in /dev/shm."""
    if unit.model and unit.model.startswith("/"):
        yield unit.model
    for key, value in _named_texts(unit.args):
        if value.startswith(SHM) or (value.startswith("/") and "model" in key):
            yield value


def _named_texts(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict):
            yield from _named_texts(value)


def options(defaults: Mapping[str, Any], args: Mapping[str, Any]) -> list[str]:
    """The words of an engine's options: `args` laid over defaults, which keep their place.

    `true`: the flag alone; `false`: left out; a list: its items behind one flag; a table: as JSON.
    """
    own = {_flag(name): value for name, value in args.items()}
    found = {_flag(name): value for name, value in defaults.items()} | own
    return list(chain.from_iterable(_words(flag, value) for flag, value in found.items()))


def _flag(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def _words(flag: str, value: object) -> list[str]:
    match value:
        case False | None:
            return []
        case True:
            return [flag]
        case list() | tuple():
            return [flag, *map(spelled, value)]
        case _:
            return [flag, spelled(value)]


def spelled(value: object) -> str:
    """A value of TOML as an argument: text as it is, everything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
