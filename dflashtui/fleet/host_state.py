"""The one place where a host's snapshot is changed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dflashtui.model.host import HostSnapshot, Link, LinkState, SourceState
from dflashtui.model.unit import Readiness, UnitStatus
from dflashtui.source.readiness import without_asking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from dflashtui.fleet.board import Board
    from dflashtui.model.event import Event
    from dflashtui.model.gpu import Gpu, Xid
    from dflashtui.source.readiness import Asked

ResourceUse = tuple[int | None, float | None, int | None]
"""Memory in bytes, CPU in percent of one core, tasks."""
XIDS_KEPT = 50


class HostState:
    """Folds what the sources say into the newest snapshot and posts it."""

    def __init__(self, name: str, board: Board, clock: Callable[[], datetime], with_rule: frozenset[str]) -> None:
        """`with_rule`: units that can be asked whether they answer."""
        self.name = name
        self._board = board
        self._clock = clock
        self._with_rule = with_rule
        self._units: tuple[UnitStatus, ...] | None = None
        self._use: Mapping[str, ResourceUse] = {}
        self._asked: dict[str, Asked] = {}
        self._asked_at: dict[str, datetime] = {}

    @property
    def snapshot(self) -> HostSnapshot:
        """The newest one."""
        return self._board[self.name]

    def post(self, *events: Event, **changes: Any) -> None:  # noqa: ANN401 - fields of HostSnapshot
        """Change fields of the snapshot."""
        self._board.post(self.snapshot.model_copy(update=changes), *events)

    def heard(self, **changes: Any) -> None:  # noqa: ANN401 - fields of HostSnapshot
        """As `post`, and the host has spoken just now."""
        self.post(observed_at=self._clock(), **changes)

    def link(self, state: LinkState, **fields: Any) -> None:  # noqa: ANN401 - fields of Link
        """Say how the link stands; `since` is kept while the state stays."""
        before = self.snapshot.link
        since = before.since if before.state is state and before.since else self._clock()
        self.post(link=Link(state=state, since=since, **fields))

    def source(self, source: str, *, via: str | None = None, problem: str | None = None) -> None:
        """Say how one source is read, or why it cannot be."""
        others = tuple(state for state in self.snapshot.sources if state.source != source)
        mine = SourceState(source=source, via=via, problem=problem)
        self.post(sources=tuple(sorted((*others, mine), key=lambda state: state.source)))

    def units(self, units: tuple[UnitStatus, ...]) -> None:
        """The manager's word about all watched units."""
        self._units = units
        current = {unit.name: unit.invocation_id for unit in units}
        self._asked = {name: asked for name, asked in self._asked.items() if current.get(name) == asked.invocation_id}
        self.heard(units=self._merged())

    def use(self, use: Mapping[str, ResourceUse], gpus: tuple[Gpu, ...] | None, **changes: Any) -> None:  # noqa: ANN401
        """One sample: what the units' cgroups use, and the GPUs."""
        self._use = use
        self.heard(units=self._merged(), gpus=self._with_xids(gpus), gpus_at=self._clock() if gpus else None, **changes)

    def asked(self, unit: str, asked: Asked) -> None:
        """What a service answered."""
        self._asked[unit] = asked
        self._asked_at[unit] = self._clock()
        self.heard(units=self._merged())

    def known_answer(self, unit: str) -> Asked | None:
        """What this run of the unit answered last."""
        return self._asked.get(unit)

    def xid(self, xid: Xid) -> None:
        """A fault from the kernel log; one that was told before (a journal read again) is not a new one."""
        if xid in self.snapshot.xids:
            return
        self.post(xids=(*self.snapshot.xids, xid)[-XIDS_KEPT:])
        self.post(gpus=self._with_xids(self.snapshot.gpus))

    def acknowledge(self) -> None:
        """The faults so far were seen."""
        gpus = self.snapshot.gpus
        self.post(xids=(), gpus=gpus and tuple(gpu.model_copy(update={"last_xid": None}) for gpu in gpus))

    def _with_xids(self, gpus: tuple[Gpu, ...] | None) -> tuple[Gpu, ...] | None:
        last = {xid.pci_bus_id: xid for xid in self.snapshot.xids}
        return gpus and tuple(gpu.model_copy(update={"last_xid": last.get(gpu.pci_bus_id or "")}) for gpu in gpus)

    def _merged(self) -> tuple[UnitStatus, ...] | None:
        return self._units and tuple(self._one(unit) for unit in self._units)

    def _one(self, unit: UnitStatus) -> UnitStatus:
        update: dict[str, Any] = self._readiness(unit)
        if unit.name in self._use:
            memory, cpu, tasks = self._use[unit.name]
            update |= {"memory_current_bytes": memory, "cpu_percent": cpu, "tasks_current": tasks}
        return unit.model_copy(update=update)

    def _readiness(self, unit: UnitStatus) -> dict[str, Any]:
        settled = without_asking(unit, has_rule=unit.name in self._with_rule)
        if settled is not None:
            return {"readiness": settled}
        asked = self._asked.get(unit.name)
        if asked is None:
            return {"readiness": Readiness.UNKNOWN, "readiness_detail": "not asked yet"}
        return {
            "readiness": asked.readiness,
            "readiness_detail": asked.detail,
            "readiness_at": self._asked_at[unit.name],
        }


def skew_seconds(host_clock: datetime, heard_at: datetime, latency: timedelta = timedelta()) -> float:
    """Host's clock minus ours, rounded to what a one-way message can tell."""
    return round((host_clock - heard_at + latency).total_seconds(), 1)
