"""Exchanging files for others, with a record from which it can be put back: at once, after a crash, or years later."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, List

from dflashtui.carrier.places import Places, Refusal, forget_compiled, link_or_copy, tidy

if TYPE_CHECKING:
    from dflashtui.carrier.receiving import File

SCRIPT_FOLDER = "bin"
HEAD_BYTES = 512


def begun(order: Dict[str, Any], way: str, paths: Iterable[str], places: Places) -> Dict[str, Any]:
    """Put copies of files aside, and write down which; those that are not there have none."""
    folder = places.folder(order["id"], "kept")
    record = {
        "id": order["id"],
        "plan": order["plan"],
        "at": time.time(),
        "state": "kept",
        "way": way,
        "packages": order["packages"],
        "who": order.get("who"),
        "placed": [],
        "kept": {},
    }
    for number, path in enumerate(paths):
        target = places.target(path)
        if os.path.lexists(target):
            link_or_copy(target, os.path.join(folder, str(number)))
            record["kept"][path] = number
    places.keep(record)
    return record


def swap(order: Dict[str, Any], files: List[File], places: Places) -> Dict[str, Any]:
    """Place files that have arrived, remove others. Whatever goes wrong, all is as before, or all is as wanted."""
    paths = [file.path for file in files]
    record = begun(order, "copy", dict.fromkeys([*paths, *order["remove"]]), places)
    record.update(state="swapping", placed=paths)
    places.keep(record)
    try:
        for file in files:
            _place(file, order, places)
        for path in order["remove"]:
            _remove(places.target(path), places.site)
    except BaseException:
        put_back(record, places)
        raise
    record["state"] = "done"
    places.keep(record)
    shutil.rmtree(places.folder(order["id"], "new"), ignore_errors=True)
    places.forget_old()
    return record


def _place(file: File, order: Dict[str, Any], places: Places) -> None:
    target, fresh = places.target(file.path), os.path.join(places.folder(order["id"]), "fresh")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    source = os.path.join(places.folder(order["id"], "new"), file.sha256)
    shutil.copyfile(source, fresh)
    if os.path.basename(os.path.dirname(target)) == SCRIPT_FOLDER:
        _own_interpreter(fresh, order["their_python"], order["python"])
    os.chmod(fresh, file.mode & 0o777)
    os.replace(fresh, target)
    forget_compiled(target)


def _own_interpreter(script: str, theirs: str, ours: str) -> None:
    """Scripts name the interpreter that they were installed for in their head."""
    with open(script, "rb") as file:
        data = file.read()
    head, rest = data[:HEAD_BYTES], data[HEAD_BYTES:]
    if head.startswith(b"#!") and theirs.encode() in head:
        with open(script, "wb") as file:
            file.write(head.replace(theirs.encode(), ours.encode()) + rest)


def _remove(path: str, site: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)
    forget_compiled(path)
    tidy(path, site)


def seal(order: Dict[str, Any], places: Places) -> Dict[str, Any]:
    """Write down that an installer has done what files were kept for."""
    record = _record(order["id"], places)
    record["state"] = "done"
    places.keep(record)
    places.forget_old()
    return record


def undo(order: Dict[str, Any], places: Places) -> Dict[str, Any]:
    """Put back what an exchange replaced. `now`: after an installer, the files that are of these packages today."""
    record = _record(order["id"], places)
    if record["state"] == "undone":
        raise Refusal("this exchange was put back already")
    if record["way"] == "install":
        record["placed"] = order.get("now", [])
    put_back(record, places)
    return record


def put_back(record: Dict[str, Any], places: Places) -> None:
    """May be done again after it was cut in the middle: it moves nothing, it copies."""
    folder = places.folder(record["id"], "kept")
    for path in record["placed"]:
        if path not in record["kept"]:
            _remove(places.target(path), places.site)
    for path, number in record["kept"].items():
        target = places.target(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        fresh = os.path.join(places.folder(record["id"]), "fresh")
        link_or_copy(os.path.join(folder, str(number)), fresh)
        os.replace(fresh, target)
        if os.path.lexists(fresh):
            os.unlink(fresh)  # rename(2) does nothing where both are one file already
        forget_compiled(target)
    record["state"] = "undone"
    places.keep(record)


def mend(places: Places) -> List[str]:
    """Put back exchanges that were cut in the middle, as after a crash of the host."""
    cut = [record for record in places.records() if record["state"] == "swapping"]
    for record in cut:
        put_back(record, places)
    return [record["id"] for record in cut]


def last(places: Places) -> List[Dict[str, Any]]:
    """What belongs to the newest plan that can be put back, the newest first. Raises `Refusal` if there is none."""
    found = [record for record in places.records() if record["state"] != "undone"]
    if not found:
        raise Refusal("nothing was exchanged here, or all of it was put back")
    return [record for record in found if record["plan"] == found[0]["plan"]]


def _record(name: str, places: Places) -> Dict[str, Any]:
    for record in places.records():
        if record["id"] == name:
            return record
    raise Refusal("no exchange %s is known here" % name)
