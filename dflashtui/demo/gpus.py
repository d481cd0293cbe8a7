"""GPUs of a simulated host: RTX PRO 6000 Blackwell, 96 GB. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.clock import moment
from dflashtui.demo.noise import between, hex_id, moving
from dflashtui.demo.plan import Behaviour
from dflashtui.demo.run import OUT_OF_MEMORY_SHARE
from dflashtui.demo.writing import HOSTILE, load
from dflashtui.model.gpu import Gpu, GpuProcess, Xid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.demo.plan import HostPlan
    from dflashtui.demo.run import Run
    from dflashtui.demo.service import Service

MIB = 2**20
TOTAL_BYTES = 97887 * MIB
RESERVED_BYTES = 622 * MIB
NAME = "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"
POWER_LIMIT_WATTS = 600.0
IDLE_WATTS = 14.0
SLOWDOWN_CELSIUS = 92
CLOCK_MAX_MHZ = 3090
CLOCK_IDLE_MHZ = 180
MEMORY_CLOCK_MHZ, MEMORY_CLOCK_IDLE_MHZ = 14001, 405
ORPHAN_BYTES = 18_432 * MIB
ORPHAN_PID = 28817
LOST = "GPU is lost. Reboot the system to recover this GPU"
XID_FELL_OFF = 79
CAPPED_FROM_WATTS = 560.0
SILENT = frozenset({Behaviour.LOOPS, Behaviour.LOST_ITS_GPU, Behaviour.IS_SICK})


def pci_bus_id(index: int) -> str:
    """In NVML's form."""
    return f"00000000:{1 + 0x20 * index:02X}:00.0"


def fell_off(index: int, at: float) -> Xid:
    """The kernel's word about a GPU that is gone."""
    return Xid(
        pci_bus_id=pci_bus_id(index),
        xid=XID_FELL_OFF,
        at=moment(at),
        message="GPU has fallen off the bus.",
    )


def gpus(plan: HostPlan, services: Sequence[Service], now: float, xid: Xid | None) -> tuple[Gpu, ...]:
    """All eight at one moment."""
    return tuple(_gpu(plan, index, services, now, xid) for index in range(8))


def _gpu(plan: HostPlan, index: int, services: Sequence[Service], now: float, xid: Xid | None) -> Gpu:
    uuid = "GPU-{}-{}-{}-{}-{}".format(*(hex_id(size, plan.name, index, size) for size in (8, 4, 4, 4, 12)))
    if index == plan.lost_gpu:
        return Gpu(index=index, uuid=uuid, name=NAME, pci_bus_id=pci_bus_id(index), lost=LOST, last_xid=xid)
    users = [service for service in services if index in service.plan.gpus and service.run]
    processes = [_process(service, now) for service in users]
    if index == plan.orphan_gpu:
        processes.append(_orphan(is_hostile=plan.is_hostile))
    percent = min(100, sum(_utilization(service, now) for service in users))
    return _measured(plan, index, uuid, tuple(processes), percent, now)


def _measured(
    plan: HostPlan, index: int, uuid: str, processes: tuple[GpuProcess, ...], percent: int, now: float
) -> Gpu:
    busy = percent / 100
    power = IDLE_WATTS + between(0, 9, plan.name, index) + (470 + 90 * moving(now, 9, plan.name, index)) * busy
    is_used = bool(processes)
    return Gpu(
        index=index,
        uuid=uuid,
        name=NAME,
        pci_bus_id=pci_bus_id(index),
        utilization_percent=percent,
        utilization_memory_percent=int(percent * 0.6),
        memory_used_bytes=sum(process.memory_used_bytes or 0 for process in processes),
        memory_reserved_bytes=RESERVED_BYTES,
        memory_total_bytes=TOTAL_BYTES,
        power_watts=round(power, 1),
        power_limit_watts=POWER_LIMIT_WATTS,
        temperature_celsius=int(29 + between(0, 6, plan.name, index) + 44 * busy + 4 * moving(now, 31, index)),
        temperature_slowdown_celsius=SLOWDOWN_CELSIUS,
        clock_sm_mhz=int(2300 + 480 * moving(now, 13, plan.name, index)) if is_used else CLOCK_IDLE_MHZ,
        clock_memory_mhz=MEMORY_CLOCK_MHZ if is_used else MEMORY_CLOCK_IDLE_MHZ,
        clock_sm_max_mhz=CLOCK_MAX_MHZ,
        performance_state=1 if is_used else 8,
        fan_percent=int(30 + 45 * busy),
        clocks_event_reasons=_reasons(power, percent, is_used=is_used),
        ecc_uncorrected_count=0,
        remapped_rows_uncorrectable=0,
        remapped_rows_pending=False,
        remapped_rows_failed=False,
        mig_enabled=False,
        compute_capability="12.0",
        processes=processes,
    )


def _reasons(power: float, percent: int, *, is_used: bool) -> tuple[str, ...]:
    if power >= CAPPED_FROM_WATTS:
        return ("sw_power_cap",)
    return () if is_used and percent else ("gpu_idle",)


def _orphan(*, is_hostile: bool) -> GpuProcess:
    command = "python train_draft.py --resume checkpoints/last"
    return GpuProcess(
        pid=ORPHAN_PID,
        held_by="session-5.scope",
        user="root",
        memory_used_bytes=ORPHAN_BYTES,
        command=f"{command} {HOSTILE}" if is_hostile else command,
    )


def _process(service: Service, now: float) -> GpuProcess:
    run, plan = service.run, service.plan
    return GpuProcess(
        pid=run.pid if run else 0,
        unit=plan.unit,
        memory_used_bytes=memory_bytes(service, run, now) if run else None,
        command=plan.command,
    )


def memory_bytes(service: Service, run: Run, now: float) -> int:
    """Held on each of its GPUs: weights come in steps, then the cache at once."""
    plan = service.plan
    if run.behaviour in {Behaviour.LOOPS, Behaviour.LOST_ITS_GPU}:
        return 512 * MIB if now > run.started + 1 else 0
    share = (now - run.started) / run.load_seconds
    if share >= OUT_OF_MEMORY_SHARE:
        return plan.memory_bytes // MIB * MIB
    weights = min(1.0, max(0.0, (share - 0.16) / 0.32))
    return int((600 * MIB + weights * plan.memory_bytes * 0.66) // MIB * MIB)


def _utilization(service: Service, now: float) -> int:
    run, plan = service.run, service.plan
    if run is None or run.behaviour in SILENT:
        return 0
    if now < run.ready_at:
        share = (now - run.started) / run.load_seconds
        return int(between(70, 100, int(now), plan.unit)) if share > OUT_OF_MEMORY_SHARE else int(30 * share)
    busy = load(plan, now)
    return int(busy and min(100, 38 + 58 * busy + 8 * moving(now, 3, plan.unit)))
