"""GPUs as NVML tells them."""

from __future__ import annotations

from datetime import datetime

from dflashtui.model.base import Value


class GpuProcess(Value):
    """A process that holds memory on a GPU."""

    pid: int
    unit: str | None = None
    """The systemd unit of its cgroup; `None`: held by no unit (an orphan) or not known."""
    held_by: str | None = None
    """What holds it when no unit does: `session-5.scope`, `docker 0123456789ab`, `lxc 129`."""
    user: str | None = None
    memory_used_bytes: int | None = None
    command: str | None = None


class Xid(Value):
    """A fault that the NVIDIA driver wrote to the kernel log (`NVRM: Xid`)."""

    pci_bus_id: str
    xid: int
    at: datetime
    pid: int | None = None
    process_name: str | None = None
    message: str = ""


class Gpu(Value):
    """One GPU at one moment; `None`: not supported by this GPU or not read."""

    index: int
    uuid: str | None = None
    name: str | None = None
    pci_bus_id: str | None = None
    """NVML form, `00000000:00:06.0`."""
    lost: str | None = None
    """The driver's words when the GPU no longer answers (`NVML_ERROR_GPU_IS_LOST`)."""
    utilization_percent: int | None = None
    utilization_memory_percent: int | None = None
    memory_used_bytes: int | None = None
    """Without the driver's reserve, as nvidia-smi shows it (`nvmlDeviceGetMemoryInfo_v2`)."""
    memory_reserved_bytes: int | None = None
    memory_total_bytes: int | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    temperature_celsius: int | None = None
    temperature_slowdown_celsius: int | None = None
    clock_sm_mhz: int | None = None
    clock_memory_mhz: int | None = None
    clock_sm_max_mhz: int | None = None
    performance_state: int | None = None
    fan_percent: int | None = None
    clocks_event_reasons: tuple[str, ...] = ()
    """Why clocks are lowered, NVML's words: `sw_power_cap`, `hw_thermal_slowdown`, `gpu_idle`, …"""
    ecc_uncorrected_count: int | None = None
    """Volatile: since the driver was loaded."""
    remapped_rows_uncorrectable: int | None = None
    remapped_rows_pending: bool | None = None
    remapped_rows_failed: bool | None = None
    mig_enabled: bool | None = None
    compute_capability: str | None = None
    processes: tuple[GpuProcess, ...] | None = None
    """`None`: could not be read, which is not the same as none."""
    last_xid: Xid | None = None
    """The latest Xid of this GPU since its host was connected, until acknowledged."""
