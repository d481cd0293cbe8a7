"""The SSH transport against real sshd, shells, file systems and dead paths."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path, PurePosixPath

import asyncssh
import pytest

from dflashtui.config.model import Host
from dflashtui.errors import AuthDenied, CommandFailed, HostKeyRejected, SourceUnavailable, TransportLost
from dflashtui.transport.base import Transport
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate
from tests.faults.marks import fault
from tests.support.until import until

from .harness.fleet import TestFleet

HOST = "gpu-b"
SETTINGS = "/etc/ssh/sshd_config.d/under-test.conf"
BUS = "/run/dbus/system_bus_socket"
OURS = "dflash-under-test"
"""A word in the argv of commands, by which they are found on the host."""

Connect = Callable[..., AbstractAsyncContextManager[Transport]]


@pytest.fixture
def connect(fleet: TestFleet) -> Connect:
    gate = HandshakeGate()

    def connecting(**words: object) -> AbstractAsyncContextManager[Transport]:
        defaults = {
            "name": HOST,
            "address": fleet.hosts[HOST].address,
            "user": "root",
            "identity_file": fleet.identity_file,
            "known_hosts": fleet.known_hosts,
        }
        return open_transport(Host.model_validate({**defaults, **words}), gate=gate, report_step=lambda _: None)

    return connecting


@pytest.fixture
async def transport(connect: Connect) -> AsyncIterator[Transport]:
    async with connect() as transport:
        yield transport


@pytest.fixture
def sshd(fleet: TestFleet) -> Iterator[Callable[[str], None]]:
    """`sshd("MaxSessions 1")`: settings of the host's sshd for new connections."""

    def restart() -> None:
        fleet.check(HOST, "systemctl", "reset-failed", "ssh")  # its start limit is not the matter here
        fleet.check(HOST, "systemctl", "restart", "ssh")

    def configure(settings: str) -> None:
        fleet.hosts[HOST].write_file(SETTINGS, settings.encode())
        restart()

    yield configure
    fleet.check(HOST, "rm", "-f", SETTINGS)
    restart()


@pytest.fixture(autouse=True)
def host_cleared(fleet: TestFleet) -> Iterator[None]:
    yield
    fleet.join(HOST)
    fleet.exec(HOST, "pkill", "-KILL", "-f", OURS)


def processes(fleet: TestFleet) -> list[str]:
    """Command lines of ours on the host."""
    return fleet.exec(HOST, "pgrep", "-fa", OURS).stdout.decode().splitlines()


async def test_a_command_arrives_and_answers(transport: Transport) -> None:
    done = await transport.run(
        ["sh", "-c", 'printf "%s|%s|" "$LC_ALL" "$1"; cat; exit 3', OURS, "a'b\\ !\n$x"], stdin=b"in"
    )
    assert (done.stdout, done.exit_status) == (b"C|a'b\\ !\n$x|in", 3)


@fault("A2", how="a black hole under an open connection", result="noticed by keepalive; outcomes are unknown")
async def test_a_path_that_dies_is_noticed_and_outcomes_are_unknown(fleet: TestFleet, connect: Connect) -> None:
    async with connect() as transport, transport.stream(["cat"]) as stream:
        running = asyncio.create_task(transport.run(["sh", "-c", f"sleep 600; : {OURS}"]))
        await until(lambda: processes(fleet))
        fleet.cut(HOST)
        with pytest.raises(TransportLost, match=r"no sign of life for 7\.5 s"):
            await transport.lost()
        with pytest.raises(TransportLost):
            await anext(aiter(stream))
        assert (await running).exit_status is None
        with pytest.raises(TransportLost):
            await transport.run(["true"])


async def test_leaving_while_the_path_is_dead_ends(fleet: TestFleet, connect: Connect) -> None:
    """Long before TCP would give up, which takes a quarter of an hour."""
    async with AsyncExitStack() as stack:
        transport = await stack.enter_async_context(connect())
        stream = await stack.enter_async_context(transport.stream(["sh", "-c", f"cat; : {OURS}"]))
        await stream.write(b"x")
        assert await anext(aiter(stream)) == b"x"
        fleet.cut(HOST)
        async with asyncio.timeout(20):
            await stack.aclose()


