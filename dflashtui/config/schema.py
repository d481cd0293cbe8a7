"""The tables of hosts.toml as they are written (contract, part 3). Types are exact: `"22"` is no port."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator

from dflashtui.config import names, quantities
from dflashtui.config.model import Engine

Label = Annotated[str, AfterValidator(names.label)]
Address = Annotated[str, AfterValidator(names.address)]
User = Annotated[str, AfterValidator(names.user)]
UnitName = Annotated[str, AfterValidator(names.unit)]
UnitOrGlob = Annotated[str, AfterValidator(names.unit_or_glob)]
Port = Annotated[int, PlainValidator(quantities.port)]
SpanSeconds = Annotated[float, PlainValidator(quantities.span_seconds)]
Gpu = Annotated[int | str, PlainValidator(quantities.gpu)]
Listen = Annotated[str, AfterValidator(quantities.listen)]
Url = Annotated[str, AfterValidator(quantities.http_url)]
Line = Annotated[str, AfterValidator(quantities.line)]
Argument = Annotated[str, AfterValidator(quantities.argument)]
Variable = Annotated[str, AfterValidator(quantities.variable)]
Flag = Annotated[str, AfterValidator(quantities.flag)]
FlagValue = Annotated[Any, PlainValidator(quantities.flag_value)]
HostPath = Annotated[str, AfterValidator(quantities.host_path)]
LocalPath = Annotated[str, AfterValidator(quantities.local_path)]


class Table(BaseModel):
    """A table of the file: no other keys, no conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class HostTable(Table):
    """`[hosts.NAME]` and `[defaults]`."""

    address: Address | None = None
    port: Port | None = None
    user: User | None = None
    group: Label | None = None
    transport: Literal["ssh", "local"] = "ssh"
    manager: Literal["system", "user"] = "system"
    become: Literal["none", "sudo"] = "none"
    identity_file: LocalPath | None = None
    known_hosts: LocalPath | None = None
    units: list[UnitOrGlob] = []
    vars: dict[str, Any] = {}


class GroupTable(Table):
    """`[groups.NAME]`."""

    protected: bool = False
    read_only: bool = False


class ReadinessTable(Table):
    """`[units.NAME.readiness]`."""

    url: Url | None = None
    via: Literal["host", "console"] = "host"
    timeout: SpanSeconds | None = None


class OverlayTable(Table):
    """`[[units.NAME.overlays]]`."""

    source: LocalPath
    package: Label
    version: Line | None = None


class UnitTable(Table):
    """`[units."NAME.service"]`."""

    description: Line | None = None
    hosts: list[Label]
    template: Label | None = None
    file: LocalPath | None = None
    engine: Engine = "none"
    python: HostPath | None = None
    model: Line | None = None
    gpus: list[Gpu] = []
    listen: Listen | None = None
    args: dict[Flag, FlagValue] = {}
    extra_args: list[Argument] = []
    environment: dict[Variable, Argument] = {}
    reference: Label | None = None
    readiness: ReadinessTable = ReadinessTable.model_construct()
    overlays: list[OverlayTable] = []


class ConsoleTable(Table):
    """`[console]`."""

    theme: Line = "dflash-dark"
    mouse: bool = True
    bell: Literal["never", "on-bad"] = "never"
    keymap: dict[Line, Line] = {}


class Document(Table):
    """The whole file."""

    defaults: HostTable = HostTable.model_construct()
    groups: dict[Label, GroupTable] = {}
    hosts: dict[Label, HostTable] = {}
    units: dict[UnitName, UnitTable] = {}
    console: ConsoleTable = ConsoleTable.model_construct()
