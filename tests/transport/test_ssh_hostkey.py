"""Host keys: strict always, unknown and changed told apart, with what a person needs to decide."""

import base64
import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from dflashtui.errors import HostKeyRejected, TransportMisconfigured
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer, loopback_server

from .conftest import Connect, Home


def text(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()


def new_key(kind: str = "ssh-ed25519") -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind)


async def rejection(connect: Connect, server: LoopbackServer, **words: object) -> HostKeyRejected:
    """The refusal; the host saw no login."""
    with pytest.raises(HostKeyRejected) as refused:
        async with connect(server, **words):
            pass
    assert server.logins == 0
    return refused.value


@fault("A16", how="a key that is not known", result="refused, with the line that would make it known")
async def test_an_unknown_key_is_refused_with_the_line_that_would_make_it_known(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    home.known_hosts.unlink()
    refused = await rejection(connect, server)
    assert refused.kind == "unknown"
    assert refused.fingerprints == (f"ssh-ed25519 {server.host_keys[0].get_fingerprint()}",)
    assert str(home.known_hosts) in refused.reason
    home.known_hosts.write_text(refused.line + "\n")
    async with connect(server):
        assert server.logins == 1


@fault("A16", how="another key than the known one", result="refused, both fingerprints, no line to add")
async def test_a_changed_key_is_refused_with_both_fingerprints_and_no_line(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    known = new_key()
    home.known_hosts.write_text(f"# comment\n[127.0.0.1]:{server.port} {text(known)}\n")
    refused = await rejection(connect, server)
    assert refused.kind == "changed"
    assert refused.fingerprints == tuple(f"ssh-ed25519 {key.get_fingerprint()}" for key in (server.host_keys[0], known))
    assert refused.line == ""
    assert f"{home.known_hosts}:2" in refused.reason
    assert f"ssh-keygen -f {home.known_hosts} -R [127.0.0.1]:{server.port}" in refused.reason


async def test_a_key_of_another_type_than_the_known_one_is_a_change(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    home.known_hosts.write_text(f"[127.0.0.1]:{server.port} {text(new_key('ecdsa-sha2-nistp256'))}\n")
    refused = await rejection(connect, server)
    assert refused.kind == "changed"
    assert refused.fingerprints[1].startswith("ecdsa-sha2-nistp256 SHA256:")


async def test_a_known_key_is_found_among_several_of_the_host(home: Home, connect: Connect) -> None:
    keys = [new_key("ecdsa-sha2-nistp256"), new_key()]
    async with loopback_server(LoopbackServer(home.public_key, host_keys=keys)) as server:
        home.known_hosts.write_text(f"[127.0.0.1]:{server.port} {text(keys[0])}\n")
        async with connect(server):
            assert server.logins == 1


@fault("A16", how="a revoked key", result="refused")
async def test_a_revoked_key_is_refused_even_if_it_is_known(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    with home.known_hosts.open("a") as file:
        file.write(f"@revoked * {text(server.host_keys[0])}\n")
    refused = await rejection(connect, server)
    assert refused.kind == "revoked"
    assert refused.fingerprints == (f"ssh-ed25519 {server.host_keys[0].get_fingerprint()}",)
    assert f"{home.known_hosts}:2" in refused.reason
    assert refused.line == ""


def hashed(name: str) -> str:
    salt = b"0123456789abcdefghij"
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize(
    "names",
    [
        lambda port: hashed(f"[127.0.0.1]:{port}"),
        lambda port: f"other,[127.0.0.1]:{port}",
        lambda port: f"[127.0.0.*]:{port}",
        lambda port: "127.0.0.1",  # as ssh(1): good without the port, too
        lambda port: f"*,![127.0.0.1]:{port + 1}",
    ],
    ids=["hashed", "list", "pattern", "without port", "negation"],
)
async def test_known_names_take_every_form(
    home: Home, server: LoopbackServer, connect: Connect, names: Callable[[int], str]
) -> None:
    home.known_hosts.write_text(f"{names(server.port)} {text(server.host_keys[0])}\n")
    async with connect(server):
        assert server.logins == 1


@pytest.mark.parametrize(
    "names",
    [
        lambda port: hashed(f"[127.0.0.2]:{port}"),
        lambda port: f"[127.0.0.1]:{port + 1}",
        lambda port: f"*,![127.0.0.1]:{port},!127.0.0.1",
        lambda port: "|1|no|hash",
    ],
    ids=["hashed", "other port", "negation", "broken hash"],
)
async def test_other_names_do_not_count(
    home: Home, server: LoopbackServer, connect: Connect, names: Callable[[int], str]
) -> None:
    home.known_hosts.write_text(f"{names(server.port)} {text(server.host_keys[0])}\n")
    assert (await rejection(connect, server)).kind == "unknown"


async def test_another_key_of_the_name_without_the_port_is_no_change(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    home.known_hosts.write_text(f"127.0.0.1 {text(new_key())}\n")
    assert (await rejection(connect, server)).kind == "unknown"


async def test_the_address_alone_makes_no_name_known(home: Home, server: LoopbackServer, connect: Connect) -> None:
    refused = await rejection(connect, server, address="localhost")
    assert refused.kind == "unknown"
    assert refused.line.startswith(f"[localhost]:{server.port} ssh-ed25519 ")


async def test_lines_that_are_rubbish_are_passed_over(home: Home, server: LoopbackServer, connect: Connect) -> None:
    good = home.known_hosts.read_bytes()
    broken = f"[127.0.0.1]:{server.port} ssh-ed25519 AAAA\n".encode()
    home.known_hosts.write_bytes(b"\xff\xfe\n@what x y\nlonely\n|1|\n" + broken + good)
    async with connect(server):
        assert server.logins == 1


async def test_a_host_certificate_is_good_by_its_authority(home: Home, connect: Connect) -> None:
    authority, key = new_key(), new_key()
    certificate = authority.generate_host_certificate(key, "gpu-a", principals=["127.0.0.1"])
    server = LoopbackServer(home.public_key, host_keys=[(key, certificate)])  # type: ignore[list-item]  # asyncssh takes pairs, too
    async with loopback_server(server):
        home.known_hosts.write_text(f"@cert-authority [127.0.0.1]:{server.port} {text(authority)}\n")
        async with connect(server):
            assert server.logins == 1


async def test_the_inventorys_own_file_is_the_only_one(
    home: Home, server: LoopbackServer, connect: Connect, tmp_path: Path
) -> None:
    own = tmp_path / "fleet_known_hosts"
    refused = await rejection(connect, server, known_hosts=own)
    assert str(own) in refused.reason
    own.write_text(refused.line + "\n")
    home.known_hosts.unlink()
    async with connect(server, known_hosts=own):
        assert server.logins == 1


async def test_a_known_hosts_that_cannot_be_read_is_named(
    server: LoopbackServer, connect: Connect, tmp_path: Path
) -> None:
    with pytest.raises(TransportMisconfigured, match=r"gpu-a: .*: Is a directory"):
        async with connect(server, known_hosts=tmp_path):
            pass
