"""What to do about each kind, as far as the log alone tells (crash-log forms, part 8).

Adding a kind: one entry in `TITLES`. Remedies that ask the host are made elsewhere.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from dflashtui.diagnosis.remedies_told import told
from dflashtui.model.base import Value

if TYPE_CHECKING:
    from dflashtui.model.finding import Cause


class Remedy(Value):
    """One thing to do; `command` where a command line does it, on the host of the failure."""

    title: str
    command: str | None = None


TITLES: dict[str, tuple[str, ...]] = {
    "missing-module": ("check that the unit runs the Python environment that you mean",),
    "import-error": (
        "pin or upgrade the package that owns the missing name, to the version that the engine pins",
        "a circular import: look for a file of yours that has the package's name",
    ),
    "abi-mismatch": (
        "reinstall the named binary package for the torch, CUDA and NumPy that are installed",
        "do not mix conda's and the system's libstdc++",
    ),
    "shared-library": (
        (
            "install the library or its wheel, or extend LD_LIBRARY_PATH in the unit: a login shell's "
            "environment is not the unit's"
        ),
    ),
    "cuda-oom": (
        "lower the memory share, the context length or the batch, or use more GPUs",
        "see who else holds the GPU's memory",
    ),
    "cuda-error": (
        "run again with CUDA_LAUNCH_BLOCKING=1: the stack is approximate, for kernels run asynchronously",
        "look for an Xid of the same second in the kernel's log",
    ),
    "host-oom": (
        "lower caches, offload or pinned memory, raise MemoryMax=, or add memory",
        "look into the kernel's log for the OOM killer",
    ),
    "port-in-use": ("stop the one who owns the port (often what is left of the last run), or choose another port",),
    "bad-argument": ("correct or drop the argument; compare with --help of the installed version",),
    "model-not-found": ("check the path on the host, as the unit's user; mount or download the model",),
    "model-invalid": (
        (
            "download the file again (a tiny file is a Git LFS pointer), or upgrade the engine and transformers "
            "for a new architecture"
        ),
    ),
    "gpu-unavailable": (
        (
            "see that the driver is loaded, that the device is visible to the unit (CUDA_VISIBLE_DEVICES, "
            "DevicePolicy=) and that the fabric manager runs"
        ),
    ),
    "gpu-lost": (
        "move the services off this GPU, then reset it or reboot; have the hardware checked if it comes again",
    ),
    "driver-mismatch": ("reboot after a driver update, update the driver, or use a build for an older CUDA",),
    "unsupported-arch": ("use a build for this GPU or CPU, or half instead of bfloat16",),
    "kernel-compile": (
        (
            "look at the compiler's first error: a missing header, another nvcc, a ptxas too old for the GPU, an "
            "unwritable cache"
        ),
    ),
    "nccl": (
        (
            "check the interface names, the size of /dev/shm, the firewall, and the versions on all nodes; "
            "NCCL_DEBUG=WARN tells more"
        ),
    ),
    "config-validation": (
        "correct the setting that the message names; compare it with the last good start and with the engine's --help",
    ),
    "permission": ("check the owner of the file or folder it names, HOME and the cache variables of the unit's user",),
    "disk-full": ("free space at the path it names, or move the cache",),
    "network": ("check DNS and proxy of the unit; with a local model use offline mode (HF_HUB_OFFLINE=1)",),
    "auth": ("accept the model's licence, and give the token to the unit (a credential or an environment file)",),
    "systemd-exec": (
        (
            "correct the unit file: ExecStart= needs an absolute path that is executable, WorkingDirectory=, User= and "
            "EnvironmentFile= have to exist"
        ),
    ),
    "segfault": ("look at the core dump, and try known-good versions of the module in the top frame",),
    "abort": (
        "look at the lines before it, for an abort is a check that failed, and at the core dump",
        "try the version of the engine that ran before",
    ),
    "timeout": (
        (
            "raise the limit (TimeoutStartSec= for a start, the watchdog's or the collective's while serving), or find "
            "the rank that waits: it is the one without a message"
        ),
    ),
    "resource-limit": ("raise the limit that it names: LimitNOFILE=, LimitMEMLOCK=, TasksMax=, the size of /dev/shm",),
    "code-bug": ("read the whole traceback; was the code or its version changed since the last good start?",),
    "unknown": ("look at the kernel's log, at the core dumps, and at the last lines before the end",),
}
COMMANDS: dict[str, tuple[tuple[str, str], ...]] = {
    "cuda-oom": (
        (
            "who holds the GPU's memory",
            "nvidia-smi --query-compute-apps=pid,gpu_uuid,used_memory,process_name --format=csv",
        ),
    ),
    "host-oom": (("what the OOM killer did", "journalctl -k -g 'Out of memory|oom-kill' -n 20"),),
    "gpu-lost": (("the kernel's word on the GPU", "journalctl -k -g 'NVRM|Xid' -n 20"),),
    "cuda-error": (("Xids in the kernel's log", "journalctl -k -g Xid -n 20"),),
    "gpu-unavailable": (("what the driver sees", "nvidia-smi -L"),),
    "driver-mismatch": (("versions of driver and library", "nvidia-smi --version"),),
    "segfault": (("the core dumps", "coredumpctl list -n 5"),),
    "abort": (("the core dumps", "coredumpctl list -n 5"),),
    "unknown": (("the core dumps", "coredumpctl list -n 5"),),
    "disk-full": (("free space", "df -h"),),
    "unsupported-arch": (
        ("what the GPUs can do", "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv"),
    ),
    "nccl": (("how the GPUs are connected", "nvidia-smi topo -m"),),
    "resource-limit": (("how full /dev/shm is", "df -h /dev/shm"),),
    "network": (("what resolves names here", "resolvectl status"),),
}
PORT = re.compile(r"(?:port\D{0,12}|:)(?P<port>\d{2,5})\b")
VENV = re.compile(r"^(?P<root>/.{1,400})/lib(?:64)?/python3\.\d+/")
DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "sklearn": "scikit-learn",
    "zmq": "pyzmq",
    "flashinfer": "flashinfer-python",
    "google": "protobuf",
    "dotenv": "python-dotenv",
    "attr": "attrs",
    "flash_attn": "flash-attn",
    "skimage": "scikit-image",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "pynvml": "nvidia-ml-py",
    "jwt": "pyjwt",
    "serial": "pyserial",
    "multipart": "python-multipart",
}
"""Import names that differ from their distribution's; all others are taken as they are."""


