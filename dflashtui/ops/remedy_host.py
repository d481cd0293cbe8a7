"""Facts that small commands tell: who owns a port, what is at a path, what systemd says of a unit file."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from dflashtui.diagnosis.remedies_names import MOVED
from dflashtui.errors import DflashError
from dflashtui.ops.remedy_value import HostRemedy
from dflashtui.sampler.cgroups import holder
from dflashtui.source.listeners import listeners
from dflashtui.source.proc_files import parse_grep
from dflashtui.text import decoded, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.finding import Cause
    from dflashtui.source.listeners import Listener

LIMIT_SECONDS = 10.0
MOST_LINES = 8
PORT = re.compile(r"(?:[Pp]ort\D{0,12}|[\]\d*]:|, )(?P<port>\d{2,5})\b")
PATH = re.compile(r"(?:^|[\s'\"(=:\[])(?P<path>/[^\s'\"():,;\]]{1,400})")
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]{1,60}")
FIRST_PORT, LAST_PORT = 1, 65535


async def _told(fleet: Fleet, host: str, *argv: str) -> tuple[str, ...]:
    """The lines that a command says, errors included; the trouble in words if it could not be asked."""
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            done = await fleet.ask(host, argv)
    except DflashError as failure:
        return (str(failure),)
    except TimeoutError:
        return (f"{argv[0]} gave no answer within {LIMIT_SECONDS:.0f} s",)
    text = decoded(done.stdout) + ("" if done.exit_status == 0 else decoded(done.stderr))
    return tuple(line for line in text.splitlines() if line.strip())[:MOST_LINES]


def ports_of(cause: Cause, words: Sequence[str]) -> tuple[int, ...]:
    """Ports that the message names, else those of the unit's command."""
    told = [int(match["port"]) for match in PORT.finditer(cause.message)]
    told += [int(match["port"]) for match in re.finditer(r"[:](?P<port>\d{2,5})\b", cause.message)]
    given = [whole_number(after) or 0 for before, after in pairwise(words) if before == "--port"]
    given += [int(word.partition("=")[2]) for word in words if re.fullmatch(r"--port=\d{1,5}", word)]
    return tuple(dict.fromkeys(port for port in (told or given) if FIRST_PORT <= port <= LAST_PORT))[:3]


async def port_remedies(fleet: Fleet, host: str, unit: str, ports: Sequence[int]) -> tuple[HostRemedy, ...]:
    """Who owns the ports; a left-over of no unit can be ended, another unit stopped."""
    remedies: list[HostRemedy] = []
    for port in ports:
        remedies += await _owners(fleet, host, unit, port)
    return tuple(remedies)


async def _owners(fleet: Fleet, host: str, unit: str, port: int) -> list[HostRemedy]:
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            done = await fleet.ask(host, ("ss", "-Hltnp", "sport", "=", f":{port}"))
            found = listeners(done.stdout)
            groups = await _groups(fleet, host, found)
    except (DflashError, TimeoutError) as failure:
        return [HostRemedy(title=f"port {port}: its owner could not be asked for: {failure}")]
    if done.exit_status != 0:
        return [HostRemedy(title=f"port {port}: ss says: {decoded(done.stderr).strip() or done.exit_status}")]
    if not found:
        listens = bool(done.stdout.strip())
        words = "somebody listens, but only root is told who" if listens else "it is free now"
        return [HostRemedy(title=f"port {port}: {words}", command=f"ss -ltnp 'sport = :{port}'")]
    owners = {one.pid: one for one in found}
    return [_owner(port, one, holder("\n".join(groups.get(one.pid, ()))), unit) for one in owners.values()]


async def _groups(fleet: Fleet, host: str, found: Sequence[Listener]) -> Mapping[int, Sequence[str]]:
    if not found:
        return {}
    argv = ("grep", "-s", "-H", "-a", "", "--", *(f"/proc/{one.pid}/cgroup" for one in found))
    return parse_grep((await fleet.ask(host, argv)).stdout, "\n")


def _owner(port: int, one: Listener, held: tuple[str | None, str | None], unit: str) -> HostRemedy:
    owner, other = held
    where = f"{one.name} (pid {one.pid}) listens on {one.address}:{port}"
    if owner == unit:
        return HostRemedy(title=f"port {port} is held by a process of this unit itself", details=(where,))
    if owner:
        why = f"{owner} is running, and stops to serve"
        title = f"port {port} is held by {owner}: stop it, or choose another port"
        return HostRemedy.of(title, ("systemctl", "stop", owner), (where,), (why,))
    why = f"it ends process {one.pid}, which belongs to {other or 'no unit'}"
    title = f"port {port} is held by process {one.pid} of {other or 'no unit'}: end it"
    return HostRemedy.of(title, ("kill", "-TERM", str(one.pid)), (where,), (why,))


def paths_of(cause: Cause) -> tuple[str, ...]:
    """Absolute paths that the message names, without those of code."""
    found = dict.fromkeys(match["path"].rstrip("./'") for match in PATH.finditer(cause.message))
    return tuple(path for path in found if path and not path.endswith(".py"))[:2]


async def path_remedies(fleet: Fleet, host: str, cause: Cause) -> tuple[HostRemedy, ...]:
    """What is at the path that the message names, folder by folder."""
    remedies = []
    for path in paths_of(cause):
        lines = await _told(fleet, host, "namei", "-l", "--", path)
        remedies.append(HostRemedy(title=f"what is at {path} on {host}", details=lines, command=f"namei -l {path}"))
    return tuple(remedies)


async def space_remedies(fleet: Fleet, host: str, cause: Cause) -> tuple[HostRemedy, ...]:
    """How full the file systems are."""
    lines = await _told(fleet, host, "df", "-h", "--output=target,size,used,avail,pcent", *paths_of(cause))
    return (HostRemedy(title=f"free space on {host}", details=lines, command="df -h"),) if lines else ()


async def unit_file_remedies(fleet: Fleet, host: str, unit: str) -> tuple[HostRemedy, ...]:
    """What systemd-analyze says."""
    lines = await _told(fleet, host, "systemd-analyze", "verify", "--", unit)
    title = "what systemd-analyze verify says" if lines else "systemd-analyze verify has nothing to say against it"
    return (HostRemedy(title=title, details=lines, command=f"systemd-analyze verify {unit}"),)


def moved_flags(cause: Cause) -> tuple[HostRemedy, ...]:
    """Options in the message that have another name in newer releases, or had one in older ones."""
    return tuple(
        HostRemedy(title=words) for flag in dict.fromkeys(FLAG.findall(cause.message)) for words in _moved(flag)
    )


def _moved(flag: str) -> Iterator[str]:
    if flag in MOVED:
        yield f"{flag} is {MOVED[flag].now} since {MOVED[flag].since}"
    for old, new in MOVED.items():
        if flag == new.now:
            yield f"{flag} is new in {new.since}; before that it was {old}"
