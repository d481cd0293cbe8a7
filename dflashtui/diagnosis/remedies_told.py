"""What the message of a failure itself says to do or to look at: flags, paths, hosts, repositories, places. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.model.finding import Cause

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:[-_][a-z0-9]+){0,8}(?![\w-])")
PATH = re.compile(r"(?:^|[\s'\"`(=:])(?P<path>/(?:[\w.@+-]{1,255}/?){1,40})")
REPOSITORY = re.compile(r"https?://(?P<hub>[\w.-]{1,255})/(?:api/models/)?(?P<name>[\w.-]{1,100}/[\w.-]{1,100})")
SERVER = re.compile(r"host='(?P<quoted>[\w.-]{1,255})'|https?://(?P<named>[\w.-]{1,255})")
HEADER = re.compile(r"(?P<header>[\w./+-]{1,200}\.h): No such file")
MAX_FLAGS = 4


class Told(NamedTuple):
    """One thing to do; `command` where a command line looks at it."""

    title: str
    command: str | None = None


def told(cause: Cause) -> tuple[Told, ...]:
    """What can be read from the cause alone, the most exact first."""
    return tuple(one for reader in READERS.get(cause.kind, ()) for one in reader(cause))


def _flags(cause: Cause) -> tuple[Told, ...]:
    """`--a` and `--b` of the message, each once."""
    found = tuple(dict.fromkeys(FLAG.findall(cause.message)))[:MAX_FLAGS]
    return (Told(f"change {' or '.join(found)} in the unit's command, as the message says"),) if found else ()


def _path_owners(cause: Cause) -> tuple[Told, ...]:
    path = _path(cause)
    return (Told(f"who may reach {path}", shlex.join(("namei", "-l", path))),) if path else ()


def _path_space(cause: Cause) -> tuple[Told, ...]:
    path = _path(cause)
    return (Told(f"free space where {path} is", shlex.join(("df", "-h", path))),) if path else ()


def _path_content(cause: Cause) -> tuple[Told, ...]:
    path = _path(cause)
    return (Told(f"whether {path} is there", shlex.join(("ls", "-ld", path))),) if path else ()


def _path(cause: Cause) -> str | None:
    found = PATH.search(cause.message)
    return found["path"].rstrip("./") or "/" if found else None


def _repository(cause: Cause) -> tuple[Told, ...]:
    found = REPOSITORY.search(cause.message)
    return (
        (Told(f"ask for access to {found['name']} at {found['hub']}, with the account of the token"),) if found else ()
    )


def _server(cause: Cause) -> tuple[Told, ...]:
    found = SERVER.search(cause.message)
    if found is None:
        return ()
    name = found["quoted"] or found["named"]
    return (Told(f"whether this host can resolve {name}", shlex.join(("getent", "hosts", name))),)


def _place(cause: Cause) -> tuple[Told, ...]:
    """The service's own code goes before that of packages."""
    place = cause.own_location or cause.location
    if place is None:
        return ()
    where = f"line {place.line}" if place.function in {None, "<module>"} else f"line {place.line}, in {place.function}"
    return (Told(f"look at {place.file}, {where}"),)


def _header(cause: Cause) -> tuple[Told, ...]:
    found = HEADER.search(cause.message)
    if found is None:
        return ()
    is_python = found["header"] == "Python.h"
    brings = "Python's headers (python3-dev)" if is_python else f"the package that brings {found['header']}"
    return (Told(f"install {brings} for the compiler"),)


READERS: dict[str, tuple[Callable[[Cause], tuple[Told, ...]], ...]] = {
    "config-validation": (_flags,),
    "bad-argument": (_flags,),
    "cuda-oom": (_flags,),
    "permission": (_path_owners,),
    "disk-full": (_path_space,),
    "model-not-found": (_path_content,),
    "model-invalid": (_path_content,),
    "auth": (_repository,),
    "network": (_server,),
    "kernel-compile": (_header,),
    "code-bug": (_place,),
}
"""By kind. Adding one: one entry, and a line in its test."""
