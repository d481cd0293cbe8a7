"""ssh_config(5): honoured where it says how to get there, ignored where it would change our commands."""

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from dflashtui.errors import HostKeyRejected, TransportMisconfigured, Unreachable
from dflashtui.transport import ssh_way
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer, loopback_server
from tests.support.until import until

from .conftest import Connect, Home


@pytest.fixture
async def other(home: Home) -> AsyncIterator[LoopbackServer]:
    """Another server with another authorized key, and the file of that key beside it."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(home.folder / "other_key")
    async with loopback_server(LoopbackServer(key.export_public_key().decode())) as server:
        home.know(server)
        yield server


async def test_an_alias_gives_name_port_user_and_key(home: Home, other: LoopbackServer, connect: Connect) -> None:
    home.config.write_text(
        f"Host rack7\n  HostName 127.0.0.1\n  Port {other.port}\n  User somebody\n  IdentityFile ~/.ssh/other_key\n"
    )
    async with connect(None, name="rack7", address=None, user=None):
        assert other.logins == 1
        assert other.users == ["somebody"]


async def test_the_inventorys_own_words_win(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.config.write_text("Host *\n  HostName 127.0.0.1\n  Port 1\n  User nobody\n  IdentityFile /nowhere\n")
    async with connect(server, address="rack7", user="root", identity_file=home.folder / "id_ed25519"):
        assert server.users == ["root"]


async def test_included_files_count(home: Home, server: LoopbackServer, connect: Connect) -> None:
    (home.folder / "config.d").mkdir()
    (home.folder / "config.d" / "lab").write_text(f"Host rack7\n  HostName 127.0.0.1\n  Port {server.port}\n")
    home.config.write_text("Include config.d/*\n")
    async with connect(None, name="rack7", address=None):
        assert server.logins == 1


@pytest.mark.parametrize(
    "head",
    [
        "Host a rack7 b",
        "host=RACK7,rack7",
        "Host r?ck*",
        'Host "rack7"',
        "\tHOST\track7",
        "Host * !rack8",
        "Match host rack7",
    ],
)
async def test_a_host_finds_its_own_block_among_many(
    home: Home, server: LoopbackServer, connect: Connect, head: str
) -> None:
    others = "".join(f"Host other{n}\n  HostName 127.0.0.{n}\n  Port 1\n\n" for n in range(2, 200))
    refusal = "Host * !rack7\n  Port 2\n"
    home.config.write_text(f"{others}{refusal}{head}\n  HostName 127.0.0.1\n  Port {server.port}\n{others}")
    async with connect(None, name="rack7", address=None):
        assert server.logins == 1


async def test_a_mistake_in_the_block_of_another_host_is_its_own(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    home.config.write_text('Host other\n  ProxyCommand "oh\n  ConnectTimeout 5m\nHost *\n  ConnectTimeout x\n')
    with pytest.raises(TransportMisconfigured, match=r"/\.ssh/config line 5: Invalid ConnectTimeout"):
        async with connect(server):
            pass


async def test_match_blocks_count(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.config.write_text(
        f'Match originalhost rack7 exec "test -d /"\n  HostName 127.0.0.1\nMatch final all\n  Port {server.port}\n'
    )
    async with connect(None, name="rack7", address=None):
        assert server.logins == 1


async def test_the_name_of_the_host_key_may_be_another(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.known_hosts.unlink()
    home.know(server, "the-rack")
    home.config.write_text("Host *\n  HostKeyAlias the-rack\n")
    async with connect(server):
        assert server.logins == 1


async def test_known_hosts_may_be_elsewhere(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.known_hosts.rename(home.folder / "elsewhere")
    home.config.write_text("Host *\n  UserKnownHostsFile ~/.ssh/elsewhere\n")
    async with connect(server):
        assert server.logins == 1


@fault("A17", how="RequestTTY, RemoteCommand, SetEnv", result="commands are the same")
async def test_nothing_in_it_changes_our_commands(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.config.write_text(
        "Host *\n  RequestTTY force\n  RemoteCommand echo hijacked\n  SetEnv X=1\n  SendEnv HOME\n  ForwardAgent yes\n"
        "  PreferredAuthentications password,keyboard-interactive\n  StrictHostKeyChecking no\n"
        "  ServerAliveInterval 0\n  ControlMaster auto\n  NoSuchDirective 1\n"
    )
    async with connect(server) as transport:
        done = await transport.run(["sh", "-c", "test -t 1 || printf 'no terminal\\n'"])
    assert done.stdout == b"no terminal\n"
    assert server.requests == ["exec"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Host *\n  ConnectTimeout 5m\n", "config line 2: Invalid ConnectTimeout integer value: 5m"),
        ('Host "x\n', "config line 1: No closing quotation"),
        ("Host *\n  Port\n", "config line 2: Missing Port value"),
        ("Include ~/.ssh/config\n", "lead back to themselves"),
        ("Host *\n  Ciphers \x00\n", ""),
        ("Host *\n  ProxyJump a:b:c@\n", "ProxyJump"),
    ],
)
@fault("A17", how="mistakes in ~/.ssh/config", result="told with file and line")
async def test_a_mistake_in_it_is_told_with_file_and_line(
    home: Home, server: LoopbackServer, connect: Connect, text: str, words: str
) -> None:
    home.config.write_text(text)
    with pytest.raises(TransportMisconfigured) as failure:
        async with connect(server):
            pass
    assert words in failure.value.reason
    assert not failure.value.transient
    home.config.unlink()
    async with connect(server):
        assert server.logins == 1


async def test_one_that_cannot_be_read_is_named(home: Home, server: LoopbackServer, connect: Connect) -> None:
    home.config.mkdir()
    with pytest.raises(TransportMisconfigured, match=r"\.ssh/config: Is a directory"):
        async with connect(server):
            pass


@fault("A17", how="a Match exec that hangs", result="does not hold the console")
async def test_a_match_exec_that_hangs_does_not_hold_us(
    home: Home, server: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ssh_way, "READING_SECONDS", 0.1)
    gate = tmp_path / "fifo"
    os.mkfifo(gate)
    home.config.write_text(f'Match exec "cat {gate}"\n  Port 1\n')
    with pytest.raises(TransportMisconfigured, match="does a `Match exec` hang"):
        async with connect(server):
            pass
    gate.open("wb").close()
    await until(lambda: not any(thread.name == "aside" for thread in threading.enumerate()))


RELAY = """
import os, socket, sys, threading
there = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def send():
    while data := os.read(0, 65536):
        there.sendall(data)
    there.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while data := there.recv(65536):
    os.write(1, data)
