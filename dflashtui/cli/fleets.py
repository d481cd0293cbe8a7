"""From options to an inventory, and from an inventory to a fleet."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.config.file import find
from dflashtui.config.match import match_hosts
from dflashtui.config.read import load
from dflashtui.text import printable
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.fleet.fleet import OpenTransport
    from dflashtui.transport.base import Transport


def inventory_path(options: Options) -> Path | None:
    """The file to read; the demo without a file of one's own shows the packaged sample."""
    found = find(options.config)
    return paths.shared("hosts.toml") if found is None and options.demo else found


def inventory(options: Options) -> Config:
    """The inventory, narrowed to `--host`. Raises `ConfigError`."""
    config = load(inventory_path(options))
    return config.model_copy(update={"hosts": match_hosts(config, options.hosts)})


def warned(config: Config) -> Config:
    """The same inventory, after its warnings went to stderr."""
    for warning in config.warnings:
        sys.stderr.write(f"dflashtui: warning: {printable(warning)}\n")
    return config


def opener() -> OpenTransport:
    """How hosts are connected to: all through one gate, so that no sshd is crowded."""
    gate = HandshakeGate()

    def opened(host: Host, report_step: Callable[[str], None]) -> AbstractAsyncContextManager[Transport]:
        return open_transport(host, gate=gate, report_step=report_step)

    return opened