@pytest.mark.parametrize("user", ["root", "ops"])
async def test_nothing_is_left_on_the_host(fleet: TestFleet, connect: Connect, user: str) -> None:
    async with connect(user=user) as transport:
        async with transport.stream(["sh", "-c", f"echo begun; exec sleep 600 # {OURS}"]) as stream:
            await anext(aiter(stream))
        running = asyncio.create_task(transport.run(["sh", "-c", f"trap '' TERM; sleep 600; : {OURS}"]))
        await until(lambda: processes(fleet))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    await until(lambda: not processes(fleet))


async def test_one_session_is_enough_for_commands(
    fleet: TestFleet, sshd: Callable[[str], None], connect: Connect
) -> None:
    sshd("MaxSessions 1\n")
    async with connect() as transport, transport.stream(["sh", "-c", f"echo begun; exec cat # {OURS}"]) as stream:
        chunks = aiter(stream)
        await anext(chunks)
        commands = asyncio.gather(*(transport.run(["echo", str(number)]) for number in range(6)))
        with pytest.raises(SourceUnavailable, match="MaxSessions"):
            await anext(chunks)
        assert [done.stdout for done in await commands] == [b"%d\n" % number for number in range(6)]
        async with transport.local_socket(BUS):
            pass
        with pytest.raises(SourceUnavailable, match="sshd allows 1 at once"):
            async with transport.stream(["cat", OURS]):
                pass


async def test_no_session_at_all_is_told(sshd: Callable[[str], None], connect: Connect) -> None:
    sshd("MaxSessions 0\n")
    async with connect() as transport:
        with pytest.raises(SourceUnavailable, match="sshd allows none"):
            await transport.run(["true"])


@fault("A21", how="forwarding is forbidden", result="told with the option")
async def test_forbidden_forwardings_are_told(sshd: Callable[[str], None], connect: Connect) -> None:
    sshd("AllowStreamLocalForwarding no\nAllowTcpForwarding no\n")
    async with connect() as transport:
        with pytest.raises(SourceUnavailable, match="AllowStreamLocalForwarding"):
            async with transport.local_socket(BUS):
                pass
        with pytest.raises(SourceUnavailable, match="AllowTcpForwarding"):
            await transport.open_tcp("127.0.0.1", 22)
        assert (await transport.run(["echo", "still"])).stdout == b"still\n"


async def test_a_socket_that_is_not_there_is_told(transport: Transport) -> None:
    with pytest.raises(SourceUnavailable, match="/run/no-such-socket: there is no such socket"):
        async with transport.local_socket("/run/no-such-socket"):
            pass


async def test_the_bus_answers_through_the_forwarded_socket(transport: Transport) -> None:
    async with transport.local_socket(BUS) as here:
        reader, writer = await asyncio.open_unix_connection(here)
        writer.write(b"\0AUTH EXTERNAL\r\n")
        assert await reader.readline() == b"DATA\r\n"
        writer.close()
        await writer.wait_closed()


@fault("A21", how="a forced command", result="told")
async def test_a_forced_command_is_told(sshd: Callable[[str], None], connect: Connect) -> None:
    sshd("ForceCommand internal-sftp\n")
    async with connect() as transport:
        with pytest.raises(SourceUnavailable, match="login shell: runs no commands"):
            await transport.run(["true"])


@fault("A14", how="MaxStartups of one, many logins", result="all are let in")
async def test_sshd_that_bears_one_login_at_a_time_lets_all_in(sshd: Callable[[str], None], connect: Connect) -> None:
    sshd("MaxStartups 2:50:4\n")
    async with AsyncExitStack() as stack:
        links = await asyncio.gather(
            *(stack.enter_async_context(connect(name=f"name-{number}")) for number in range(16))
        )
        assert len({link.host for link in links}) == 16


@fault("A22", how="start files that print", result="their words are no output")
async def test_a_shell_that_talks_is_not_listened_to(fleet: TestFleet, connect: Connect) -> None:
    old = fleet.read_file(HOST, "/root/.bashrc").decode()
    fleet.write_file(HOST, "/root/.bashrc", "echo hello; echo bye >&2; set -x\n" + old)
    async with connect() as transport:
        done = await transport.run(["sh", "-c", "echo out; echo err >&2"])
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
        await transport.put(b"text\n", PurePosixPath("/root", OURS), mode=0o600)
        assert fleet.read_file(HOST, f"/root/{OURS}") == b"text\n"
        fleet.check(HOST, "rm", f"/root/{OURS}")


