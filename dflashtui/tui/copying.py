"""What can be copied from a row. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from dflashtui.text import printable
from dflashtui.tui.dialogs.menu import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.config.model import Config
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

SHOWN = 60
MOST_BYTES = 55_000
"""Terminals take about 75 kB of base64 by OSC 52."""


def copy_choices(subject: Subject, picture: Picture, config: Config) -> tuple[Choice, ...]:
    """The texts that a row offers; each is shown before it is taken."""
    found = {"host": _host, "unit": _unit, "gpu": _gpu, "event": _event}.get(subject.kind.value, _host)
    return tuple(
        Choice(key, label, printable(text.replace("\n", " "), limit=SHOWN), text)
        for key, label, text in found(subject, picture, config)
        if text
    )


Found = tuple[str, str, str | None]


def _ssh(subject: Subject, config: Config) -> str | None:
    try:
        return shlex.join(shell_argv(config, subject.host))
    except KeyError:
        return None


def _on_host(subject: Subject, config: Config, program: str, *rest: str) -> str | None:
    """The line that asks the manager of the unit, from here."""
    ssh = _ssh(subject, config)
    if ssh is None:
        return None
    user = ("--user",) if config.host(subject.host).manager == "user" else ()
    command = shlex.join((program, *user, *rest))
    return f"{ssh} {shlex.quote(command)}" if ssh else command


def _host(subject: Subject, picture: Picture, config: Config) -> Iterator[Found]:
    host = picture.host(subject.host)
    yield "n", "name", subject.host
    if host is not None:
        yield "a", "address", host.address
        yield "l", "known_hosts line", host.link.known_hosts_line
        yield "e", "error", host.link.error
        yield "j", "row as JSON", host.model_dump_json(indent=2)
    yield "s", "shell command", _ssh(subject, config)


def _unit(subject: Subject, picture: Picture, config: Config) -> Iterator[Found]:
    unit = picture.unit(subject)
    yield "n", "name", subject.name
    yield "h", "host", subject.host
    if unit is not None:
        yield "p", "unit path", unit.fragment_path
        yield "i", "pid", str(unit.main_pid) if unit.main_pid else None
        yield "r", "invocation id", unit.invocation_id
        yield "j", "row as JSON", unit.model_dump_json(indent=2)
    yield "s", "status command", _on_host(subject, config, "systemctl", "status", "--", subject.name)
    yield "l", "log command", _on_host(subject, config, "journalctl", "-f", "-u", subject.name)


def _gpu(subject: Subject, picture: Picture, config: Config) -> Iterator[Found]:
    gpu = picture.gpu(subject)
    yield "h", "host", subject.host
    if gpu is not None:
        yield "u", "UUID", gpu.uuid
        yield "b", "bus id", gpu.pci_bus_id
        yield "i", "pids", " ".join(str(process.pid) for process in gpu.processes or ())
        yield "j", "row as JSON", gpu.model_dump_json(indent=2)
    yield "s", "shell command", _ssh(subject, config)


def _event(subject: Subject, picture: Picture, _config: Config) -> Iterator[Found]:
    event = picture.event(subject)
    if event is not None:
        yield "m", "message", event.message
        yield "h", "host", event.host
        yield "n", "unit", event.unit
        yield "j", "row as JSON", event.model_dump_json(indent=2)


def shell_argv(config: Config, name: str) -> tuple[str, ...]:
    """The `ssh` command that reaches a host as this program does. Raises `KeyError`."""
    host = config.host(name)
    if host.transport == "local":
        return ()
    options: list[str] = []
    if host.port is not None:
        options += ["-p", str(host.port)]
    if host.user is not None:
        options += ["-l", host.user]
    if host.identity_file is not None:
        options += ["-i", str(host.identity_file.expanduser())]
    if host.known_hosts is not None:
        options += ["-o", f"UserKnownHostsFile={host.known_hosts.expanduser()}"]
    return ("ssh", *options, "--", host.address or host.name)
