"""What makes the packages of one environment like those of another. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import TYPE_CHECKING

from dflashtui.model.sync import SyncFile, SyncPlan, SyncStep
from dflashtui.ops.compare import package_words
from dflashtui.ops.installing import SPEC

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflashtui.model.environment import Environment, PackageFile

ID_LENGTH = 16

Files = tuple["PackageFile", ...]


def plan(
    there: Environment,
    here: Environment,
    packages: Sequence[str],
    files_there: Iterable[PackageFile],
    files_here: Iterable[PackageFile],
    *,
    copy: bool = False,
) -> SyncPlan:
    """One step for each package (normal names). `copy`: also what an index has."""
    by_there, by_here = _by_package(files_there), _by_package(files_here)
    steps = tuple(
        _step(there, here, name, by_there.get(name, ()), by_here.get(name, ()), copy=copy) for name in packages
    )
    return identified(SyncPlan(source=there.host, target=here.host, steps=steps, id=""))


def identified(one: SyncPlan) -> SyncPlan:
    """With the name that its contents give it."""
    contents = json.dumps([step.model_dump(mode="json", exclude={"here", "why"}) for step in one.steps])
    return one.model_copy(update={"id": hashlib.sha256(contents.encode()).hexdigest()[:ID_LENGTH]})


def _by_package(files: Iterable[PackageFile]) -> Mapping[str, Files]:
    by_package: defaultdict[str, list[PackageFile]] = defaultdict(list)
    for file in files:
        by_package[file.package].append(file)
    return {package: tuple(some) for package, some in by_package.items()}


def _step(there: Environment, here: Environment, name: str, theirs: Files, ours: Files, *, copy: bool) -> SyncStep:
    base = SyncStep(
        package=name,
        way="same",
        there=package_words(there, name),
        here=package_words(here, name),
        why="the same on both",
        installed=tuple(file.file for file in ours if file.is_listed),
    )
    if not _is_own(here, name):
        ours, base = (), base.model_copy(update={"installed": ()})
    obstacle = _obstacle(there, here, name, theirs)
    if obstacle:
        return base.model_copy(update={"way": "refused", "why": obstacle})
    differing = _differing(theirs, ours)
    if not any(_counts(path) for path in differing) and base.there == base.here:
        return base
    special = "asked for" if copy else _why_copy(there, name, theirs)
    if not special and base.there == base.here:
        special = "the same version with other files"
    spec = f"{name}=={there.by_name[name].version}"
    if special or not SPEC.match(spec):
        return copied(base, theirs, ours, special or "its version is no plain one")
    return base.model_copy(update={"way": "install", "why": "an index has it", "spec": spec})


def copied(step: SyncStep, theirs: Sequence[PackageFile], ours: Sequence[PackageFile], why: str) -> SyncStep:
    """The step as a copy of files."""
    differing = _differing(theirs, ours)
    names = {file.file for file in theirs}
    files = tuple(
        SyncFile(path=file.file, sha256=file.sha256, size=file.size or 0, mode=file.mode or 0o644)
        for file in theirs
        if file.file in differing and file.sha256
    )
    remove = tuple(file.file for file in ours if file.sha256 and file.file not in names)
    return step.model_copy(update={"way": "copy", "why": why, "files": files, "remove": remove, "spec": None})


def _is_own(environment: Environment, name: str) -> bool:
    """Not one that lies in another folder of the module path: those of the system, of a user, of PYTHONPATH."""
    told = environment.by_name.get(name)
    return told is not None and told.site in {environment.interpreter.purelib, environment.interpreter.platlib}


def _differing(theirs: Sequence[PackageFile], ours: Sequence[PackageFile]) -> frozenset[str]:
    """Paths of what is other there than here, on either side."""
    left = {file.file: file.sha256 for file in theirs if file.sha256}
    right = {file.file: file.sha256 for file in ours if file.sha256}
    return frozenset(path for path in {*left, *right} if left.get(path) != right.get(path))


def _counts(path: str) -> bool:
    """Scripts differ by the interpreter in their head, and metadata by who installed it."""
    return ".dist-info/" not in path and not path.startswith("../")


def _obstacle(there: Environment, here: Environment, name: str, theirs: Files) -> str | None:
    told = there.by_name.get(name)
    if told is None:
        return f"it is not installed on {there.host}" if not there.version(name) else "its files have no RECORD there"
    if told.source.kind == "editable":
        return f"it is installed editable on {there.host}, from {told.source.url}: that folder would have to come along"
    if not _is_own(there, name):
        return f"it lies in {told.site} on {there.host}, outside of the environment's own {there.interpreter.purelib}"
    if not told.has_record:
        return f"{told.metadata} has no RECORD: nobody knows its files"
    unreadable = next((file for file in theirs if file.problem and file.problem != "not there"), None)
    if unreadable:
        return f"{unreadable.file} cannot be read on {there.host}: {unreadable.problem}"
    is_compiled = any(".so" in file.file for file in theirs)
    return _other_kind(there, here) if is_compiled else None


def _other_kind(there: Environment, here: Environment) -> str | None:
    """Compiled files are for one Python and one processor."""
    if there.system.machine != here.system.machine:
        return f"it has compiled files for {there.system.machine}, {here.host} is a {here.system.machine}"
    if there.interpreter.abi != here.interpreter.abi:
        return f"it has compiled files for {there.interpreter.abi}, {here.host} has {here.interpreter.abi}"
    return None


def _why_copy(there: Environment, name: str, theirs: Files) -> str | None:
    """Why no index can have it; `None`: one may."""
    told = there.by_name[name]
    code = there.code_of.get(name)
    if told.source.kind != "index":
        return f"installed there from {told.source.words}"
    patched = [file.file for file in theirs if _counts(file.file) and (file.is_patched or _is_added(file))]
    if patched:
        return f"{len(patched)} files are patched there: {', '.join(patched[:3])}{', …' if len(patched) > 3 else ''}"  # noqa: PLR2004
    if code and code.version and told.version and _public(code.version) != _public(told.version):
        return f"its code says {code.version}, its metadata {told.version}"
    return None


def _is_added(file: PackageFile) -> bool:
    return not file.is_listed and file.sha256 is not None


def _public(version: str) -> str:
    return version.partition("+")[0]
