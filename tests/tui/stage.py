"""Hosts, units and GPUs for the console's tests, at one moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from dflashtui.config.model import Config, Group, Host
from dflashtui.model.gpu import Gpu, GpuProcess, Xid
from dflashtui.model.host import HostSnapshot, Link, LinkState, SourceState
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
GIB = 2**30
HOSTILE = "[/x] [red]no[/] [@click=app.quit]x[/] \x1b]0;title\x07 \x1b[2J \x9b31m 日本語 \u202ereversed \x00"


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def gpu(index: int, **values: object) -> Gpu:
    usual: dict[str, object] = {
        "index": index,
        "uuid": f"GPU-{index:04d}",
        "name": "NVIDIA H200",
        "pci_bus_id": f"00000000:0{index}:00.0",
        "utilization_percent": 10 * index,
        "utilization_memory_percent": 40,
        "memory_used_bytes": (10 + index) * GIB,
        "memory_total_bytes": 140 * GIB,
        "power_watts": 300.0 + index,
        "power_limit_watts": 700.0,
        "temperature_celsius": 50 + index,
        "temperature_slowdown_celsius": 87,
        "clock_sm_mhz": 1980,
        "clock_sm_max_mhz": 1980,
        "clock_memory_mhz": 3201,
        "ecc_uncorrected_count": 0,
        "remapped_rows_uncorrectable": 0,
        "remapped_rows_pending": False,
        "remapped_rows_failed": False,
        "mig_enabled": False,
        "processes": (),
    }
    return Gpu.model_validate(usual | values)


def process(pid: int, unit: str | None, gib: int = 60, command: str = "python -m sglang.launch_server") -> GpuProcess:
    return GpuProcess(pid=pid, unit=unit, memory_used_bytes=gib * GIB, command=command)


def unit(name: str, **values: object) -> UnitStatus:
    usual: dict[str, object] = {
        "name": name,
        "load_state": LoadState.LOADED,
        "active_state": ActiveState.ACTIVE,
        "sub_state": "running",
        "description": f"serves with {name}",
        "result": "success",
        "unit_file_state": "enabled",
        "fragment_path": f"/etc/systemd/system/{name}",
        "main_pid": 4711,
        "invocation_id": "0123456789abcdef0123456789abcdef",
        "n_restarts": 0,
        "since": ago(3700),
        "started_at": ago(3700),
        "memory_current_bytes": 12 * GIB,
        "cpu_percent": 140.0,
        "readiness": Readiness.READY,
        "readiness_detail": "GET /health 200",
    }
    return UnitStatus.model_validate(usual | values)


READY = unit("sglang-a.service")
LOADING = unit(
    "vllm-b.service", readiness=Readiness.LOADING, readiness_detail="weights 62 %", since=ago(70), started_at=ago(70)
)
FAILED = unit(
    "broken.service",
    active_state=ActiveState.FAILED,
    sub_state="failed",
    result="signal",
    exec_main_code=2,
    exec_main_status=9,
    main_pid=None,
    memory_current_bytes=None,
    cpu_percent=None,
    since=ago(125),
    readiness=Readiness.FAILED,
    readiness_detail=None,
)
STOPPED = unit(
    "idle.service",
    active_state=ActiveState.INACTIVE,
    sub_state="dead",
    unit_file_state="disabled",
    main_pid=None,
    invocation_id=None,
    readiness=Readiness.NONE,
)


def host(name: str, **values: object) -> HostSnapshot:
    usual: dict[str, object] = {
        "name": name,
        "group": "lab",
        "address": f"{name}.example",
        "link": Link(state=LinkState.UP, since=ago(600), latency_ms=1.2),
        "observed_at": ago(1),
        "systemd_version": 252,
        "driver_version": "580.159.04",
        "gpus": (
            gpu(0, processes=(process(4711, READY.name),), utilization_percent=97),
            *(gpu(index) for index in range(1, 8)),
        ),
        "gpus_at": ago(1),
        "units": (READY, LOADING, STOPPED),
        "channels": 3,
        "sources": (SourceState(source="units", via="bus"), SourceState(source="gpus", via="sampler")),
    }
    return HostSnapshot.model_validate(usual | values)


CONNECTING = HostSnapshot(
    name="h-connecting", group="lab", link=Link(state=LinkState.CONNECTING, since=ago(7), step="handshake", attempt=1)
)
LIVE = host("h-live")
WITH_FAILURE = host("h-failed", units=(READY, FAILED))
LOST_GPU = host(
    "h-lostgpu",
    gpus=(
        gpu(0, lost="NVML_ERROR_GPU_IS_LOST", last_xid=Xid(pci_bus_id="00000000:00:00.0", xid=79, at=ago(90))),
        gpu(1, processes=(process(99, None, 18),), utilization_percent=0),
    ),
    xids=(Xid(pci_bus_id="00000000:00:00.0", xid=79, at=ago(90)),),
)
STALE = host("h-stale", observed_at=ago(45))
LOST = host(
    "h-lost",
    link=Link(
        state=LinkState.UNREACHABLE,
        since=ago(185),
        error="no route to host: is the host up, and on this network?",
        attempt=4,
        retry_at=NOW + timedelta(seconds=9),
    ),
    observed_at=ago(190),
)
DENIED = HostSnapshot(
    name="h-denied",
    group="lab",
    link=Link(state=LinkState.AUTH_FAILED, since=ago(30), error="login as root was refused (publickey)", attempt=1),
)
HOSTKEY = HostSnapshot(
    name="h-hostkey",
    group="lab",
    link=Link(
        state=LinkState.HOSTKEY_UNKNOWN,
        since=ago(30),
        error="its key is not in ~/.ssh/known_hosts",
        fingerprints=("SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",),
        known_hosts_line="h-hostkey ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabcdefghijklmnopqrstuvwxyz0123456789ABCDEF",
    ),
)
NO_GPU = host(
    "h-nogpu",
    gpus=None,
    sources=(
        SourceState(source="units", via="bus"),
        SourceState(source="gpus", problem="no NVIDIA driver: libnvidia-ml.so.1 is missing"),
    ),
)
ALL = (CONNECTING, LIVE, WITH_FAILURE, LOST_GPU, STALE, LOST, DENIED, HOSTKEY, NO_GPU)
BAD_UNIT = unit(
    f"x{HOSTILE}.service",
    description=HOSTILE,
    sub_state=HOSTILE,
    result=HOSTILE,
    active_state=ActiveState.FAILED,
    load_error=HOSTILE,
    readiness_detail=HOSTILE,
    fragment_path=HOSTILE,
    drop_in_paths=(HOSTILE,),
    control_group=HOSTILE,
    invocation_id=HOSTILE,
)
ALL_HOSTILE = host(
    "h-hostile",
    group="lab",
    address=HOSTILE,
    link=Link(state=LinkState.UP, error=HOSTILE, step=HOSTILE),
    driver_version=HOSTILE,
    boot_id=HOSTILE,
    units=(BAD_UNIT,),
    gpus=(
        gpu(
            0,
            name=HOSTILE,
            uuid=HOSTILE,
            lost=HOSTILE,
            clocks_event_reasons=(HOSTILE,),
            processes=(process(1, None, 9, HOSTILE), process(2, HOSTILE)),
            last_xid=Xid(pci_bus_id=HOSTILE, xid=13, at=ago(3), process_name=HOSTILE, message=HOSTILE),
        ),
        gpu(1, name=HOSTILE, clocks_event_reasons=(HOSTILE,), processes=(process(1, None, 9, HOSTILE),)),
    ),
    sources=(SourceState(source=HOSTILE, via=HOSTILE), SourceState(source=HOSTILE, problem=HOSTILE)),
)


def config_of(*hosts: HostSnapshot) -> Config:
    groups = dict.fromkeys(one.group for one in hosts if one.group)
    return Config(
        path=Path("hosts.toml"),
        hosts=tuple(Host(name=one.name, address=one.address, group=one.group) for one in hosts),
        groups=tuple(Group(name=name) for name in groups),
    )
