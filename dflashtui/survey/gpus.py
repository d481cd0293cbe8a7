"""The GPUs, asked of NVIDIA's library directly (NVML, C API): names, UUIDs, what they can compute.

The library may block in the driver, so a thread of its own asks, which nobody waits for at the end.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Dict, List

LIBRARY = "libnvidia-ml.so.1"
TEXT_BYTES = 96
MOST_GPUS = 64


class Gpus:
    """Asks at once, beside whatever else is looked at."""

    def __init__(self) -> None:
        self._told: Dict[str, Any] = {}
        self._thread = threading.Thread(target=self._ask, name="gpus", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> Dict[str, Any]:
        """`driver`, `cuda_driver`, `gpus`; `gpus_problem` in their place. At most so long."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            return {"gpus_problem": "the driver gave no answer within %.0f s" % seconds}
        return self._told

    def _ask(self) -> None:
        try:
            library = ctypes.CDLL(LIBRARY)
        except OSError:
            self._told = {"gpus_problem": "no NVIDIA driver: there is no %s" % LIBRARY}
            return
        status = library.nvmlInit_v2()
        if status:
            self._told = {"gpus_problem": "NVML cannot be used: error %d" % status}
            return
        self._told = {**_driver(library), "gpus": _gpus(library)}
        library.nvmlShutdown()


def _driver(library: ctypes.CDLL) -> Dict[str, Any]:
    text, version = ctypes.create_string_buffer(TEXT_BYTES), ctypes.c_int()
    told: Dict[str, Any] = {}
    if not library.nvmlSystemGetDriverVersion(text, TEXT_BYTES):
        told["driver"] = text.value.decode("ascii", "backslashreplace")
    if not library.nvmlSystemGetCudaDriverVersion(ctypes.byref(version)):
        told["cuda_driver"] = "%d.%d" % (version.value // 1000, version.value % 1000 // 10)
    return told


def _gpus(library: ctypes.CDLL) -> List[Dict[str, Any]]:
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return []
    return [_gpu(library, index) for index in range(min(count.value, MOST_GPUS))]


def _gpu(library: ctypes.CDLL, index: int) -> Dict[str, Any]:
    """A GPU that does not answer has its index alone."""
    device, text = ctypes.c_void_p(), ctypes.create_string_buffer(TEXT_BYTES)
    told: Dict[str, Any] = {"index": index}
    if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
        return told
    for name, call in (("name", library.nvmlDeviceGetName), ("uuid", library.nvmlDeviceGetUUID)):
        if not call(device, text, TEXT_BYTES):
            told[name] = text.value.decode("utf-8", "backslashreplace")
    major, minor = ctypes.c_int(), ctypes.c_int()
    if not library.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)):
        told["capability"] = [major.value, minor.value]
    return told