async def test_where_the_disk_is_full_the_old_file_stays_and_no_part_is_left(
    fleet: TestFleet, transport: Transport
) -> None:
    folder = PurePosixPath("/run", OURS)
    fleet.check(HOST, "mkdir", "-p", str(folder))
    fleet.check(HOST, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder))
    try:
        await transport.put(b"old\n", folder / "x.service", mode=0o640)
        with pytest.raises(CommandFailed, match="No space left on device"):
            await transport.put(bytes(200_000), folder / "x.service", mode=0o640)
        assert fleet.check(HOST, "ls", "-A", str(folder)) == b"x.service\n"
        assert fleet.check(HOST, "stat", "-c", "%a", str(folder / "x.service")) == b"640\n"
        assert fleet.read_file(HOST, str(folder / "x.service")) == b"old\n"
    finally:
        fleet.check(HOST, "umount", str(folder))
        fleet.check(HOST, "rmdir", str(folder))


@pytest.mark.parametrize("settings", ["", "RekeyLimit 1M\n"], ids=["once", "new keys every megabyte"])
@fault("A20", how="new keys every megabyte of a flood", result="everything arrives")
async def test_a_large_file_and_a_flood_arrive_whole(
    fleet: TestFleet, sshd: Callable[[str], None], connect: Connect, settings: str
) -> None:
    sshd(settings)
    data = bytes(range(256)) * 40_000
    path = PurePosixPath("/root", OURS)
    async with connect() as transport:
        await transport.put(data, path, mode=0o600)
        assert fleet.read_file(HOST, str(path)) == data
        async with transport.stream(["cat", str(path)]) as stream:
            assert b"".join([chunk async for chunk in stream]) == data
    fleet.check(HOST, "rm", str(path))


async def test_a_wrong_key_knocks_once(fleet: TestFleet, connect: Connect, tmp_path: Path) -> None:
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(tmp_path / "key")
    before = refusals(fleet)
    with pytest.raises(AuthDenied, match="refuses the login of root: offered 1 of your keys"):
        async with connect(identity_file=tmp_path / "key"):
            pass
    await until(lambda: refusals(fleet) == before + 1)


def refusals(fleet: TestFleet) -> int:
    """Connections that ended before a login, as sshd counts them."""
    words = fleet.check(HOST, "journalctl", "-q", "-o", "cat", "-u", "ssh", "-n", "400").decode()
    return words.count("by authenticating user root")


async def test_a_changed_host_key_is_refused(fleet: TestFleet, connect: Connect, tmp_path: Path) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (tmp_path / "known_hosts").write_text(f"{fleet.hosts[HOST].address} {other}")
    with pytest.raises(HostKeyRejected, match="CHANGED") as refused:
        async with connect(known_hosts=tmp_path / "known_hosts"):
            pass
    assert refused.value.kind == "changed"
    assert len(refused.value.fingerprints) == 2


async def test_hosts_behind_a_jump_host_share_its_connection(
    fleet: TestFleet, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ".ssh"
    home.mkdir(mode=0o700)
    home.joinpath("config").write_text(
        f"Host name-*\n  ProxyJump root@bastion\nHost bastion\n  HostName {fleet.hosts['gpu-a'].address}\n"
        f"  IdentityFile {fleet.identity_file}\n  UserKnownHostsFile {fleet.known_hosts}\n"
        f"Host *\n  HostName {fleet.hosts[HOST].address}\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    async with AsyncExitStack() as stack:
        links = await asyncio.gather(
            *(stack.enter_async_context(connect(name=f"name-{number}", address=None)) for number in range(12))
        )
        names = {(await link.run(["hostname"])).stdout for link in links}
        jump = fleet.check("gpu-a", "ss", "-Htn", "state", "established", "sport", "=", ":22").decode()
        assert names == {HOST.encode() + b"\n"}
        assert jump.count(f"{fleet.console_address}:") == 1