def remedies(cause: Cause) -> tuple[Remedy, ...]:
    """What to do, the most exact first."""
    exact = _exact(cause)
    general = tuple(Remedy(title=title) for title in TITLES.get(cause.kind, ()))
    looks = tuple(Remedy(title=title, command=command) for title, command in COMMANDS.get(cause.kind, ()))
    return (*exact, *general, *looks)


def _exact(cause: Cause) -> tuple[Remedy, ...]:
    match cause.kind:
        case "missing-module" if cause.module:
            return (_install(cause, cause.module),)
        case "import-error" if cause.module:
            return (
                Remedy(
                    title=f"which {cause.module} is installed",
                    command=_pip(cause, "show", DISTRIBUTIONS.get(cause.module, cause.module)),
                ),
            )
        case "port-in-use":
            port = PORT.search(cause.message)
            words = f"ss -ltnp 'sport = :{port['port']}'" if port else "ss -ltnp"
            return (Remedy(title="who owns the port", command=words),)
        case "systemd-exec" if cause.unit:
            return (Remedy(title="verify the unit", command=shlex.join(("systemd-analyze", "verify", cause.unit))),)
        case _:
            return tuple(Remedy(title=one.title, command=one.command) for one in told(cause))


def _install(cause: Cause, module: str) -> Remedy:
    name = DISTRIBUTIONS.get(module, module)
    return Remedy(title=f"install {name} for the unit's own interpreter", command=_pip(cause, "install", name))


def _pip(cause: Cause, verb: str, name: str) -> str:
    """Pip of the interpreter that the traceback's files belong to."""
    places = (place.file for place in (cause.location, cause.own_location) if place)
    root = next((match["root"] for file in places if (match := VENV.match(file))), None)
    python = f"{root}/bin/python" if root and root not in {"/usr", "/usr/local"} else "python3"
    return shlex.join((python, "-m", "pip", verb, name))
