"""Compiled files: what they want of CUDA, torch, the C libraries and the GPUs, against what is there. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

from dflashtui.engines.packages import BINARY, engine_of
from dflashtui.engines.requirements import asked, closure
from dflashtui.model.environment import normal
from dflashtui.model.misfit import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.model.environment import Binary, Environment

SHOWN = 4
DRIVERS_OWN = frozenset({"libcuda.so.1", "libnvidia-ml.so.1"})
ALWAYS_LOADED = re.compile(
    r"/torch/lib/lib(?:c10|c10_cuda|torch|torch_cpu|torch_cuda|torch_python|torch_global_deps)\.so$"
    r"|/torch/_C\.[^/]*so$|/torchvision/_C\.so$|/vllm/_(?:moe_)?C\.[^/]*so$|/triton/_C/libtriton\.so$"
    r"|/sgl_kernel/(?:sm\d+/)?(?:common_ops|flash_ops)\.[^/]*so$|/xgrammar/[^/]*bindings[^/]*\.so$"
)
"""Files that an engine loads at every start; others are loaded when they are wanted, if at all."""
OWNER_OF_TOP = {"sgl_kernel": "sgl-kernel", "flashinfer": "flashinfer-python"}

Level = Literal["fatal", "warning", "note"]


def binary_misfits(environment: Environment) -> tuple[Misfit, ...]:
    """Every rule on compiled files; one misfit for all files of a package with the same trouble."""
    binaries = environment.binaries or ()
    judge = _Judge(environment)
    found: tuple[Misfit, ...] = (
        *judge.damaged(binaries),
        *judge.generations(binaries),
        *judge.strangers(binaries),
        *judge.missing(binaries),
        *judge.versions(binaries),
        *judge.architectures(binaries),
    )
    return tuple(sorted(found, key=lambda one: ("fatal", "warning", "unknown", "note").index(one.level)))


class _Judge:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        engine = engine_of(environment)
        self._needed = closure(environment, engine, asked(environment)) if engine else frozenset()

    def damaged(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        for one in binaries:
            if one.problem:
                yield Misfit(
                    id=f"damaged:{one.binary}",
                    level=self._level((one,)),
                    about=(_owner(one),),
                    message=f"{one.binary} cannot be loaded: {one.problem}",
                    remedy=f"install {_owner(one)} again",
                )

    def generations(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        ours = self._environment.cuda_generation
        for owner, files in _by_owner(binaries).items():
            if ours is None or owner == "torch":
                continue
            other = [one for one in files if one.torch and any(number != ours for number in one.cuda.values())]
            if other:
                yield self._generation(owner, other, ours)

    def _generation(self, owner: str, files: Sequence[Binary], ours: int) -> Misfit:
        library = next(name for one in files for name, number in one.cuda.items() if number != ours)
        return Misfit(
            id=f"generation:{owner}",
            level=self._level(files),
            about=(owner, "torch"),
            message=f"{owner} is built for another CUDA: it wants {library}, torch is for {self._environment.cuda}",
            evidence=_paths(files),
            remedy=f"install the {owner} for CUDA {ours}, or the torch that it was built for",
        )

    def strangers(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        torch = self._environment.version("torch")
        for owner, files in _by_owner([one for one in binaries if one.symbols]).items():
            yield Misfit(
                id=f"symbols:{owner}",
                level=self._level(files),
                about=(owner, "torch"),
                message=f"{owner} {self._environment.version(owner) or ''} was built for another torch than {torch}: "
                "it wants symbols that this one does not have",
                evidence=(*_paths(files), *(f"undefined symbol: {name}" for name in files[0].symbols[:SHOWN])),
                remedy=f"install the {owner} that was built for torch {torch}",
            )

    def missing(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        """One misfit for all libraries that a package's files lack, those that every start loads apart."""
        lacking: defaultdict[tuple[str, Level], list[Binary]] = defaultdict(list)
        for one in binaries:
            if self._lacks(one):
                lacking[_owner(one), self._level((one,))].append(one)
        for (owner, level), files in lacking.items():
            libraries = list(dict.fromkeys(library for one in files for library in self._lacks(one)))
            more = f" and {len(libraries) - 1} more libraries, which are" if len(libraries) > 1 else ", which is"
            yield Misfit(
                id=f"libraries:{owner}{'' if level == 'fatal' else ':late'}",
                level=level,
                about=(owner,),
                message=f"{owner} is linked with {libraries[0]}{more} nowhere to be found",
                evidence=(*libraries, *_paths(files)),
                remedy=f"install the packages that bring {', '.join(libraries)}",
            )

    def _lacks(self, one: Binary) -> list[str]:
        """What is nowhere. The driver's rule, and the sweep of imports, say once for all that driver or torch lack."""
        absent = () if self._environment.version("torch") else ("libtorch", "libc10")
        return [
            lacking.library
            for lacking in one.missing
            if not (lacking.elsewhere or lacking.library in DRIVERS_OWN or lacking.library.startswith(absent))
        ]

    def versions(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        wanted: defaultdict[tuple[str, str, str | None], list[Binary]] = defaultdict(list)
        for one in binaries:
            for unmet in one.versions:
                wanted[unmet.library, unmet.version, unmet.newest].append(one)
        for (library, version, newest), files in sorted(wanted.items(), key=lambda item: item[0][:2]):
            yield Misfit(
                id=f"symbol-version:{library}:{version}",
                level=self._level(files),
                about=(*dict.fromkeys(map(_owner, files)), "glibc" if version.startswith("GLIBC_") else "libstdcxx"),
                message=f"{_owner(files[0])} wants {version}, {library} has {f'up to {newest}' if newest else 'none'}",
                evidence=_paths(files),
                remedy=f"a build of {_owner(files[0])} for this system, or a newer system",
            )

    def architectures(self, binaries: Sequence[Binary]) -> Iterator[Misfit]:
        """A GPU that no file of a package has code for. Where a package has none at all it compiles its own.

        NVIDIA's own wheels keep code in other ways, too: they are not judged.
        """
        built_here = [one for one in binaries if (one.sm or one.ptx) and _owner(one) in BINARY]
        for owner, files in _by_owner(built_here).items():
            built = sorted({sm for one in files for sm in one.sm})
            ptx = {sm for one in files for sm in one.ptx}
            lacking = [gpu for gpu in self._environment.gpus if gpu.sm and not _runs(gpu.sm, built, ptx)]
            if lacking:
                yield Misfit(
                    id=f"architecture:{owner}",
                    level="fatal",
                    about=(owner, "gpus"),
                    message=f"{owner} has no code for {lacking[0].name} (sm_{lacking[0].sm})",
                    evidence=(f"built for {', '.join(f'sm_{sm}' for sm in built) or 'nothing'}", *_paths(files)),
                    remedy=f"install a {owner} that is built for sm_{lacking[0].sm}",
                )

    def _level(self, files: Sequence[Binary]) -> Level:
        """Fatal: a file that every start loads. Many others are for what a person may have, or not."""
        if not any(_owner(one) in self._needed or _owner(one) in BINARY for one in files):
            return "note"
        return "fatal" if any(ALWAYS_LOADED.search(one.binary) for one in files) else "warning"


def _owner(binary: Binary) -> str:
    """The normal name of its distribution; by its folder where no RECORD names it."""
    return normal(binary.owner or OWNER_OF_TOP.get(binary.top, binary.top))


def _by_owner(binaries: Sequence[Binary]) -> Mapping[str, list[Binary]]:
    by_owner: defaultdict[str, list[Binary]] = defaultdict(list)
    for one in binaries:
        by_owner[_owner(one)].append(one)
    return by_owner


def _paths(files: Sequence[Binary]) -> tuple[str, ...]:
    rest = len(files) - SHOWN
    return (*(one.binary for one in files[:SHOWN]), *((f"and {rest} more files",) if rest > 0 else ()))


def _runs(gpu: int, built: Sequence[int], ptx: set[int]) -> bool:
    """Code of one major number runs on its later minor ones; PTX is compiled for all that came after it."""
    return any(sm // 10 == gpu // 10 and sm <= gpu for sm in built) or any(sm <= gpu for sm in ptx)
