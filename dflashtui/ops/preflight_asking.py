"""How the checks of a preflight ask a host, as the unit's user and of its manager, and how they say what they found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dflashtui.model.preflight import PreflightFinding
from dflashtui.ops.preflight_environment import login_of
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Host
    from dflashtui.ops.preflight_question import Question
    from dflashtui.transport.base import Completed, Transport

Level = Literal["fatal", "warning", "note", "unknown"]
OF_USER = 'XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/$(id -u)} exec "$@"'
"""A constant program of sh(1): a login over SSH may lack the variable by which the user's manager is found."""
ROOT = frozenset({"root", "0"})


async def as_user(question: Question) -> tuple[str, ...] | None:
    """What takes on the unit's user before a command; `None`: the login may not. Raises `TransportLost`."""
    wanted = question.user or ("root" if question.host.manager == "system" else None)
    if wanted is None:
        return ()
    login = await login_of(question.transport)
    if login == wanted or (login in ROOT and wanted in ROOT):
        return ()
    if login == "root":
        return ("runuser", "-u", wanted, "--")
    return ("sudo", "-n", "-u", wanted, "--") if question.host.become == "sudo" else None


async def of_manager(transport: Transport, host: Host, *argv: str) -> Completed:
    """`systemctl` or `systemd-analyze`, of the unit's manager. Raises `TransportLost`."""
    if host.manager == "system":
        return await transport.run(("env", "LC_ALL=C", *argv))
    return await transport.run(("env", "LC_ALL=C", "sh", "-c", OF_USER, "sh", argv[0], "--user", *argv[1:]))


def acting(question: Question, *argv: str) -> tuple[str, ...]:
    """A command that changes the host, as its inventory says that changes are made."""
    return ("sudo", "-n", *argv) if question.host.become == "sudo" and question.host.manager == "system" else argv


def finding(
    question: Question,
    id_: str,
    level: Level,
    message: str,
    *evidence: str,
    remedy: str | None = None,
    command: Sequence[str] | None = None,
) -> PreflightFinding:
    """`id_`: `CHECK:THING`."""
    return PreflightFinding(
        id=id_,
        level=level,
        check=id_.partition(":")[0],
        host=question.host.name,
        unit=question.unit.name,
        message=message,
        evidence=evidence,
        remedy=remedy,
        command=tuple(command) if command else None,
    )


def words_of(done: Completed) -> str:
    """What a command said, as one line."""
    said = decoded((done.stdout + b"\n" + done.stderr)[-2000:]).strip()
    return printable(" · ".join(line.strip() for line in said.splitlines() if line.strip())) or "no message"
