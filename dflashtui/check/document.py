"""The JSON document of `--check` (contract, part 4)."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Self

from pydantic import ConfigDict

from dflashtui.check.verdict import Verdict, verdict
from dflashtui.model.base import Value
from dflashtui.model.finding import Cause, Finding
from dflashtui.model.gpu import Gpu
from dflashtui.model.host import HostSnapshot, LinkState, SourceState
from dflashtui.model.unit import UnitStatus

if TYPE_CHECKING:
    from collections.abc import Iterable


class Document(Value):
    """What a script reads. `null` is unknown, never 0."""


class UnitDocument(UnitStatus, Document):
    """A unit, and why its last run failed."""

    cause: Cause | None = None


class HostDocument(Document):
    """A host, how the link to it stood, and what it said."""

    name: str
    state: LinkState
    error: str | None
    """Why the host could not be looked at."""
    latency_ms: float | None
    """Round trip of a small command."""
    systemd_version: int | None
    driver_version: str | None
    gpus: tuple[Gpu, ...] | None
    """By index; `null`: no driver, or not read (see `sources`)."""
    units: tuple[UnitDocument, ...] | None
    sources: tuple[SourceState, ...]

    @classmethod
    def of(cls, snapshot: HostSnapshot) -> Self:
        """The document of one snapshot."""
        units, causes = snapshot.units, {cause.unit: cause for cause in snapshot.causes}
        return cls(
            name=snapshot.name,
            state=snapshot.link.state,
            error=snapshot.link.error,
            latency_ms=snapshot.link.latency_ms,
            systemd_version=snapshot.systemd_version,
            driver_version=snapshot.driver_version,
            gpus=snapshot.gpus,
            units=None
            if units is None
            else tuple(UnitDocument(**unit.model_dump(), cause=causes.get(unit.name)) for unit in units),
            sources=snapshot.sources,
        )


class CheckDocument(Document):
    """One look at every host."""

    schema_version: Literal[1] = 1
    at: datetime
    """When the look ended, UTC."""
    demo: bool = False
    """The fleet was simulated."""
    verdict: Verdict
    hosts: tuple[HostDocument, ...]
    findings: tuple[Finding, ...]

    model_config = ConfigDict(alias_generator=lambda name: "schema" if name == "schema_version" else name)


def document(snapshots: Iterable[HostSnapshot], findings: tuple[Finding, ...], *, at: datetime, is_demo: bool) -> str:
    """One line of JSON, all of it ASCII."""
    hosts = tuple(map(HostDocument.of, snapshots))
    whole = CheckDocument(at=at, demo=is_demo, verdict=verdict(findings), hosts=hosts, findings=findings)
    return json.dumps(whole.model_dump(mode="json", by_alias=True))
