"""What every transport promises, on the local machine, on a script, and over real SSH."""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

import pytest

from dflashtui.errors import CommandFailed, SourceUnavailable
from dflashtui.transport.base import Transport, lines
from dflashtui.transport.local import LocalTransport
from tests.faults.marks import fault
from tests.support.fake_transport import FakeProcess, FakeTransport, Program
from tests.support.ssh_server import LoopbackServer
from tests.support.until import ends, until

from .conftest import Connect

BAD_BYTES = b"\xff\xfe\x00\x1b[2J\n"
BOTH_AND_THREE = ("sh", "-c", "echo out; echo err >&2; exit 3")
COUNT_STDIN = ("wc", "-c")
KILLED = ("sh", "-c", "kill -KILL $$")
SAY_BAD_BYTES = ("printf", r"\377\376\000\033[2J\n")
ENDLESS = ("yes",)
LONG_LINE = ("head", "-c", "10485760", "/dev/zero")
ECHO = ("cat",)
SLEEP = ("sh", "-c", "echo $$; exec sleep 600")
STUBBORN = ("sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.1; done")
MANY_ERRORS = ("sh", "-c", "i=0; while [ $i -lt 4000 ]; do echo $i >&2; i=$((i+1)); done; echo done")


async def both_and_three(process: FakeProcess) -> int:
    await process.out(b"out\n")
    process.err(b"err\n")
    return 3


async def count_stdin(process: FakeProcess) -> int:
    await process.out(b"%d\n" % len(await process.read_all()))
    return 0


async def killed(_: FakeProcess) -> str:
    return "KILL"


async def say_bad_bytes(process: FakeProcess) -> int:
    await process.out(BAD_BYTES)
    return 0


async def endless(process: FakeProcess) -> int:
    while True:
        await process.out(b"y\n" * 10_000)


async def long_line(process: FakeProcess) -> int:
    for _ in range(160):
        await process.out(bytes(65536))
    return 0


async def echo(process: FakeProcess) -> int:
    while data := await process.read():
        await process.out(data)
    return 0


async def sleep(process: FakeProcess) -> int:
    await process.out(b"999999999\n")
    await asyncio.sleep(600)
    return 0


async def many_errors(process: FakeProcess) -> int:
    for number in range(4000):
        process.err(b"%d\n" % number)
    await process.out(b"done\n")
    return 0


PROGRAMS: dict[tuple[str, ...], Program] = {
    BOTH_AND_THREE: both_and_three,
    COUNT_STDIN: count_stdin,
    KILLED: killed,
    SAY_BAD_BYTES: say_bad_bytes,
    ENDLESS: endless,
    LONG_LINE: long_line,
    ECHO: echo,
    SLEEP: sleep,
    STUBBORN: sleep,
    MANY_ERRORS: many_errors,
}


@pytest.fixture
def local() -> Transport:
    return LocalTransport("here")


@pytest.fixture
async def fake() -> Transport:
    fake = FakeTransport()
    fake.programs.update(PROGRAMS)
    return fake


@pytest.fixture
async def over_ssh(connect: Connect, server: LoopbackServer) -> AsyncIterator[Transport]:
    async with connect(server) as transport:
        yield transport


@pytest.fixture(params=["local", "fake", "over_ssh"])
def transport(request: pytest.FixtureRequest) -> Transport:
    found: Transport = request.getfixturevalue(request.param)
    return found


async def test_a_command_gives_both_outputs_and_its_status(transport: Transport) -> None:
    done = await transport.run(BOTH_AND_THREE)
    assert (done.stdout, done.stderr, done.exit_status, done.argv) == (b"out\n", b"err\n", 3, BOTH_AND_THREE)


async def test_a_failing_command_raises_only_when_checked(transport: Transport) -> None:
    done = await transport.run(BOTH_AND_THREE)
    with pytest.raises(CommandFailed, match="exit 3: err") as failure:
        done.check()
    assert failure.value.host == transport.host


async def test_a_program_that_is_not_there_has_status_127(transport: Transport) -> None:
    done = await transport.run(["no-such-program"])
    assert done.exit_status == 127
    assert b"not found" in done.stderr or b"No such file" in done.stderr


async def test_a_killed_command_names_its_signal(transport: Transport) -> None:
    done = await transport.run(KILLED)
    assert (done.exit_status, done.exit_signal) == (137, "KILL")


async def test_stdin_arrives_whole(transport: Transport) -> None:
    assert (await transport.run(COUNT_STDIN, stdin=bytes(3_000_000))).stdout.strip() == b"3000000"


async def test_bytes_that_are_no_text_arrive_as_they_are(transport: Transport) -> None:
    assert (await transport.run(SAY_BAD_BYTES)).stdout == BAD_BYTES


async def test_endless_output_is_cut_and_the_command_ended(transport: Transport) -> None:
    done = await transport.run(ENDLESS, output_limit_bytes=1_000_000)
    assert (len(done.stdout), done.truncated, done.exit_signal) == (1_000_000, True, "TERM")
    assert transport.channels == 0


async def test_of_much_stderr_the_end_is_kept(transport: Transport) -> None:
    async with transport.stream(MANY_ERRORS) as stream:
        assert b"".join([chunk async for chunk in stream]) == b"done\n"
        assert stream.stderr.endswith(b"3998\n3999\n")
        assert len(stream.stderr) <= 4096


