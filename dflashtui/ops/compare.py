"""Compare environments: what decides about binaries first, grouped by answer. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from dflashtui.engines.fit import misfits
from dflashtui.engines.packages import DECISIVE
from dflashtui.model.comparison import Compared, Comparison, Remark, Stand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dflashtui.model.environment import Environment, PackageFile
    from dflashtui.model.misfit import Misfit

Group = Literal["decisive", "machine", "cuda", "setting", "package", "file"]
TORCH = "torch"
METADATA = ".dist-info/"


def _python(environment: Environment) -> str:
    one = environment.interpreter
    name = "" if one.implementation == "CPython" else f"{one.implementation} "
    return f"{name}{one.version}{' free-threaded' if one.is_free_threaded else ''}"


def _gpus(environment: Environment) -> str | None:
    """`8 × NVIDIA H200 sm_90`."""
    kinds = Counter((gpu.name or "unknown GPU", gpu.sm) for gpu in environment.gpus)
    return ", ".join(f"{count} × {name}{f' sm_{sm}' if sm else ''}" for (name, sm), count in kinds.items()) or None


MACHINE: dict[str, Callable[[Environment], str | None]] = {
    "cuda": lambda one: one.cuda,
    "python": _python,
    "driver": lambda one: one.system.driver,
    "gpus": _gpus,
    "glibc": lambda one: one.system.glibc,
    "libstdcxx": lambda one: one.system.libstdcxx,
    "machine": lambda one: one.system.machine,
}
"""What compiled files depend on; `cuda` is what torch was built for."""
SETTINGS: dict[str, Callable[[Environment], str | None]] = {
    "os": lambda one: one.system.os,
    "kernel": lambda one: one.system.kernel,
    "cuda toolkits": lambda one: ", ".join(one.system.toolkits) or None,
    "nvcc": lambda one: one.system.nvcc,
    "interpreter": lambda one: one.interpreter.executable,
    "user site": lambda one: "enabled" if one.interpreter.user_site else "disabled",
}


def compare(environments: Sequence[Environment], unread: Iterable[Remark] = ()) -> Comparison:
    """One row for each thing: torch and the machine, decisive packages, CUDA's wheels, settings, all other packages."""
    fatal = {one.host: [misfit for misfit in misfits(one) if misfit.level == "fatal"] for one in environments}
    rows = [_marked(row, fatal) for row in _rows(environments)] if environments else []
    short = [Remark(host=one.host, message=why) for one in environments for why in one.shortfalls]
    return Comparison(hosts=tuple(one.host for one in environments), rows=tuple(rows), unread=(*unread, *short))


def _rows(environments: Sequence[Environment]) -> Iterator[Compared]:
    names = {name for one in environments for name in (*one.by_name, *one.code_of)}
    decisive = [name for name in DECISIVE if name in names and name != TORCH]
    cuda = sorted(name for name in names if name.startswith("nvidia-"))
    if TORCH in names:
        yield _package(TORCH, "decisive", environments)
    yield from _of(MACHINE, "machine", environments)
    for name in decisive:
        yield _package(name, "decisive", environments)
    for name in cuda:
        yield _package(name, "cuda", environments)
    yield from _of(SETTINGS, "setting", environments)
    yield from _variables(environments)
    for name in sorted(names - {TORCH, *decisive, *cuda}):
        yield _package(name, "package", environments)


def _of(
    facts: Mapping[str, Callable[[Environment], str | None]], group: Group, environments: Sequence[Environment]
) -> Iterator[Compared]:
    for name, value in facts.items():
        yield _row(name, group, {one.host: value(one) for one in environments})


def _variables(environments: Sequence[Environment]) -> Iterator[Compared]:
    for name in sorted({name for one in environments for name in one.interpreter.environment}):
        yield _row(name, "setting", {one.host: one.interpreter.environment.get(name) for one in environments})


def _package(name: str, group: Group, environments: Sequence[Environment]) -> Compared:
    return _row(name, group, {one.host: package_words(one, name) for one in environments})


def _row(name: str, group: Group, values: Mapping[str, str | None]) -> Compared:
    by_value: dict[str | None, list[str]] = {}
    for host, value in values.items():
        by_value.setdefault(value, []).append(host)
    stands = sorted(by_value.items(), key=lambda item: -len(item[1]))
    return Compared(
        name=name, group=group, stands=tuple(Stand(value=value, hosts=tuple(hosts)) for value, hosts in stands)
    )


def _marked(row: Compared, fatal: Mapping[str, Sequence[Misfit]]) -> Compared:
    if not row.differs:
        return row
    remarks = [
        Remark(host=host, message=misfit.message)
        for host, broken in fatal.items()
        for misfit in broken
        if row.name in misfit.about
    ]
    return row.model_copy(update={"fatal": tuple(remarks)}) if remarks else row


def package_words(environment: Environment, name: str) -> str | None:
    """Version as the code has it, build tag, source: `0.5.11 git 1a2b3c4d5e`. `None`: not there."""
    told, real = environment.by_name.get(name), environment.version(name)
    if told is None:
        return f"{real} (no metadata)" if real else None
    words = [real or "?"]
    if told.version and real and _public(told.version) != _public(real):
        words.append(f"(metadata {told.version})")
    return " ".join(filter(None, (*words, told.build and f"build {told.build}", told.source.words)))


def _public(version: str) -> str:
    return version.partition("+")[0]


def compare_files(files: Mapping[str, Sequence[PackageFile]], unread: Iterable[Remark] = ()) -> Comparison:
    """A row for each file of the packages, but for their metadata; `files`: by host."""
    by_host = {host: {one.file: one for one in some} for host, some in files.items()}
    names = sorted({name for some in by_host.values() for name in some if METADATA not in name})
    rows = [_row(name, "file", {host: file_words(some.get(name)) for host, some in by_host.items()}) for name in names]
    return Comparison(hosts=tuple(files), rows=tuple(rows), unread=tuple(unread))


def file_words(file: PackageFile | None) -> str | None:
    """`3f2a9c81d0, patched`: the beginning of its SHA-256, and whether that is not what was installed."""
    if file is None or file.sha256 is None:
        return None if file is None or file.problem == "not there" else file.problem
    if file.is_patched:
        return f"{file.sha256[:10]}, patched"
    return f"{file.sha256[:10]}, in no RECORD" if not file.is_listed else file.sha256[:10]
