"""What a valid hosts.toml says (contract, part 3), defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dflashtui.model.base import Value

Engine = Literal["sglang", "vllm", "openai", "none"]


class Group(Value):
    """Hosts that belong together."""

    name: str
    protected: bool = False
    read_only: bool = False


class Host(Value):
    """One host of the inventory."""

    name: str
    address: str | None = None
    """Default: the name itself, resolved as ssh would."""
    port: int | None = None
    user: str | None = None
    group: str | None = None
    transport: Literal["ssh", "local"] = "ssh"
    manager: Literal["system", "user"] = "system"
    become: Literal["none", "sudo"] = "none"
    identity_file: Path | None = None
    known_hosts: Path | None = None
    units: tuple[str, ...] = ()
    """Names or globs to watch beside the units that name this host."""
    vars: Mapping[str, Any] = {}


class ReadinessRule(Value):
    """How a unit is asked whether it answers; `None`: the engine's own rule."""

    url: str | None = None
    via: Literal["host", "console"] = "host"
    timeout_seconds: float | None = None


class Overlay(Value):
    """Files laid over an installed package."""

    source: Path
    package: str
    version: str | None = None
    """The only version of the package that they fit; `None`: any."""


class Unit(Value):
    """One unit of the inventory."""

    name: str
    description: str | None = None
    hosts: tuple[str, ...] = ()
    template: str | None = None
    file: Path | None = None
    engine: Engine = "none"
    python: str | None = None
    model: str | None = None
    gpus: tuple[int | str, ...] = ()
    listen: str | None = None
    args: Mapping[str, Any] = {}
    extra_args: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    reference: str | None = None
    readiness: ReadinessRule = ReadinessRule()
    overlays: tuple[Overlay, ...] = ()


class Console(Value):
    """How the console looks and which keys do what."""

    theme: str = "dflash-dark"
    mouse: bool = True
    bell: Literal["never", "on-bad"] = "never"
    keymap: Mapping[str, str] = {}
    """Binding id to keys: `{"unit.restart": "R"}`."""


class Config(Value):
    """The whole inventory."""

    path: Path | None = None
    """`None`: no file was found, the local machine alone."""
    hosts: tuple[Host, ...] = ()
    groups: tuple[Group, ...] = ()
    units: tuple[Unit, ...] = ()
    console: Console = Console()
    warnings: tuple[str, ...] = ()
    """What is allowed but unwise about the file: sentences that name it."""

    def host(self, name: str) -> Host:
        """The host of that name. Raises `KeyError`."""
        return next((host for host in self.hosts if host.name == name), None) or _missing(name)

    def group_of(self, host: Host) -> Group | None:
        """The host's group."""
        return next((group for group in self.groups if group.name == host.group), None)

    def watched(self, host: Host) -> tuple[str, ...]:
        """Unit names and globs to watch on a host: those defined for it first, then its own list, each once."""
        own = [unit.name for unit in self.units if host.name in unit.hosts]
        return tuple(dict.fromkeys([*own, *host.units]))

    def unit(self, name: str) -> Unit | None:
        """The definition of a unit, if there is one."""
        return next((unit for unit in self.units if unit.name == name), None)


def _missing(name: str) -> Host:
    raise KeyError(name)