async def test_a_line_of_ten_megabytes_arrives(transport: Transport) -> None:
    async with transport.stream(LONG_LINE) as stream:
        assert sum([len(chunk) async for chunk in stream]) == 10 * 2**20


async def test_lines_are_cut_where_they_grow_too_long(transport: Transport) -> None:
    async with transport.stream(ECHO) as stream:
        await stream.write(b"a" * 50 + b"\nshort\nunfinished")
        await stream.write_eof()
        assert [line async for line in lines(stream, limit_bytes=20)] == [b"a" * 20, b"short"]


async def test_a_stream_is_a_conversation(transport: Transport) -> None:
    async with transport.stream(ECHO) as stream:
        chunks = aiter(stream)
        for word in (b"first", b"second"):
            await stream.write(word)
            assert await anext(chunks) == word
        assert stream.exit_status is None
        await stream.write_eof()
        assert [chunk async for chunk in chunks] == []
        assert stream.exit_status == 0


async def test_a_slow_reader_stops_the_sender(transport: Transport) -> None:
    async with transport.stream(ENDLESS) as stream:
        chunks = aiter(stream)
        for _ in range(200):
            assert await anext(chunks)
    assert transport.channels == 0


async def test_channels_are_counted_while_they_are_open(transport: Transport) -> None:
    async with transport.stream(SLEEP) as one, transport.stream(SLEEP) as two:
        await anext(aiter(one))
        await anext(aiter(two))
        assert transport.channels == 2
    assert transport.channels == 0


@pytest.mark.parametrize("argv", [SLEEP, STUBBORN], ids=["sleeping", "ignoring SIGTERM"])
async def test_leaving_a_stream_ends_its_command(transport: Transport, argv: tuple[str, ...]) -> None:
    async with transport.stream(argv) as stream:
        process_id = int(await anext(aiter(stream)))
    await ends(process_id)


async def test_cancelling_a_command_ends_it(transport: Transport, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    running = asyncio.create_task(
        transport.run(["sh", "-c", f"echo $$ >{note}.part; mv {note}.part {note}; exec sleep 600"])
    )
    if isinstance(transport, FakeTransport):
        note.write_text("999999999")
    await until(note.exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await ends(int(note.read_text()))
    assert transport.channels == 0


async def test_the_callers_time_limit_is_kept(transport: Transport) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await transport.run(SLEEP)


async def test_a_file_is_put_whole_with_its_mode(transport: Transport, tmp_path: Path) -> None:
    data = bytes(range(256)) * 2000
    path = tmp_path / "units" / "a b'c.service"
    path.parent.mkdir()
    path.write_bytes(b"old")
    await transport.put(data, PurePosixPath(path), mode=0o640)
    if isinstance(transport, FakeTransport):
        assert transport.files == {PurePosixPath(path): (data, 0o640)}
        return
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(data).digest()
    assert path.stat().st_mode & 0o7777 == 0o640
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208 - one of the names is all there is


async def test_where_nothing_can_be_put_the_old_file_stays(transport: Transport, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    if isinstance(transport, FakeTransport):
        transport.full_folders.add(PurePosixPath(folder))
    with pytest.raises(CommandFailed, match=r"No such file or directory|No space left"):
        await transport.put(b"new", PurePosixPath(folder / "x.service"), mode=0o644)


async def test_a_folder_is_not_replaced(transport: Transport, tmp_path: Path) -> None:
    if isinstance(transport, FakeTransport):
        pytest.skip("a script has no folders")
    with pytest.raises(CommandFailed, match=r"(?i)is a directory"):
        await transport.put(b"new", PurePosixPath(tmp_path), mode=0o644)


@fault("I4", how="another user of this machine at the forwarded socket", result="its folder is closed to others")
async def test_a_socket_is_reached_by_a_local_path(transport: Transport, tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    socket = tmp_path / "s"
    async with await asyncio.start_unix_server(answer, socket):
        if isinstance(transport, FakeTransport):
            transport.sockets[str(socket)] = socket
        async with transport.local_socket(str(socket)) as here:
            reader, writer = await asyncio.open_unix_connection(here)
            writer.write(b"hello\n")
            assert await reader.read() == b"HELLO\n"
            writer.close()
            await writer.wait_closed()
            assert here == socket or stat.S_IMODE(here.parent.stat().st_mode) == 0o700
    if here != socket:
        assert not here.parent.exists()


async def test_a_socket_that_is_not_there_is_told_at_once(transport: Transport) -> None:
    with pytest.raises(SourceUnavailable, match="/no/such/socket"):
        async with transport.local_socket("/no/such/socket"):
            pass


async def test_a_port_of_the_host_is_reached(transport: Transport) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        place = listener.sockets[0].getsockname()
        if isinstance(transport, FakeTransport):
            transport.ports[place] = place
        reader, writer = await transport.open_tcp(*place)
        writer.write(b"hello\n")
        await writer.drain()
        assert await reader.read() == b"HELLO\n"
        writer.close()


async def test_a_port_where_nobody_listens_is_refused(transport: Transport) -> None:
    with pytest.raises(ConnectionError):
        await transport.open_tcp("127.0.0.1", 1)


async def test_many_commands_at_once_all_come_back(transport: Transport) -> None:
    done = await asyncio.gather(*(transport.run(BOTH_AND_THREE) for _ in range(30)))
    assert [each.exit_status for each in done] == [3] * 30
