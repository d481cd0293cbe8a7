"""A sync in words, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.text import human_bytes, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.sync import SyncPlan, SyncStep

ABSENT = "–"


def lines(plan: SyncPlan) -> Iterator[str]:
    """The plan: a line for each package."""
    yield f"{printable(plan.source)} → {printable(plan.target)}"
    width = max((len(step.package) for step in plan.steps), default=0)
    for step in plan.steps:
        yield f"  {step.way:<8} {printable(step.package):<{width}}  {_change(step)}  ({printable(_why(step))})"


def _change(step: SyncStep) -> str:
    here, there = printable(step.here or ABSENT), printable(step.there or ABSENT)
    return there if here == there else f"{here} → {there}"


def _why(step: SyncStep) -> str:
    if step.way != "copy":
        return step.why
    removed = f", {len(step.remove)} go" if step.remove else ""
    return f"{step.why}; {len(step.files)} files, {human_bytes(step.bytes)}{removed}"


def document(plan: SyncPlan) -> dict[str, Any]:
    """The plan as JSON, its files counted."""
    counted = {"files", "remove", "installed"}
    steps = [
        {
            **step.model_dump(mode="json", exclude=counted),
            "files": len(step.files),
            "removed": len(step.remove),
            "size_bytes": step.bytes,
        }
        for step in plan.steps
    ]
    return {"schema": 1, "id": plan.id, "source": plan.source, "target": plan.target, "steps": steps}
