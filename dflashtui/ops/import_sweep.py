"""Have a unit's own interpreter look at what its program imports, and take what it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from dflashtui.engines.late_imports import late_imports
from dflashtui.model.imports import ImportFault, ImportSweep, Link, Shadow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dflashtui.model.environment import Told
    from dflashtui.ops.preflight_program import Program
    from dflashtui.ops.survey import Survey, Where

    T = TypeVar("T", bound=Told)

TASK = "imports"
OWN = ("sglang", "vllm")
"""Installed, yet what the unit is about: every import of theirs counts."""


def sweep_order(program: Program, where: Where, engine: str | None) -> dict[str, object]:
    """What the task `imports` is asked."""
    return {
        "entry": {"kind": program.kind, "target": program.target},
        "is_safe": program.is_safe or bool(where.environment.get("PYTHONSAFEPATH")),
        "roots": list(late_imports(program.engine or engine, program.arguments)),
        "own": list(OWN),
    }


def sweep_of(found: Survey) -> ImportSweep:
    """The values of a survey; what is not as expected is left out."""
    facts: dict[str, list[Mapping[str, Any]]] = {}
    for fact in found.of(TASK):
        facts.setdefault(str(fact.get("kind")), []).append(fact)
    summary: Mapping[str, Any] = next(iter(facts.get("summary", ())), {})
    missing: Mapping[str, Any] = next(iter(facts.get("no-entry", ())), {})
    return ImportSweep(
        faults=_values(ImportFault, map(_linked, facts.get("fault", ()))),
        shadows=_values(Shadow, facts.get("shadow", ())),
        no_entry=missing.get("why"),
        is_entry_missing=bool(missing.get("is_missing")),
        files=summary.get("files", 0),
        parsed=summary.get("parsed", 0),
        unknown=summary.get("unknown", 0),
        seconds=summary.get("seconds", 0.0),
        shortfall=found.shortfall(TASK),
    )


def _linked(fact: Mapping[str, Any]) -> dict[str, Any]:
    links = (Link(module=module, file=file, line=line) for module, file, line in fact.get("chain", ()))
    return {**fact, "chain": tuple(links)}


def _values(kind: type[T], facts: Iterable[object]) -> tuple[T, ...]:
    found = []
    for fact in facts:
        try:
            found.append(kind.model_validate(fact))
        except ValidationError:
            continue
    return tuple(found)
