"""Read an environment on a host, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from dflashtui.errors import SourceUnavailable
from dflashtui.mask import masked
from dflashtui.model.environment import (
    Binary,
    Code,
    Distribution,
    Environment,
    EnvironmentGpu,
    Interpreter,
    PackageFile,
    System,
    Told,
)
from dflashtui.ops.survey import survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflashtui.ops.survey import Survey, Where
    from dflashtui.transport.base import Transport

T = TypeVar("T", bound=Told)
LIMIT_SECONDS = 30.0


async def read_environment(
    transport: Transport,
    where: Where,
    *,
    requires: bool = True,
    binaries: Sequence[str] | None = (),
    limit_seconds: float = LIMIT_SECONDS,
) -> Environment:
    """What one interpreter has. `binaries`: top folders whose compiled files are looked at; `None`: all, `()`: none.

    Raises `SourceUnavailable` if the interpreter cannot be run, `TransportLost`.
    """
    tasks: dict[str, dict[str, object]] = {"machine": {}, "distributions": {"requires": requires}}
    if binaries is None or binaries:
        tasks["binaries"] = {} if binaries is None else {"packages": list(binaries)}
    found = await survey(transport, where, tasks, limit_seconds=limit_seconds)
    if not found.of("machine"):
        reason = found.shortfall("machine") or "it told nothing"
        raise SourceUnavailable(transport.host, where.python, reason)
    return environment_of(found)


def environment_of(found: Survey) -> Environment:
    """The values of a survey; what is not as expected is left out."""
    machine = found.of("machine")[0]
    listed = found.of("distributions")
    interpreter = _value(Interpreter, machine.get("interpreter"))
    return Environment(
        host=found.host,
        interpreter=interpreter or Interpreter(executable="?", version="?"),
        system=_value(System, machine.get("system")) or System(),
        gpus=_values(EnvironmentGpu, machine.get("gpus", ())),
        gpus_problem=machine.get("gpus_problem"),
        cuda_driver=machine.get("cuda_driver"),
        distributions=_values(Distribution, (_unsecret(fact) for fact in listed if "name" in fact)),
        codes=_values(Code, (_code(fact) for fact in listed if "code" in fact)),
        binaries=_values(Binary, found.of("binaries")) if "binaries" in found.ends else None,
        shortfalls=tuple(_shortfalls(found)),
    )


def _shortfalls(found: Survey) -> Iterable[str]:
    for task in ("machine", "distributions", "binaries"):
        if task in found.ends and (why := found.shortfall(task)):
            yield f"{task}: {why}"
    for fact in found.of("distributions"):
        if "site" in fact and "name" not in fact:
            yield f"{fact['site']}: {fact.get('problem')}"
    for fact in found.of("binaries"):
        if "unread" in fact:
            yield f"{fact['unread']}: {fact['problem']}"
    for fact in found.of("place"):
        yield " ".join(str(value) for value in fact.values())


def _code(fact: Mapping[str, Any]) -> dict[str, Any]:
    version = fact.get("__version__") or fact.get("version")
    git_version = fact.get("git_version") or fact.get("__git_version__")
    return {**fact, "package": fact["code"], "version": version, "git_version": git_version}


def _unsecret(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Addresses of packages may hold a password."""
    source = dict(fact.get("source") or {})
    if source.get("url"):
        source["url"] = masked(str(source["url"]))
    return {**fact, "source": source}


def _values(kind: type[T], facts: Iterable[object]) -> tuple[T, ...]:
    return tuple(value for fact in facts if (value := _value(kind, fact)))


def _value(kind: type[T], fact: object) -> T | None:
    try:
        return kind.model_validate(fact)
    except ValidationError:
        return None


async def read_files(
    transport: Transport, where: Where, packages: Sequence[str], *, limit_seconds: float = LIMIT_SECONDS
) -> tuple[tuple[PackageFile, ...], tuple[str, ...]]:
    """The files of packages (normal names), and what could not be read. Raises `SourceUnavailable`, `TransportLost`."""
    found = await survey(transport, where, {"files": {"packages": list(packages)}}, limit_seconds=limit_seconds)
    if "files" not in found.ends:
        raise SourceUnavailable(transport.host, where.python, found.shortfall("files") or "it told nothing")
    facts = found.of("files")
    trouble = [f"{fact['package']}: {fact['problem']}" for fact in facts if "file" not in fact and fact.get("problem")]
    if why := found.shortfall("files"):
        trouble.append(f"files: {why}")
    return _values(PackageFile, facts), tuple(trouble)
