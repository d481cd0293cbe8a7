"""Which packages decide whether an engine runs, and which versions belong together.

Facts: metadata and sources of the engines' releases, of torch, torchvision, torchaudio (2.9 to 2.11).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment

ENGINES = ("sglang", "vllm")
KERNELS = ("sglang-kernel", "sgl-kernel")
"""SGLang's kernels: renamed at 0.4."""
DECISIVE = (
    "torch",
    "torchvision",
    "torchaudio",
    "triton",
    *KERNELS,
    "flashinfer-python",
    "flashinfer-cubin",
    "flashinfer-jit-cache",
    *ENGINES,
    "xgrammar",
    "transformers",
)
"""In the order in which a person wants to see them."""
BINARY = frozenset({"torch", "torchvision", "torchaudio", "triton", *KERNELS, *ENGINES})
"""Built against one torch, or against one CUDA."""
FLASHINFER = ("flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache")
BINARY_TOPS = ("torchvision", "torchaudio", "sgl_kernel", "vllm", "flashinfer", "triton", "xgrammar")
"""Folders of site-packages whose few compiled files tell what they were built for."""
CUDA_TAG = re.compile(r"\bcu(\d{2})(\d)\b")
NVIDIA = re.compile(r"nvidia-.*?(?:-cu(\d{2}))?\Z")
KERNEL_TORCH = {(0, 3, 21): "2.9", (0, 4, 1): "2.9", (0, 4, 2): "2.11", (0, 4, 4): "2.11", (0, 4, 10): "2.14"}
"""The torch that releases of the kernel package were built for, as far as the engines' pins tell."""


def parsed(version: str | None) -> Version | None:
    """`None`: there is none, or it is not written as PEP 440 asks."""
    try:
        return Version(version) if version else None
    except InvalidVersion:
        return None


def cuda_of(version: str | None) -> str | None:
    """`13.0` for `2.11.0+cu130`; `None`: the version does not say."""
    found = CUDA_TAG.search((version or "").partition("+")[2])
    return f"{found[1]}.{found[2]}" if found else None


def torchvision_minor(torch: Version) -> tuple[int, int] | None:
    """The torchvision of a torch: 0.26 of 2.11."""
    first_major = 2
    return (0, torch.minor + 15) if torch.major == first_major else None


def kernel_torch(version: str | None) -> str | None:
    """The torch minor that a release of the kernel package was built for, as far as that is known."""
    found = parsed(version)
    return KERNEL_TORCH.get((found.major, found.minor, found.micro)) if found else None


def nvidia_generation(name: str, runtime: str | None) -> int | None:
    """The CUDA generation of an `nvidia-…` wheel; from CUDA 13 on the name says it no more, the runtime's version does.

    `None`: it is none of them, or belongs to every generation.
    """
    found = NVIDIA.match(name)
    if not found or name in {"nvidia-ml-py", "nvidia-cutlass-dsl", "nvidia-modelopt"}:
        return None
    if found[1]:
        return int(found[1])
    release = parsed(runtime)
    return release.major if release and name in UNSUFFIXED else None


UNSUFFIXED = frozenset(
    f"nvidia-{name}"
    for name in (
        "cublas",
        "cuda-cupti",
        "cuda-nvrtc",
        "cuda-runtime",
        "cufft",
        "cufile",
        "curand",
        "cusolver",
        "cusparse",
        "nvjitlink",
        "nvtx",
    )
)


def engine_of(environment: Environment) -> str | None:
    """The engine that is installed, by its normal name."""
    return next((name for name in ENGINES if environment.version(name)), None)
