"""The taking side: files arrive beside the packages, each verified; what is there already need not come again."""

from __future__ import annotations

import hashlib
import os
from typing import Any, BinaryIO, Callable, Dict, List, NamedTuple

from dflashtui.carrier.places import Places, Refusal

CHUNK = 1 << 20
Tell = Callable[[Dict[str, Any]], None]


class File(NamedTuple):
    """One file as it shall be."""

    path: str
    sha256: str
    size: int
    mode: int


def receive(order: Dict[str, Any], places: Places, stdin: BinaryIO, tell: Tell) -> List[File]:
    """Take what is not there yet, by content, from stdin. Raises `Refusal`; what arrived stays for the next try."""
    files = [File(*one) for one in order["files"]]
    for file in files:
        places.target(file.path)
    folder = places.folder(order["id"], "new")
    wanted = _wanted(files, folder)
    for number in wanted:
        tell({"wants": number})
    tell({"ready": len(wanted), "bytes": sum(files[number].size for number in wanted)})
    for number in wanted:
        _take(files[number], folder, stdin)
        tell({"arrived": files[number].path, "bytes": files[number].size})
    return files


def _wanted(files: List[File], folder: str) -> List[int]:
    """Positions of files whose content is not there, each content once."""
    known, wanted = set(os.listdir(folder)), []
    for number, file in enumerate(files):
        if file.sha256 not in known:
            known.add(file.sha256)
            wanted.append(number)
    return wanted


def _take(file: File, folder: str, stdin: BinaryIO) -> None:
    part, digest, left = os.path.join(folder, ".part"), hashlib.sha256(), file.size
    with open(part, "wb") as out:
        while left:
            chunk = stdin.read(min(CHUNK, left))
            if not chunk:
                raise Refusal("the files stopped coming at %s; those that came are kept for the next try" % file.path)
            digest.update(chunk)
            out.write(chunk)
            left -= len(chunk)
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != file.sha256:
        raise Refusal("%s: arrived damaged" % file.path)
    os.replace(part, os.path.join(folder, file.sha256))
