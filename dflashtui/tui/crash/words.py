"""Causes in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.model.finding import Cause, Location

KINDS = {
    "missing-module": "a Python module is missing",
    "import-error": "a Python package has not what is imported from it",
    "abi-mismatch": "a compiled package does not fit the others",
    "shared-library": "a shared library is missing",
    "cuda-oom": "the GPU's memory is not enough",
    "cuda-error": "an error on the GPU",
    "host-oom": "the host's memory is not enough",
    "port-in-use": "its port is taken",
    "bad-argument": "an argument that the program does not take",
    "model-not-found": "the model is not there",
    "model-invalid": "the model cannot be used",
    "gpu-unavailable": "it sees no GPU",
    "gpu-lost": "a GPU was lost",
    "driver-mismatch": "the NVIDIA driver does not fit",
    "unsupported-arch": "not built for this GPU or CPU",
    "kernel-compile": "a GPU kernel could not be compiled",
    "nccl": "the GPUs could not talk to each other",
    "config-validation": "a setting that is not valid",
    "permission": "a permission is missing",
    "disk-full": "no space left",
    "network": "the network",
    "auth": "a login or token was refused",
    "systemd-exec": "systemd could not run it",
    "segfault": "it crashed in native code",
    "abort": "it aborted itself",
    "timeout": "it took too long",
    "resource-limit": "a resource limit was reached",
    "code-bug": "an error in the program",
    "unknown": "no cause is to be found in its log",
}
CONFIDENCE = {"high": "confirmed", "medium": "likely", "low": "a guess: only wrappers or an exit status tell of it"}
MESSAGE_LIMIT = 2000


def kind_in_words(cause: Cause) -> str:
    """`a Python module is missing`."""
    return KINDS.get(cause.kind) or printable(cause.kind, limit=60)


def told(cause: Cause) -> str:
    """`ModuleNotFoundError: No module named 'soundfile'`."""
    return printable(": ".join(filter(None, (cause.exception, cause.message))), limit=MESSAGE_LIMIT)


def place(location: Location) -> str:
    """`/opt/x.py:21 in run`."""
    line = f":{location.line}" if location.line is not None else ""
    function = f" in {location.function}" if location.function else ""
    return printable(f"{location.file}{line}{function}")


def short_place(location: Location) -> str:
    """As `place`, from below site-packages on: `…/sglang/srt/server.py:21 in run`."""
    whole = place(location)
    _, found, inside = whole.rpartition("/site-packages/")
    return f"…/{inside}" if found else whole
