"""The one place where a host's snapshot is changed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dflashtui.engines.answers import without_asking
from dflashtui.errors import AuthDenied, DflashError, HostKeyRejected, TransportError
from dflashtui.fleet.board import utc_now
from dflashtui.fleet.service_facts import ServiceFacts
from dflashtui.model.host import HostSnapshot, Link, LinkState, SourceState
from dflashtui.model.unit import Readiness, UnitStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from dflashtui.engines.answers import Asked
    from dflashtui.fleet.board import Board
    from dflashtui.fleet.plan import HostPlan
    from dflashtui.model.event import Event
    from dflashtui.model.gpu import Gpu, Xid
    from dflashtui.model.kernel import OomKill
    from dflashtui.model.load import Load

ResourceUse = tuple[int | None, float | None, int | None]
"""Memory in bytes, CPU in percent of one core, tasks."""
XIDS_KEPT = 50


class HostState:
    """Folds what the sources say into the newest snapshot and posts it."""

    def __init__(self, plan: HostPlan, board: Board, clock: Callable[[], datetime] = utc_now) -> None:
        self.name = plan.host.name
        self._plan = plan
        self._board = board
        self._clock = clock
        self._units: tuple[UnitStatus, ...] | None = None
        self._use: Mapping[str, ResourceUse] = {}
        self._asked: dict[str, Asked] = {}
        self._asked_at: dict[str, datetime] = {}
        self._services = ServiceFacts()

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

    def down(self, failure: DflashError, *, attempt: int = 0, retry_at: datetime | None = None, note: str = "") -> None:
        """The link failed, or could not be made. `note`: what is said before the reason."""
        rejected = failure if isinstance(failure, HostKeyRejected) else None
        self.link(
            link_state(failure),
            error=note + (failure.reason if isinstance(failure, TransportError) else str(failure)),
            attempt=attempt,
            retry_at=retry_at,
            fingerprints=rejected.fingerprints if rejected else (),
            known_hosts_line=(rejected.line or None) if rejected else None,
        )

    def clock_set_back(self, seconds: float) -> None:
        """The console's own clock was: moments that were read from it move along."""
        back = timedelta(seconds=seconds)
        self._asked_at = {unit: at - back for unit, at in self._asked_at.items()}
        snapshot, link = self.snapshot, self.snapshot.link
        self.post(
            observed_at=_before(snapshot.observed_at, back),
            gpus_at=_before(snapshot.gpus_at, back),
            link=link.model_copy(update={"since": _before(link.since, back), "retry_at": _before(link.retry_at, back)}),
        )

    def source(
        self, source: str, *, via: str | None = None, problem: str | None = None, is_absent: bool = False
    ) -> None:
        """Say how one source is read, or why it cannot be; missing GPUs are a fault where units want some."""
        is_absent = is_absent and not (source == "gpus" and self._plan.expects_gpus)
        others = tuple(state for state in self.snapshot.sources if state.source != source)
        mine = SourceState(source=source, via=via, problem=problem, is_absent=is_absent)
        self.post(sources=tuple(sorted((*others, mine), key=lambda state: state.source)))

    def units(self, units: tuple[UnitStatus, ...]) -> None:
        """The manager's word about all watched units."""
        self._units = units
        self._services.saw(units)
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

    def note_run(self, unit: str, invocation_id: str | None, **facts: Any) -> None:  # noqa: ANN401 - fields of RunFacts
        """What was found out about one run of a service."""
        if self._services.note(unit, invocation_id, **facts):
            self.post(units=self._merged())

    def note_log_load(self, unit: str, invocation_id: str, load: Load) -> None:
        """Figures from a log line; those of metrics are newer and wider."""
        known = self._services.of(unit, invocation_id).load
        if known is None or known.via == "log":
            self.note_run(unit, invocation_id, load=load, load_problem=None)

    def proven(self, unit: str, words: str) -> None:
        """A real completion of the unit's present run came from the right model."""
        status = self.snapshot.unit(unit)
        if status is not None:
            self.note_run(status.name, status.invocation_id, proof=words, proven_at=self._clock())

    def known_answer(self, unit: str) -> Asked | None:
        """What this run of the unit answered last."""
        return self._asked.get(unit)

    def xid(self, xid: Xid) -> None:
        """A fault from the kernel log; one that was told before (a journal read again) is not a new one."""
        if xid in self.snapshot.xids:
            return
        self.post(xids=(*self.snapshot.xids, xid)[-XIDS_KEPT:])
        self.post(gpus=self._with_xids(self.snapshot.gpus))

    def oom_kill(self, kill: OomKill) -> None:
        """A process that the kernel ended for want of memory; one that was told before is not a new one."""
        if kill not in self.snapshot.oom_kills:
            self.post(oom_kills=(*self.snapshot.oom_kills, kill)[-XIDS_KEPT:])

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
        is_server = unit.name in self._plan.readiness_rules
        update |= self._services.merged(unit, update["readiness"], self._asked.get(unit.name), is_server=is_server)
        if unit.name in self._use:
            memory, cpu, tasks = self._use[unit.name]
            update |= {"memory_current_bytes": memory, "cpu_percent": cpu, "tasks_current": tasks}
        return unit.model_copy(update=update)

    def _readiness(self, unit: UnitStatus) -> dict[str, Any]:
        settled = without_asking(unit, has_rule=unit.name in self._plan.readiness_rules)
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


def _before(moment: datetime | None, span: timedelta) -> datetime | None:
    return None if moment is None else moment - span


def link_state(failure: DflashError) -> LinkState:
    """The word of the contract for a failure of the link."""
    match failure:
        case AuthDenied():
            return LinkState.AUTH_FAILED
        case HostKeyRejected(kind="unknown"):
            return LinkState.HOSTKEY_UNKNOWN
        case HostKeyRejected():
            return LinkState.HOSTKEY_CHANGED
        case _ if failure.transient:
            return LinkState.UNREACHABLE
        case _:
            return LinkState.MISCONFIGURED
