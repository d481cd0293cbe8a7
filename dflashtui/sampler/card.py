"""One GPU, asked through pynvml: what each tick needs, and what is asked rarely."""

from __future__ import annotations

from typing import Any

SLOW_SECONDS = 30.0
AGAIN_SECONDS = 60.0
"""How long a lost GPU is left in peace: a call to it may take the driver seconds."""
PROCESS_LIMIT = 128
HANDLE = "nvmlDeviceGetHandleByIndex"
FINGERPRINT = ("uuid", "name", "pci_bus_id")


class GpuLost(Exception):
    """The GPU does not answer; the text is the driver's."""


class Card:
    """One GPU by its index. What it refuses as unsupported is not asked again."""

    def __init__(self, nvml: Any, index: int, known: dict[str, Any] | None = None) -> None:  # noqa: ANN401 - pynvml
        """`known`: what an earlier look said, so that a lost GPU keeps its name."""
        self._nvml = nvml
        self._index = index
        self._handle: Any = None
        self._refused: set[tuple[Any, ...]] = set()
        self._lost: str | None = None
        self._lost_at = 0.0
        self._slow: dict[str, Any] = {}
        self._slow_at: float | None = None
        self.known = dict(known or {})

    @property
    def is_lost(self) -> bool:
        """Whether it did not answer."""
        return self._lost is not None

    def read(self, now: float) -> dict[str, Any]:
        """All that is known, without what is not; `lost` with the driver's words instead of values."""
        if self._lost is None or now - self._lost_at >= AGAIN_SECONDS:
            try:
                values = self._values(now)
            except GpuLost as lost:
                self._lost, self._lost_at, self._handle = str(lost), now, None
            else:
                self._lost = None
                return {"index": self._index, **values}
        return {"index": self._index, **self.known, "lost": self._lost}

    def _values(self, now: float) -> dict[str, Any]:
        if self._handle is None:
            self._handle = self._ask(HANDLE, of=self._index)
        if self._slow_at is None or now - self._slow_at >= SLOW_SECONDS:
            self._slow = _without_none(self._ask_slow())
            self._slow_at = now
            self.known.update((key, self._slow[key]) for key in FINGERPRINT if key in self._slow)
        return {**self._slow, **_without_none(self._ask_hot())}

    def _ask_hot(self) -> dict[str, Any]:
        load = self._ask("nvmlDeviceGetUtilizationRates")
        return {
            "utilization_percent": load and load.gpu,
            "utilization_memory_percent": load and load.memory,
            **self._memory(),
            "power_watts": _thousandth(self._ask("nvmlDeviceGetPowerUsage")),
            "temperature_celsius": self._temperature(),
            "clock_sm_mhz": self._ask("nvmlDeviceGetClockInfo", self._nvml.NVML_CLOCK_SM),
            "clock_memory_mhz": self._ask("nvmlDeviceGetClockInfo", self._nvml.NVML_CLOCK_MEM),
            "performance_state": self._performance_state(),
            "fan_percent": self._ask("nvmlDeviceGetFanSpeed"),
            "clocks_event_reasons": self._either(
                "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"
            ),
            "processes": self._processes(),
        }

    def _ask_slow(self) -> dict[str, Any]:
        nvml = self._nvml
        pci = self._ask("nvmlDeviceGetPciInfo")
        mig = self._ask("nvmlDeviceGetMigMode")
        capability = self._ask("nvmlDeviceGetCudaComputeCapability")
        return {
            "uuid": _text(self._ask("nvmlDeviceGetUUID")),
            "name": _text(self._ask("nvmlDeviceGetName")),
            "pci_bus_id": _text(pci.busId) if pci else None,
            "power_limit_watts": _thousandth(self._ask("nvmlDeviceGetEnforcedPowerLimit")),
            "clock_sm_max_mhz": self._ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM),
            "temperature_slowdown_celsius": self._ask(
                "nvmlDeviceGetTemperatureThreshold", nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
            ),
            "ecc_uncorrected_count": self._ask(
                "nvmlDeviceGetTotalEccErrors", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
            ),
            "mig_enabled": mig and bool(mig[0]),
            "compute_capability": capability and "%d.%d" % tuple(capability),
            **self._remapped_rows(),
        }

    def _memory(self) -> dict[str, int | None]:
        """The second form tells the driver's reserve apart; drivers before R510 have the first one alone."""
        second = self._ask("nvmlDeviceGetMemoryInfo", self._nvml.nvmlMemory_v2)
        found = second or self._ask("nvmlDeviceGetMemoryInfo")
        return {
            "memory_used_bytes": found and found.used,
            "memory_total_bytes": found and found.total,
            "memory_reserved_bytes": second and second.reserved,
        }

    def _temperature(self) -> int | None:
        celsius: int | None = self._either(
            "nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature", self._nvml.NVML_TEMPERATURE_GPU
        )
        return celsius

    def _performance_state(self) -> int | None:
        state = self._ask("nvmlDeviceGetPerformanceState")
        return None if state == self._nvml.NVML_PSTATE_UNKNOWN else state

    def _remapped_rows(self) -> dict[str, Any]:
        rows = self._ask("nvmlDeviceGetRemappedRows")
        if rows is None:
            return {}
        _, uncorrectable, pending, failed = rows
        return {
            "remapped_rows_uncorrectable": uncorrectable,
            "remapped_rows_pending": bool(pending),
            "remapped_rows_failed": bool(failed),
        }

    def _processes(self) -> list[list[Any]] | None:
        """Pairs of pid and bytes, largest first; those of an MPS server are in a list of their own."""
        listed = self._either("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")
        if listed is None:
            return None
        shared = self._ask("nvmlDeviceGetMPSComputeRunningProcesses_v3") or []
        used = {process.pid: process.usedGpuMemory for process in [*listed, *shared]}
        ordered = sorted(used.items(), key=lambda pair: -(pair[1] or 0))
        return [list(pair) for pair in ordered[:PROCESS_LIMIT]]

    def _either(self, first: str, second: str, *arguments: Any) -> Any:  # noqa: ANN401 - pynvml
        found = self._ask(first, *arguments)
        return self._ask(second, *arguments) if found is None and (first, *arguments) in self._refused else found

    def _ask(self, call: str, *arguments: Any, of: Any = None) -> Any:  # noqa: ANN401 - pynvml
        """The answer, or `None`. Raises `GpuLost`, or the `NVMLError` that concerns the whole library."""
        question = (call, *arguments)
        if question in self._refused:
            return None
        try:
            return getattr(self._nvml, call)(self._handle if of is None else of, *arguments)
        except self._nvml.NVMLError as error:
            self._judge(question, error)
            return None

    def _judge(self, question: tuple[Any, ...], error: Any) -> None:  # noqa: ANN401 - pynvml
        nvml, code = self._nvml, error.value
        if code in {
            nvml.NVML_ERROR_UNINITIALIZED,
            nvml.NVML_ERROR_DRIVER_NOT_LOADED,
            nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        }:
            raise error
        if code in {nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED} or question[0] == HANDLE:
            raise GpuLost(words(nvml, error))
        if code == nvml.NVML_ERROR_UNKNOWN and question[0] == "nvmlDeviceGetMemoryInfo":
            raise GpuLost(words(nvml, error))
        if code in {
            nvml.NVML_ERROR_NOT_SUPPORTED,
            nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        }:
            self._refused.add(question)


def words(nvml: Any, error: Any) -> str:  # noqa: ANN401 - pynvml
    """The driver's own words if its library is there, else pynvml's."""
    try:
        return str(_text(nvml.nvmlErrorString(error.value)))
    except nvml.NVMLError:
        return str(error)


def _text(value: Any) -> str | None:  # noqa: ANN401 - pynvml
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _thousandth(value: int | None) -> float | None:
    return None if value is None else value / 1000


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
