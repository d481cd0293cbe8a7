"""One order from stdin: `send`, `apply`, `keep`, `seal`, `undo` or `last`; what happens is told in JSON lines.

The last line is `{"done": …}` or `{"refused": why}`; `send` gives the files' bytes alone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, Dict

from dflashtui.carrier.places import Places, Refusal
from dflashtui.carrier.receiving import receive
from dflashtui.carrier.sending import send
from dflashtui.carrier.swapping import begun, last, mend, seal, swap, undo

REFUSED = 3


def tell(fact: Dict[str, Any]) -> None:
    """One line. A console that is gone does not end what was begun."""
    try:
        sys.stdout.buffer.write(json.dumps(fact, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    except OSError:
        pass


def run() -> None:
    """The program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.umask(0o022)
    order = json.loads(sys.stdin.buffer.readline())
    places = Places(order["site"], order["prefix"])
    try:
        if order["action"] == "send":
            send(order, places)
        else:
            _obey(order, places)
    except (Refusal, OSError) as problem:
        if order["action"] == "send":
            sys.exit(str(problem))
        tell({"refused": str(problem)})
        sys.exit(REFUSED)


def _obey(order: Dict[str, Any], places: Places) -> None:
    action = order["action"]
    if action == "last":
        for record in last(places):
            tell({"exchange": _told(record)})
        tell({"done": {}})
        return
    lock = places.locked()
    try:
        for name in mend(places):
            tell({"mended": name})
        tell({"done": _told(_exchanged(action, order, places))})
    finally:
        os.close(lock)


def _exchanged(action: str, order: Dict[str, Any], places: Places) -> Dict[str, Any]:
    if action == "apply":
        return swap(order, receive(order, places, sys.stdin.buffer, tell), places)
    if action == "keep":
        return begun(order, "install", order["paths"], places)
    if action == "seal":
        return seal(order, places)
    if action == "undo":
        return undo(order, places)
    raise Refusal("this carrier knows no order %r" % action)


def _told(record: Dict[str, Any]) -> Dict[str, Any]:
    """A record without its lists."""
    counts = {"placed": len(record["placed"]), "kept": len(record["kept"])}
    return {**record, **counts}
