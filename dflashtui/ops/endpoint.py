"""Where a unit's service answers, and with which key: from the inventory, and from the process itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from dflashtui.engines.command_line import Serves, process_environment, process_words, serves
from dflashtui.engines.readiness import endpoint
from dflashtui.errors import DflashError, OperationError
from dflashtui.mask import masked
from dflashtui.source.exchange import dial_directly
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config, Unit
    from dflashtui.engines.readiness import Engine
    from dflashtui.model.host import HostSnapshot
    from dflashtui.source.exchange import Dial, Ends
    from dflashtui.transport.base import Completed

KEY_VARIABLE = "DFLASHTUI_API_KEY"
"""Of this program: a key for services that do not show theirs."""
MASK = "***"


class Asked(Protocol):
    """What is needed of a fleet."""

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        """See `Fleet`."""

    async def open_tcp(self, host: str, address: str, port: int) -> Ends:
        """See `Fleet`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One service of one host."""

    host: str
    unit: str
    engine: Engine
    base: str
    """`http://HOST:PORT`, as the host itself reaches it."""
    dial: Dial = field(repr=False)
    key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ()
    """Names that its model may have, from the inventory or its command; empty: not known."""
    argv: tuple[str, ...] = ()
    """Its command, secrets masked; empty: could not be read."""

    def without_key(self, text: str) -> str:
        """`text` with the key masked, wherever it stands in it."""
        return masked(text.replace(self.key, MASK) if self.key else text)


async def find_endpoint(fleet: Asked, config: Config, host: str, unit: str) -> Endpoint:
    """Raises `OperationError` if nothing tells the port, `DflashError` if the host cannot be asked."""
    defined = config.unit(unit)
    running = await _process(fleet, host, unit)
    found = serves(*running)
    engine: Engine = defined.engine if defined and defined.engine != "none" else found.engine or "openai"
    listen = (defined.listen if defined else None) or found.listen
    if listen is None and not (defined and defined.engine != "none"):
        raise OperationError(
            f"{host}: {unit}: nothing tells its port: give it an engine and listen in hosts.toml, [units.{unit!r}]"
        )
    via_console = defined is not None and defined.readiness.via == "console"
    key = found.key or os.environ.get(KEY_VARIABLE)
    return Endpoint(
        host=host,
        unit=unit,
        engine=engine,
        base=endpoint(listen, engine),
        dial=dial_directly if via_console else partial(fleet.open_tcp, host),
        key=key,
        models=_models(defined, found),
        argv=tuple(_masked(running[0], key)),
    )


async def _process(fleet: Asked, host: str, unit: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command and environment of the main process, resolved as the manager gave them; empty: not readable."""
    status = fleet.snapshot(host).unit(unit)
    if status is None or not status.main_pid:
        return (), {}
    command = await _read(fleet, host, f"/proc/{status.main_pid}/cmdline")
    environment = await _read(fleet, host, f"/proc/{status.main_pid}/environ")
    return process_words(command), process_environment(environment)


async def _read(fleet: Asked, host: str, path: str) -> bytes:
    try:
        return (await fleet.ask(host, ("cat", path))).stdout
    except DflashError:
        return b""


def _models(defined: Unit | None, found: Serves) -> tuple[str, ...]:
    named = defined.args.get("served-model-name") if defined else None
    own = [str(named)] if named else [defined.model] if defined and defined.model else []
    return tuple(dict.fromkeys([*own, *found.models]))


def _masked(argv: Sequence[str], key: str | None) -> list[str]:
    """Option by option, so that `--api-key` hides the word after it."""
    words = list(argv)
    for place, word in enumerate(words):
        if key and key in word:
            words[place] = word.replace(key, MASK)
        elif place and masked(f"{words[place - 1]} {word}") != f"{words[place - 1]} {word}":
            words[place] = MASK
    return [printable(masked(word)) for word in words]
