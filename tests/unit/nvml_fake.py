"""pynvml's constants and errors with answers of our own: an H200 at rest, unless a test says otherwise."""

from __future__ import annotations

# ruff: noqa: ANN401 - pynvml's answers are of any type
from collections import Counter
from functools import partial
from types import SimpleNamespace
from typing import Any

import pynvml

GIB = 2**30
H200: dict[str, Any] = {
    "nvmlInit": None,
    "nvmlShutdown": None,
    "nvmlDeviceGetCount": 1,
    "nvmlSystemGetDriverVersion": "580.159.04",
    "nvmlSystemGetCudaDriverVersion_v2": 13000,
    "nvmlDeviceGetHandleByIndex": "handle",
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=99, memory=24),
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=140 * GIB, used=40 * GIB, reserved=GIB),
    "nvmlDeviceGetPowerUsage": 690_994,
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetTemperatureV": 59,
    "nvmlDeviceGetTemperatureThreshold": 89,
    "nvmlDeviceGetClockInfo": 1470,
    "nvmlDeviceGetMaxClockInfo": 1980,
    "nvmlDeviceGetPerformanceState": 0,
    "nvmlDeviceGetCurrentClocksEventReasons": 4,
    "nvmlDeviceGetComputeRunningProcesses_v3": [],
    "nvmlDeviceGetUUID": "GPU-00000000-0000-4000-8000-000000000001",
    "nvmlDeviceGetName": b"NVIDIA H200",
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId=b"00000000:3B:00.0"),
    "nvmlDeviceGetCudaComputeCapability": (9, 0),
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetTotalEccErrors": 0,
    "nvmlDeviceGetRemappedRows": (0, 2, 1, 0),
}


class FakeNvml:
    """Answers by function; an int in `errors` is raised. What has no answer is not supported."""

    def __init__(self, **answers: Any) -> None:
        self.answers = H200 | answers
        self.errors: dict[str, int] = {}
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        return partial(self._call, name) if name.startswith("nvml") and callable(real) else real

    def _call(self, name: str, *_arguments: Any) -> Any:
        self.calls[name] += 1
        if name in self.errors:
            raise pynvml.NVMLError(self.errors[name])
        if name not in self.answers:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return self.answers[name]


def process(pid: int, used: int | None) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=used)
