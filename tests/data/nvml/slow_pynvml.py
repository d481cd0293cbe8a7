"""A pynvml whose driver hangs until the file HANG is gone; shipped to the sampler in a test, never imported."""

import os
import time

HANG = "@HANG@"
NVML_ERROR_UNINITIALIZED, NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_UNKNOWN = 1, 3, 999
NVML_ERROR_DRIVER_NOT_LOADED, NVML_ERROR_LIB_RM_VERSION_MISMATCH = 9, 18
NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED = 15, 16
NVML_ERROR_FUNCTION_NOT_FOUND, NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 13, 25
NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1, 2, 0, 1
NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, NVML_PSTATE_UNKNOWN, nvmlMemory_v2 = 1, 0, 32, 2


class NVMLError(Exception):
    value = NVML_ERROR_NOT_SUPPORTED


def __getattr__(name):
    def refuse(*_arguments):
        raise NVMLError

    return refuse


def nvmlInit():
    """Succeeds."""


def nvmlDeviceGetCount():
    return 1


def nvmlDeviceGetHandleByIndex(index):
    return index


def nvmlDeviceGetPowerUsage(handle):
    while os.path.exists(HANG):
        time.sleep(0.01)
    return 1000
