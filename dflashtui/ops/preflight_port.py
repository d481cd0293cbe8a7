"""Preflight: the port is free, or held by this very unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.config.quantities import LISTEN
from dflashtui.ops.preflight_asking import acting, finding, of_manager
from dflashtui.ops.preflight_leftovers import ENDED
from dflashtui.ops.preflight_program import expanded
from dflashtui.sampler.cgroups import holder
from dflashtui.source.listeners import WILDCARDS, listeners
from dflashtui.source.proc_files import parse_grep
from dflashtui.source.systemd_show import blocks
from dflashtui.text import decoded, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question
    from dflashtui.source.listeners import Listener

DEFAULTS = {"sglang": ("127.0.0.1", 30000), "vllm": ("0.0.0.0", 8000)}  # noqa: S104 - what the engines do by default
HIGHEST_PORT = 65535
PRIVILEGED_BELOW = 1024


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Who listens there. Raises `TransportLost`."""
    place = place_of(question)
    if place is None:
        return []
    address, port = place
    done = await question.transport.run(("ss", "-Hltnp", "sport", "=", f":{port}"))
    if done.exit_status != 0:
        return [
            finding(question, "port:unknown", "unknown", f"whether port {port} is free cannot be seen: ss is missing")
        ]
    lines = [line for line in decoded(done.stdout).splitlines() if line.split()]
    if not any(_meets(line.split()[3].rpartition(":")[0], address) for line in lines if len(line.split()) > 3):  # noqa: PLR2004 - the local address
        return _privileged(question, port)
    return await _taken(question, port, [one for one in listeners(done.stdout) if _meets(one.address, address)])


def place_of(question: Question) -> tuple[str, int] | None:
    """Where it will listen: by its arguments, else by the inventory, else by the engine's default."""
    host, port = _option(question, "--host"), _option(question, "--port")
    listen = LISTEN.match(question.unit.listen or "")
    default = DEFAULTS.get(question.unit.engine)
    written = whole_number(port or "")
    found = written or (int(listen["port"]) if listen else default[1] if default else None)
    if found is None or not 0 < found <= HIGHEST_PORT:
        return None
    address = host or ((listen["ipv6"] or listen["host"]) if listen else default[0] if default else "")
    return address, found


def _option(question: Question, flag: str) -> str | None:
    """The last value, as argparse takes it."""
    words = [expanded(word, question.environment) for word in question.argv]
    values = [words[at + 1] for at, word in enumerate(words[:-1]) if word == flag]
    values += [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
    return values[-1] if values else None


def _meets(listening: str, wanted: str) -> bool:
    """Whether two sockets of these addresses exclude each other on one port."""
    one, other = (address.partition("%")[0].strip("[]") or "*" for address in (listening, wanted))
    return one == other or {one, other} & {*WILDCARDS, "::"} != set() or "localhost" in {one, other}


async def _taken(question: Question, port: int, found: Sequence[Listener]) -> list[PreflightFinding]:
    if not found:
        message = f"port {port} is taken; by whom, only root may see"
        return [finding(question, f"port:{port}", "unknown", message)]
    paths = [f"/proc/{one.pid}/cgroup" for one in found]
    groups = parse_grep((await question.transport.run(("grep", "-s", "-H", "-a", "", "--", *paths))).stdout, "\n")
    holders = [(one, *holder("\n".join(groups.get(one.pid, [])))) for one in found]
    if own := [one for one, unit, _ in holders if unit == question.unit.name]:
        return await _own(question, port, own[0])
    one, unit, held_by = holders[0]
    message = f"port {port} is taken by {unit or held_by or 'a process of no unit'}"
    if question.unit.engine == "sglang":
        message += "; SGLang finds that out only at the end of loading"
    remedy = f"stop {unit}, or take another port" if unit else "end that process, or take another port"
    evidence = f"pid {one.pid} ({one.name}) listens on {one.address}:{port}"
    return [finding(question, f"port:{port}", "fatal", message, evidence, remedy=remedy)]


async def _own(question: Question, port: int, one: Listener) -> list[PreflightFinding]:
    """This very unit; unless it does not run: then a process outlived its end (KillMode=), and the start fails."""
    argv = ("systemctl", "show", "--property=ActiveState", "--", question.unit.name)
    state = blocks((await of_manager(question.transport, question.host, *argv)).stdout)
    if not state or state[0].get("ActiveState") not in ENDED:
        return []
    message = f"port {port} is still held by a process that an earlier run of {question.unit.name} left behind"
    evidence = f"pid {one.pid} ({one.name}) listens on {one.address}:{port}"
    command = acting(question, "kill", "--", str(one.pid))
    return [finding(question, f"port:{port}", "fatal", message, evidence, remedy="end that process", command=command)]


def _privileged(question: Question, port: int) -> list[PreflightFinding]:
    if port >= PRIVILEGED_BELOW or question.user in {None, "root"}:
        return []
    message = f"port {port} is below 1024, and {question.user} is not root"
    remedy = "AmbientCapabilities=CAP_NET_BIND_SERVICE, or a higher port"
    return [finding(question, f"port:{port}", "warning", message, remedy=remedy)]
