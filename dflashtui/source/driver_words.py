"""What NVML's codes mean to a person, and its bits by their names. Pure."""

from __future__ import annotations

from dflashtui.model.sample import GpuProblem
from dflashtui.text import printable

UNINITIALIZED, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, VERSION_MISMATCH = 1, 9, 12, 18
"""NVML's `nvmlReturn_t`."""
PROBLEMS = {
    LIBRARY_NOT_FOUND: (GpuProblem.NO_DRIVER, "no NVIDIA driver is installed here"),
    DRIVER_NOT_LOADED: (
        GpuProblem.NO_DRIVER,
        "the NVIDIA driver is not loaded: modprobe nvidia, or see why not in journalctl -k",
    ),
    VERSION_MISMATCH: (
        GpuProblem.MISMATCH,
        "the driver was upgraded, the loaded kernel module is the old one: reload the nvidia modules, or reboot",
    ),
}
CLOCKS_EVENT_REASONS = (
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
    "board_limit",
    "reliability",
)
"""NVML's `nvmlClocksEventReason…`, by bit; the last two are known to old drivers alone."""


def problem(code: int | None, words: str) -> tuple[GpuProblem, str]:
    """Kind and sentence for an NVML error that concerns the whole host; the driver's words come last."""
    kind, sentence = PROBLEMS.get(code or 0, (GpuProblem.OTHER, "the NVIDIA driver cannot be asked"))
    return kind, f"{sentence} ({printable(words, limit=200)})"


def hanging(seconds: float) -> tuple[GpuProblem, str]:
    """For a call that does not come back."""
    return GpuProblem.NO_ANSWER, f"NVML: no answer for {seconds:.0f} s; a call hangs in the driver"


def clocks_event_reasons(bits: int) -> tuple[str, ...]:
    """Names of the bits that are set; one without a name as `bit_11`."""
    return tuple(
        CLOCKS_EVENT_REASONS[bit] if bit < len(CLOCKS_EVENT_REASONS) else f"bit_{bit}"
        for bit in range(bits.bit_length())
        if bits >> bit & 1
    )
