"""What the common Xids mean, and what to do. After NVIDIA's Xid catalog (docs.nvidia.com/deploy/xid-errors)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class XidBlame(StrEnum):
    """Who most likely has to act."""

    APPLICATION = "application"
    GPU = "gpu"
    NOBODY = "nobody"


class XidMeaning(NamedTuple):
    """One line of the table."""

    words: str
    advice: str
    blame: XidBlame


RESTART = "restart the service; if it comes again with other programs, suspect the GPU"
DEBUG = "a fault of the program: restart the service, look at its log, try compute-sanitizer"
RESET = "stop what uses this GPU and reset it (nvidia-smi --gpu-reset), or reboot"
SUPPORT = f"{RESET}; if it comes again, have the hardware examined"
OTHER_XID = "follows from another fault: look at the other Xids around it"
NVLINK = "see nvidia-smi nvlink -s and the GPU on the other end; a reset may clear it, a bad link comes again"

MEANINGS = {
    8: XidMeaning("GPU stopped processing", RESTART, XidBlame.APPLICATION),
    11: XidMeaning("invalid or corrupted push buffer stream", DEBUG, XidBlame.APPLICATION),
    13: XidMeaning("graphics engine exception", DEBUG, XidBlame.APPLICATION),
    31: XidMeaning("GPU memory page fault: an address that is not mapped", DEBUG, XidBlame.APPLICATION),
    32: XidMeaning("invalid or corrupted push buffer stream", RESTART, XidBlame.GPU),
    38: XidMeaning("driver firmware error", "nothing at once; if it comes again, update the driver", XidBlame.NOBODY),
    43: XidMeaning("GPU stopped processing for one program; the GPU is healthy", DEBUG, XidBlame.APPLICATION),
    45: XidMeaning("channels of a program were removed", OTHER_XID, XidBlame.NOBODY),
    46: XidMeaning("GPU stopped processing", SUPPORT, XidBlame.GPU),
    48: XidMeaning("double-bit ECC error: memory that cannot be corrected", SUPPORT, XidBlame.GPU),
    62: XidMeaning("a microcontroller of the GPU halted", SUPPORT, XidBlame.GPU),
    63: XidMeaning(
        "a bad memory row was remapped", "nothing at once; it takes effect at the next reset", XidBlame.NOBODY
    ),
    64: XidMeaning("a bad memory row could not be remapped", SUPPORT, XidBlame.GPU),
    69: XidMeaning("graphics engine class error", DEBUG, XidBlame.APPLICATION),
    74: XidMeaning("NVLink error", NVLINK, XidBlame.GPU),
    79: XidMeaning(
        "GPU has fallen off the bus",
        "reboot the host; check power, cooling and the PCIe link; if it comes again, have the hardware examined",
        XidBlame.GPU,
    ),
    92: XidMeaning("many corrected ECC errors", "nothing at once; have the GPU examined", XidBlame.GPU),
    94: XidMeaning(
        "memory error that was contained to one program",
        "restart that service; reset the GPU when it can be spared",
        XidBlame.GPU,
    ),
    95: XidMeaning("memory error that was not contained", SUPPORT, XidBlame.GPU),
    109: XidMeaning("context switch timeout", SUPPORT, XidBlame.GPU),
    110: XidMeaning("security fault", "power the host off and on; if it comes again, have it examined", XidBlame.GPU),
    119: XidMeaning("the GPU's system processor (GSP) did not answer", SUPPORT, XidBlame.GPU),
    120: XidMeaning("error on the GPU's system processor (GSP)", SUPPORT, XidBlame.GPU),
    121: XidMeaning(
        "corrected error on the link to the CPU", "nothing at once; a reset trains the link anew", XidBlame.NOBODY
    ),
    136: XidMeaning("NVLink could not be trained", SUPPORT, XidBlame.GPU),
    137: XidMeaning("illegal access to another GPU over NVLink", DEBUG, XidBlame.APPLICATION),
    140: XidMeaning("ECC error that the driver could not recover from", SUPPORT, XidBlame.GPU),
    143: XidMeaning("the GPU could not be initialized", SUPPORT, XidBlame.GPU),
    **dict.fromkeys(range(144, 151), XidMeaning("NVLink error", NVLINK, XidBlame.GPU)),
    154: XidMeaning("the driver says what this GPU needs now", "do what its text says", XidBlame.NOBODY),
    158: XidMeaning("fatal GPU timeout", SUPPORT, XidBlame.GPU),
}
"""Numbers that are not here are best looked up there."""


def meaning(xid: int) -> XidMeaning | None:
    """What is known of an Xid."""
    return MEANINGS.get(xid)
