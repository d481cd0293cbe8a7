"""A person's home with keys, a server on loopback, and the check that nothing is left."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import pytest

from dflashtui.config.model import Host
from dflashtui.transport.base import Transport
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate
from tests.support.ssh_server import LoopbackServer, loopback_server


@dataclass
class Home:
    """`~/.ssh` of the person at the console."""

    folder: Path

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def public_key(self) -> str:
        return (self.folder / "id_ed25519.pub").read_text()

    def know(self, server: LoopbackServer, name: str = "127.0.0.1", port: int | None = None) -> None:
        """Add the server's first key to known_hosts."""
        key = server.host_keys[0].export_public_key().decode()
        with self.known_hosts.open("a") as file:
            file.write(f"[{name}]:{port or server.port} {key}")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home of its own, with one key, no agent and no system-wide configuration."""
    folder = tmp_path / ".ssh"
    folder.mkdir(mode=0o700)
    key = asyncssh.generate_private_key("ssh-ed25519", comment="me@console")
    key.write_private_key(folder / "id_ed25519")
    key.write_public_key(folder / "id_ed25519.pub")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr("dflashtui.transport.ssh_config.SYSTEM_CONFIG", tmp_path / "no-such-file")
    return Home(folder)


@pytest.fixture
async def server(home: Home) -> AsyncIterator[LoopbackServer]:
    """A server that the person may log in to, and whose key is known."""
    async with loopback_server(LoopbackServer(home.public_key)) as server:
        home.know(server)
        yield server


Connect = Callable[..., AbstractAsyncContextManager[Transport]]


@pytest.fixture
def gate() -> HandshakeGate:
    return HandshakeGate()


@pytest.fixture
def connect(gate: HandshakeGate) -> Connect:
    """`connect(server, name=…, …)`: a transport to the server, `name` and the rest as in the inventory."""

    def connecting(server: LoopbackServer | None = None, /, **words: object) -> AbstractAsyncContextManager[Transport]:
        defaults = {"address": "127.0.0.1", "port": server.port if server else None, "user": "root"}
        host = Host.model_validate({"name": "gpu-a", **defaults, **words})
        return open_transport(host, gate=gate, report_step=lambda _: None)

    return connecting


@pytest.fixture(autouse=True)
async def nothing_left() -> AsyncIterator[None]:
    """No task outlives a test."""
    yield
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Threads aside end with their work."""
    yield
    for thread in threading.enumerate():
        if thread.name == "aside":
            thread.join(5)
            assert not thread.is_alive()
