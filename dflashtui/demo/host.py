"""One simulated host: its services, its GPUs, and the snapshot that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.clock import moment
from dflashtui.demo.gpus import fell_off, gpus
from dflashtui.demo.links import is_read, link, sources
from dflashtui.demo.noise import between, hex_id, moving
from dflashtui.demo.plan import GIB, HostFault
from dflashtui.demo.service import GPU_LOST_SECONDS_AGO, Service
from dflashtui.demo.statuses import status
from dflashtui.model.host import HostSnapshot, LinkState

if TYPE_CHECKING:
    from dflashtui.demo.plan import HostPlan
    from dflashtui.model.gpu import Gpu, Xid

LOST_SECONDS_AGO = 190.0
SHM_TOTAL_BYTES = 504 * GIB
SKEW_SECONDS = 4.2


class DemoHost:
    """Times are seconds since the epoch."""

    def __init__(self, plan: HostPlan, seed: int, born: float) -> None:
        self.plan = plan
        self.services = {service.unit: Service(service, seed, born) for service in plan.services}
        self.is_acknowledged = False
        self._born = born
        self._connects_at = born + between(0.05, 0.6, seed, plan.name)
        self._frozen_at = born - LOST_SECONDS_AGO if plan.fault is HostFault.LOST else None

    def advance(self, now: float) -> bool:
        """Let everything happen that is due; whether a unit changed."""
        happened = [service.advance(now) for service in self.services.values()]
        return any(happened)

    def is_connected(self, now: float) -> bool:
        """Whether its link has had the time to come up."""
        return now >= self._connects_at

    def answers(self, now: float) -> bool:
        """Whether its link is up."""
        return self.is_connected(now) and link(self.plan.fault, self._born, now).state is LinkState.UP

    def connect(self) -> None:
        """At once, without the usual half second."""
        self._connects_at = self._born

    def before_contact(self) -> HostSnapshot:
        """What the inventory alone tells."""
        plan = self.plan
        return HostSnapshot(
            name=plan.name,
            group=plan.group,
            address=plan.address,
            protected=plan.protected,
            read_only=plan.read_only,
            link=link(HostFault.CONNECTING, self._born, self._born),
        )

    def snapshot(self, now: float) -> HostSnapshot:
        """Its newest values."""
        fault = self.plan.fault
        update = {"link": link(fault, self._born, now), "sources": sources(fault)}
        if not is_read(fault):
            return self.before_contact().model_copy(update=update if fault is not HostFault.CONNECTING else {})
        return self.before_contact().model_copy(update=update | self._values(self._frozen_at or now))

    def _values(self, now: float) -> dict[str, object]:
        plan = self.plan
        services = tuple(self.services.values())
        xid = None if self.is_acknowledged or plan.lost_gpu is None else self._xid()
        found: tuple[Gpu, ...] | None = None
        if plan.fault is not HostFault.NO_DRIVER:
            found = gpus(plan, services, now, xid)
        return {
            "observed_at": moment(now),
            "systemd_version": 252,
            "boot_id": hex_id(32, plan.name, "boot"),
            "clock_skew_seconds": SKEW_SECONDS if plan.fault is HostFault.CLOCK_SKEW else 0.0,
            "driver_version": None if found is None else "580.95.05",
            "cuda_driver_version": None if found is None else "13.0",
            "gpus": found,
            "gpus_at": None if found is None else moment(now),
            "units": tuple(status(service, now) for service in services),
            "shm_used_bytes": int(between(54, 130, plan.name) * GIB + 2**20 * int(40 * moving(now, 20, plan.name))),
            "shm_total_bytes": SHM_TOTAL_BYTES,
            "xids": (xid,) if xid else (),
            "channels": 3,
        }

    def _xid(self) -> Xid:
        return fell_off(self.plan.lost_gpu or 0, self._born - GPU_LOST_SECONDS_AGO)
