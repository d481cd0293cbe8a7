"""From an inventory and a host to the question that all checks are asked: the unit's text, taken apart once."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from dflashtui.config.model import Unit
from dflashtui.errors import DecodeError, RenderError, SourceUnavailable
from dflashtui.ops.preflight_asking import of_manager, words_of
from dflashtui.ops.preflight_question import Question
from dflashtui.ops.render import rendered
from dflashtui.source.gpus import samples
from dflashtui.text import decoded
from dflashtui.unitfile.command import INTERPRETER, settled
from dflashtui.unitfile.look import VARIABLE, Look
from dflashtui.unitfile.reading import files_of_cat
from dflashtui.unitfile.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflashtui.config.model import Config, Host
    from dflashtui.model.sample import HostSample
    from dflashtui.transport.base import Transport

SAMPLE_SECONDS = 8.0
"""A driver without persistence takes seconds for its first answer."""
SHEBANG = re.compile(rb"#!\s*(\S+)(?:\s+(\S+))?")
FILE_BYTES = 1 << 16


class NoUnitError(Exception):
    """There is no text of the unit that could be looked at; says why, and what to do."""


async def asked(config: Config, unit: str, host: Host, transport: Transport) -> Question:
    """Raises `NoUnitError`, `TransportLost`."""
    wanted = config.unit(unit) or Unit(name=unit, hosts=(host.name,))
    async with asyncio.TaskGroup() as group:
        sampling = group.create_task(_sample(transport))
        reading = group.create_task(_text(config, wanted, host, transport))
    text = reading.result()
    if text is None:
        raise NoUnitError(f"{host.name} has no {unit}, and the inventory has neither a template nor a file for it")
    look = Look(text, unit)
    specifiers = _specifiers(unit, look, host)
    environment = {name: settled(one.value, specifiers) for name, one in look.variables.items()}
    for path in _files(look, specifiers):
        environment |= _assignments((await transport.run(("cat", "--", path), output_limit_bytes=FILE_BYTES)).stdout)
    command = next(iter(look.starts), None)
    argv = tuple(settled(word, specifiers) for word in command.argv) if command else ()
    return Question(
        config=config,
        unit=wanted,
        host=host,
        transport=transport,
        unit_text=text,
        argv=argv,
        interpreter=await _interpreter(transport, argv) or wanted.python,
        user=look.unit.value("Service", "User") or None,
        environment=environment,
        working_directory=_directory(look, specifiers),
        gpu_sample=sampling.result(),
    )


async def _text(config: Config, unit: Unit, host: Host, transport: Transport) -> str | None:
    """As it would be pushed, else as the host has it, with the host's drop-ins; `None`: there is none."""
    done = await of_manager(transport, host, "systemctl", "cat", "--", unit.name)
    if unit.template or unit.file:
        try:
            text = rendered(config, unit.name, host.name).text
        except RenderError as wrong:
            raise NoUnitError(str(wrong)) from wrong
        return _with_drop_ins(unit.name, text, decoded(done.stdout) if done.exit_status == 0 else "")
    if done.exit_status not in {0, 1}:
        raise NoUnitError(f"{host.name}: systemctl cat {unit.name}: {words_of(done)}")
    return decoded(done.stdout) if done.exit_status == 0 else None


def _with_drop_ins(unit: str, text: str, on_host: str) -> str:
    """The text in the place of the host's own; drop-ins stay when a unit is pushed."""
    parts = [(path, each) for path, each in files_of_cat(on_host) if path.endswith(".conf")]
    if not parts:
        return text
    return "\n\n".join(f"# {path}\n{each.rstrip()}" for path, each in [(f"/etc/systemd/system/{unit}", text), *parts])


async def _sample(transport: Transport) -> HostSample | None:
    """The first sample that knows about GPUs, or why there are none."""
    last = None
    try:
        async with asyncio.timeout(SAMPLE_SECONDS), samples(transport, interval_seconds=1.0) as feed:
            async for last in feed:
                if last.gpus is not None or last.gpu_problem is not None:
                    break
    except (TimeoutError, SourceUnavailable, DecodeError):
        return last
    return last


def _specifiers(unit: str, look: Look, host: Host) -> dict[str, str]:
    """The specifiers that are known without asking."""
    stem = unit.rpartition(".")[0]
    prefix, _, instance = stem.partition("@")
    user = look.unit.value("Service", "User") or ("root" if host.manager == "system" else host.user or "")
    found = {"n": unit, "N": stem, "p": prefix, "i": instance, "u": user, "t": "/run", "S": "/var/lib", "E": "/etc"}
    return {**found, "h": "/root"} if host.manager == "system" else {"n": unit, "N": stem, "p": prefix, "i": instance}


def _files(look: Look, specifiers: Mapping[str, str]) -> Iterator[str]:
    for entry in look.unit.all("Service", "EnvironmentFile"):
        yield settled(entry.value.removeprefix("-"), specifiers)


def _assignments(data: bytes) -> dict[str, str]:
    """What systemd reads in an environment file: `NAME=value` lines, quotes as in a shell (systemd.exec(5))."""
    found = {}
    for line in decoded(data).splitlines():
        one = VARIABLE.match(line.strip())
        if one:
            try:
                found[one[1]] = " ".join(word.text for word in words(one[2])) if one[2][:1] in "\"'" else one[2]
            except ValueError:
                continue
    return found


async def _interpreter(transport: Transport, argv: tuple[str, ...]) -> str | None:
    """The program if it is a Python, else the one that a script's first line names."""
    if not argv:
        return None
    if INTERPRETER.search(argv[0]):
        return argv[0]
    begins = (await transport.run(("head", "-c", "256", "--", argv[0]))).stdout
    found = SHEBANG.match(begins)
    if found is None:
        return None
    path = decoded(found[2] if found[1].endswith(b"/env") and found[2] else found[1])
    return path if INTERPRETER.search(path) and path.startswith("/") else None


def _directory(look: Look, specifiers: Mapping[str, str]) -> str | None:
    written = settled(look.unit.value("Service", "WorkingDirectory").removeprefix("-"), specifiers)
    return written if written.startswith("/") else None
