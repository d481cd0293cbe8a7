"""The dispatch: one JSON request from stdin, one JSON line for each fact.

The request: `{"limit_seconds": 30, "tasks": {NAME: ORDER, …}}`; the tasks run one after the other, in its order. A line
is what the task gave, and `task`, its name. After a task comes `{"task": NAME, "end": "whole"}`: `"partial"` when the
time ran out, `"failed"` with `error` when the task itself did.

Adding a task: its name in `TASKS`.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import warnings
from importlib import import_module
from typing import Any, Callable, Dict, Iterator

from dflashtui.survey.place import OutOfTime, Place

Task = Callable[[Dict[str, Any], Place], Iterator[Dict[str, Any]]]

TASKS = ("binaries", "distributions", "files", "flags", "imports", "machine", "parser", "weights")
"""Each is the function `found` of the module of that name; only the modules that a request needs are sent."""
HARD_AFTER_SECONDS = 1.0
"""A task that does not look at the clock is interrupted that long after the limit."""


def run(path: list[str]) -> None:
    """The program. `path`: the `sys.path` that the unit's interpreter made, the folder of `-c` first."""
    warnings.simplefilter("ignore")
    gc.disable()  # a survey ends soon, and makes hundreds of thousands of nodes of syntax without a cycle
    request = json.loads(sys.stdin.buffer.read())
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    place = Place([one for one in path if one], float(request.get("limit_seconds", 30.0)))
    signal.setitimer(signal.ITIMER_REAL, place.limit_seconds + HARD_AFTER_SECONDS, HARD_AFTER_SECONDS)
    for name, order in request["tasks"].items():
        _tell({"task": name, **_outcome(name, order, place)})


def _outcome(name: str, order: dict[str, Any], place: Place) -> dict[str, Any]:
    """How the task ended; what it found is printed meanwhile."""
    if name not in TASKS:
        return {"end": "failed", "error": "this survey knows no such task"}
    try:
        place.check()
        signal.signal(signal.SIGALRM, _interrupt)
        for fact in _task(name)(order, place):
            _tell({"task": name, **fact})
    except OutOfTime:
        return {"end": "partial"}
    except (Exception, RecursionError, MemoryError) as problem:  # noqa: BLE001 - told in one line, the other tasks go on
        return {"end": "failed", "error": "%s: %s" % (type(problem).__name__, problem)}
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    return {"end": "whole"}


def _task(name: str) -> Task:
    found: Task = import_module("dflashtui.survey." + name).found
    return found


def _interrupt(_signal: int, _frame: object) -> None:
    raise OutOfTime


def _tell(fact: dict[str, Any]) -> None:
    """One line. Ends the program when nobody reads any more."""
    try:
        sys.stdout.buffer.write(json.dumps(fact, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)