"""


async def test_a_proxy_command_is_the_way(home: Home, server: LoopbackServer, connect: Connect, tmp_path: Path) -> None:
    program = tmp_path / "pass_on.py"
    program.write_text(RELAY)
    home.know(server, "rack7")
    home.config.write_text(f"Host rack7\n  ProxyCommand sh -c 'echo noise >&2; exec python3 {program} 127.0.0.1 %p'\n")
    async with connect(server, address="rack7") as transport:
        assert (await transport.run(["echo", "hello"])).stdout == b"hello\n"


async def test_a_proxy_command_that_fails_is_quoted(home: Home, connect: Connect) -> None:
    home.config.write_text("Host rack7\n  ProxyCommand sh -c 'echo no way to %h >&2; exit 1'\n")
    with pytest.raises(Unreachable, match=r"rack7:22 is not reached by ProxyCommand: no way to rack7"):
        async with connect(None, address="rack7"):
            pass


async def test_files_are_read_once_until_they_change(
    home: Home, server: LoopbackServer, connect: Connect, tmp_path: Path
) -> None:
    home.config.write_text(f'Match exec "echo >>{tmp_path}/read"\n  Port {server.port}\n')
    for _ in range(3):
        async with connect(None):
            pass
    assert len((tmp_path / "read").read_text()) == 1
    home.known_hosts.write_text("")
    with pytest.raises(HostKeyRejected):
        async with connect(None):
            pass
    home.know(server)
    async with connect(None):
        assert server.logins == 4


async def test_known_hosts_nowhere_leaves_every_key_unknown(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    home.config.write_text("Host *\n  UserKnownHostsFile /dev/null\n  GlobalKnownHostsFile none\n")
    with pytest.raises(HostKeyRejected, match=r"name that by known_hosts in hosts\.toml"):
        async with connect(server):
            pass
