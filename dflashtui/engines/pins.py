"""What releases of the engines ask for, for code that was copied over an older installation. Pure.

From the metadata of the releases. Their metadata, where it belongs to the code, says more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.packages import ENGINES
from dflashtui.model.environment import Distribution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.environment import Environment

NAMES = ("torch", "flashinfer-python", "kernels", "xgrammar", "transformers")
SGLANG = {
    "0.5.9": ("2.9.1", "0.6.3", "sgl-kernel==0.3.21", "0.1.27", "4.57.1"),
    "0.5.10": ("2.9.1", "0.6.7.post2", "sglang-kernel==0.4.1", "0.1.32", "5.3.0"),
    "0.5.11": ("2.11.0", "0.6.8.post1", "sglang-kernel==0.4.2", "0.1.32", "5.6.0"),
    "0.5.12": ("2.11.0", "0.6.11.post1", "sglang-kernel==0.4.2.post2", "0.2.0", "5.6.0"),
    "0.5.15": ("2.11.0", "0.6.12", "sglang-kernel==0.4.4", "0.2.1", "5.12.1"),
    "0.5.23": ("2.14.1", "0.7.2", "sglang-kernel==0.4.10", "0.2.7", "5.19.0"),
}
OF_EVERY_SGLANG = ("soundfile==0.13.1",)
VLLM = {
    "0.20.2": (
        "torch==2.11.0",
        "flashinfer-python==0.6.8.post1",
        "flashinfer-cubin==0.6.8.post1",
        "xgrammar<1,>=0.1.32",
    ),
    "0.33.0": ("torch==2.14.0", "flashinfer-python==0.7.2.post1", "xgrammar==0.2.8"),
}


def pins(engine: str, version: str) -> tuple[str, ...] | None:
    """Requirements of a release, those that decide; `None`: it is none of those that are known."""
    release = version.partition("+")[0]
    if engine == "vllm":
        return VLLM.get(release)
    found = SGLANG.get(release)
    if found is None:
        return None
    named = zip(NAMES, found, strict=True)
    return (*(pin if name == "kernels" else f"{name}=={pin}" for name, pin in named), *OF_EVERY_SGLANG)


def asking(environment: Environment) -> Iterator[Distribution]:
    """The distributions whose wishes count: in place of an engine's metadata those of the release that its code is."""
    for name, one in environment.by_name.items():
        yield _as_its_code_says(environment, one) if name in ENGINES else one
    for name in ENGINES:
        code = environment.code_of.get(name)
        if code and code.version and name not in environment.by_name and (known := pins(name, code.version)):
            folder = code.directory
            yield Distribution(name=name, version=code.version, metadata=folder, site=folder, requires=known)


def _as_its_code_says(environment: Environment, one: Distribution) -> Distribution:
    code = environment.code_of.get(one.key)
    version = code.version if code else None
    if version is None or one.version is None or version.partition("+")[0] == one.version.partition("+")[0]:
        return one
    known = pins(one.key, version)
    return one.model_copy(update={"version": version, "requires": known}) if known else one
