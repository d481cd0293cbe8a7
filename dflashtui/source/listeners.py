"""Whose server answers on a port: a unit's own, or one that was there before (inference-engines, part 3.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dflashtui.errors import SourceUnavailable
from dflashtui.sampler.cgroups import holder
from dflashtui.source.proc_files import parse_grep
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dflashtui.transport.base import Transport

PROCESS = re.compile(r'\("(?P<name>[^"]*)",pid=(?P<pid>\d+)')
WILDCARDS = frozenset({"*", "0.0.0.0", "[::]", "::"})  # noqa: S104 - compared, never bound
DEFAULT_PORTS = {"http": 80, "https": 443}
ANSWER_BYTES = 2**20
NAMESPACE = "it has a network of its own (PrivateNetwork=, NetworkNamespacePath=), which is not asked"


@dataclass(frozen=True, slots=True)
class Listener:
    """A process that listens."""

    address: str
    pid: int
    name: str


Holders = dict[Listener, tuple[str | None, str | None]]
"""Unit, or what else holds the process, by `sampler.cgroups.holder`."""


async def foreign_listener(transport: Transport, url: str, names: Collection[str]) -> str | None:
    """Who answers at `url` if it is not the unit of these names; `None`: it is the unit, or nobody can tell.

    Other users' processes are told to root alone (ss(8)), and a host may lack `ss`. Raises `TransportLost`.
    """
    try:
        return await _foreign(transport, url, names)
    except SourceUnavailable:
        return None


async def _foreign(transport: Transport, url: str, names: Collection[str]) -> str | None:
    address, port = _place(url)
    holders = await _holders(transport, asked_at(address, await _listening(transport, port)))
    if not holders or any(unit in names for unit, _ in holders.values()):
        return None
    return _words(port, holders)


async def _listening(transport: Transport, port: int) -> tuple[Listener, ...]:
    done = await transport.run(("ss", "-Hltnp", "sport", "=", f":{port}"), output_limit_bytes=ANSWER_BYTES)
    return listeners(done.stdout) if done.exit_status == 0 else ()


async def _holders(transport: Transport, found: Sequence[Listener]) -> Holders:
    groups = parse_grep((await transport.run(_cgroups(found))).stdout, "\n") if found else {}
    return {one: holder("\n".join(groups[one.pid])) for one in found if one.pid in groups}


async def own_elsewhere(transport: Transport, url: str, names: Collection[str], main_pid: int | None) -> str | None:
    """Where else than at `url` the unit of these names can be reached, in words; `None`: nowhere, or nobody can tell.

    Another port says nothing: engines listen on many while they load. Raises `TransportLost`.
    """
    address, port = _place(url)
    try:
        found = await _listening(transport, port)
        holders = await _holders(transport, [one for one in found if one not in asked_at(address, found)])
        own = next((one for one, (unit, _) in holders.items() if unit in names), None)
        if own is not None:
            return f"it listens on {printable(own.address)}:{port}, and {address} is asked"
        return NAMESPACE if main_pid and await _is_apart(transport, main_pid) else None
    except SourceUnavailable:
        return None


async def _is_apart(transport: Transport, pid: int) -> bool:
    done = await transport.run(("readlink", "--", "/proc/1/ns/net", f"/proc/{pid}/ns/net"), output_limit_bytes=2**10)
    return done.exit_status == 0 and len(set(done.stdout.split())) == 2  # noqa: PLR2004 - two links, two namespaces


def listeners(output: bytes) -> tuple[Listener, ...]:
    """What `ss -Hltnp` printed: `LISTEN 0 128 127.0.0.1:30001 0.0.0.0:* users:(("python3",pid=12,fd=5))`."""
    return tuple(
        Listener(words[3].rpartition(":")[0], int(process["pid"]), process["name"])
        for line in decoded(output).splitlines()
        if len(words := line.split(maxsplit=5)) > 5  # noqa: PLR2004 - the sixth column has the processes
        for process in PROCESS.finditer(words[5])
    )


def asked_at(address: str, found: Sequence[Listener]) -> tuple[Listener, ...]:
    """Those that answer at an address: the kernel prefers a listener of that very address to one of all addresses."""
    exact = tuple(one for one in found if _same(one.address, address))
    return exact or tuple(one for one in found if one.address.partition("%")[0] in WILDCARDS)


def _same(listening: str, asked: str) -> bool:
    try:
        return ip_address(listening.partition("%")[0].strip("[]")) == ip_address(asked)
    except ValueError:
        return listening == asked


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 80)


def _cgroups(found: Sequence[Listener]) -> tuple[str, ...]:
    return ("grep", "-s", "-H", "-a", "", "--", *(f"/proc/{one.pid}/cgroup" for one in found))


def _words(port: int, holders: Holders) -> str:
    one, (unit, held_by) = next(iter(holders.items()))
    whose = printable(unit or held_by or "no unit")
    return f"port {port} is held by another process: pid {one.pid} ({printable(one.name)}) of {whose}"
