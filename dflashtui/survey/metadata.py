"""The metadata of installed distributions, read without parsing more of it than is asked for."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

HEAD_BYTES = 1 << 15
MOST_BYTES = 1 << 22
REQUIRES_SECTION = re.compile(r"\[([^\]:]*):?([^\]]*)\]$")


def headers(text: str) -> Dict[str, List[str]]:
    """The fields of METADATA or PKG-INFO by lower-case name, folded lines joined; what follows the head is no field."""
    found: Dict[str, List[str]] = {}
    last: List[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line:
            break
        if line[0] in " \t":
            if last:
                last[-1] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = found.setdefault(name.lower(), [])
            last.append(value.strip())
    return found


def head(path: str) -> str:
    """The head of a file of metadata; its long description stays unread. Raises `OSError`."""
    with open(path, "rb") as file:
        data = file.read(HEAD_BYTES)
        while b"\n\n" not in data and b"\r\n\r\n" not in data and len(data) < MOST_BYTES:
            more = file.read(HEAD_BYTES)
            if not more:
                break
            data += more
    return data.decode("utf-8", "backslashreplace")


def first_line(folder: str, name: str) -> Optional[str]:
    """`None`: there is no such file, or nothing in it."""
    text = small(folder, name)
    return text.strip().split("\n")[0].strip() or None if text else None


def small(folder: str, name: str) -> Optional[str]:
    """A small file of the metadata; `None`: it cannot be read."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "backslashreplace")
    except OSError:
        return None


def source(folder: str) -> Dict[str, Any]:
    """Where it came from (PEP 610): `kind` `index`, `git`, `editable`, `local` or `url`; `url`, `commit`."""
    text = small(folder, "direct_url.json")
    if not text:
        return {"kind": "index"}
    try:
        told = json.loads(text)
    except ValueError:
        return {"kind": "unknown"}
    if not isinstance(told, dict):
        return {"kind": "unknown"}
    url = str(told.get("url", ""))
    vcs, folder_told = told.get("vcs_info"), told.get("dir_info")
    if isinstance(vcs, dict):
        return {"kind": "git", "url": url, "commit": str(vcs.get("commit_id", ""))}
    if isinstance(folder_told, dict) and folder_told.get("editable"):
        return {"kind": "editable", "url": url}
    return {"kind": "local" if url.startswith("file:") else "url", "url": url}


def wheel(folder: str) -> Dict[str, Any]:
    """The wheel's build tag and the kinds of Python and system that it is for (PEP 427)."""
    text = small(folder, "WHEEL")
    told = headers(text) if text else {}
    return {"build": next(iter(told.get("build", ())), None), "tags": told.get("tag", [])[:8]}


def egg_requirements(folder: str) -> List[str]:
    """`requires.txt` of setuptools in the words of METADATA."""
    text, extra, marker = small(folder, "requires.txt"), "", ""
    asked: List[str] = []
    for line in map(str.strip, (text or "").split("\n")):
        section = REQUIRES_SECTION.match(line)
        if section:
            extra, marker = section.group(1).strip(), section.group(2).strip()
        elif line:
            asked.append("; ".join(filter(None, (line, _conditions(extra, marker)))))
    return asked


def _conditions(extra: str, marker: str) -> str:
    conditions = ["(%s)" % marker] if marker else []
    return " and ".join([*conditions, 'extra == "%s"' % extra] if extra else conditions)


def folders(site: str) -> Iterator[Tuple[str, str]]:
    """Name and path of each place of metadata in a folder, by name. Raises `OSError`."""
    for name in sorted(os.listdir(site)):
        if name.endswith((".dist-info", ".egg-info")):
            yield name, os.path.join(site, name)
