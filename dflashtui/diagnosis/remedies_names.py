"""Names that do not explain themselves: distributions of import names, packages of libraries, flags that moved. Pure.

Adding one: one line.
"""

from __future__ import annotations

from typing import NamedTuple

from dflashtui.diagnosis.remedies import DISTRIBUTIONS

ALTERNATIVES: dict[str, tuple[str, ...]] = {
    "sgl_kernel": ("sglang-kernel", "sgl-kernel"),
    "cv2": ("opencv-python-headless", "opencv-python", "opencv-contrib-python-headless"),
    "flashinfer": ("flashinfer-python", "flashinfer"),
    "pynvml": ("nvidia-ml-py", "pynvml"),
    "triton": ("triton", "pytorch-triton", "triton-rocm"),
    "flash_attn_interface": ("flash-attn-3",),
    "deep_gemm": ("deep-gemm", "sgl-deep-gemm"),
    "torchao": ("torchao",),
    "soundfile": ("soundfile", "pysoundfile"),
}
"""Import names that several distributions bring; the first is taken unless another one is installed or asked for."""

SYSTEM_PACKAGES: dict[str, str] = {
    "libsndfile.so": "libsndfile1",
    "libGL.so": "libgl1",
    "libEGL.so": "libegl1",
    "libgomp.so": "libgomp1",
    "libnuma.so": "libnuma1",
    "libibverbs.so": "libibverbs1",
    "librdmacm.so": "librdmacm1",
    "libgthread-2.0.so": "libglib2.0-0",
    "libglib-2.0.so": "libglib2.0-0",
    "libSM.so": "libsm6",
    "libXext.so": "libxext6",
    "libXrender.so": "libxrender1",
    "libffi.so": "libffi8",
    "libopenblas.so": "libopenblas0",
    "libtbb.so": "libtbb12",
    "libavcodec.so": "ffmpeg",
    "libavutil.so": "ffmpeg",
    "libmpi.so": "libopenmpi3",
}
"""Debian's packages of libraries, by name without version."""


class Flag(NamedTuple):
    """An option that goes around a broken package."""

    words: tuple[str, ...]
    costs: str


AVOIDING: dict[tuple[str, str], Flag] = {
    ("sglang", "xgrammar"): Flag(
        ("--grammar-backend", "none"), "it costs JSON-schema, regex and EBNF output, and strict tool calls"
    ),
}
"""By engine and import name."""
WITHOUT_GRAMMAR_ANYWAY = ("0.5.11", "0.5.12")
"""Releases of SGLang that refuse grammar-constrained output with DFLASH, request by request."""


class Moved(NamedTuple):
    """An option that has another name now."""

    now: str
    since: str


MOVED: dict[str, Moved] = {
    "--mamba-scheduler-strategy": Moved("--mamba-radix-cache-strategy", "sglang 0.5.15"),
    "--speculative-dflash-draft-window-size": Moved("--speculative-draft-window-size", "sglang 0.5.12"),
    "--cuda-graph-max-bs": Moved("--cuda-graph-max-bs-decode or --cuda-graph-max-bs-prefill", "sglang 0.5.23"),
}


def distributions_of(module: str) -> tuple[str, ...]:
    """Which distributions may bring an import name, the likeliest first."""
    return ALTERNATIVES.get(module) or (DISTRIBUTIONS.get(module, module.replace("_", "-")),)


def is_well_known(module: str) -> bool:
    """Whether the name was written down here by a person: a log cannot make somebody install just anything."""
    return module in ALTERNATIVES or module in DISTRIBUTIONS


def avoiding(engine: str | None, engine_version: str | None, module: str, words: tuple[str, ...]) -> Flag | None:
    """The flag that goes around a module, and what it costs with this command; `None`: none, or it is there already."""
    flag = AVOIDING.get((engine or "", module))
    if flag is None or _has(words, flag.words):
        return None
    if engine_version in WITHOUT_GRAMMAR_ANYWAY and any(word.upper() == "DFLASH" for word in words):
        return flag._replace(costs=f"it costs nothing: with DFLASH, {engine} {engine_version} refuses grammars anyway")
    return flag


def _has(words: tuple[str, ...], flag: tuple[str, ...]) -> bool:
    joined = "=".join(flag)
    return joined in words or any(words[at : at + len(flag)] == flag for at in range(len(words)))
