"""The sample logs: NAME.log as a program wrote it, NAME.json with what a reader of it would say.

`python -m tests.diagnosis.samples NAME…` prints what the product says of them, in the form of NAME.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dflashtui.diagnosis.reading import diagnose_bytes

if TYPE_CHECKING:
    from dflashtui.diagnosis.verdict import Verdict
    from dflashtui.model.finding import Location

FOLDER = Path(__file__).parents[1] / "data" / "crashlogs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.log"))


def log(name: str) -> bytes:
    return (FOLDER / f"{name}.log").read_bytes()


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def told(verdict: Verdict) -> dict[str, Any]:
    """What is compared."""
    cause = verdict.cause
    if cause is None:
        return {"fatal": verdict.fatal, "cause": None, "others": [other.kind for other in verdict.others]}
    return {
        "fatal": verdict.fatal,
        "cause": {
            "kind": cause.kind,
            "exception": cause.exception,
            "message": cause.message,
            "module": cause.module,
            "location": _place(cause.location),
            "own_location": _place(cause.own_location),
            "process": cause.process,
            "unit": cause.unit,
            "lines": list(cause.lines) if cause.lines else None,
        },
        "others": [other.kind for other in verdict.others],
    }


def _place(location: Location | None) -> str | None:
    return f"{location.file}:{location.line} {location.function or ''}".rstrip() if location else None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(f"{json.dumps(told(diagnose_bytes([log(name)])), indent=1, ensure_ascii=False)}\n")
