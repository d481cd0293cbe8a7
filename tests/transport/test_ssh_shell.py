"""Any login shell, talking or dumb: argv arrives byte for byte, and only our command's output counts."""

import asyncio
import os
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.errors import CommandTimeout, SourceUnavailable
from dflashtui.transport import ssh_session
from dflashtui.transport.ssh_command import StartMark
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer

from .conftest import Connect

PRINT_ARGUMENTS = (
    sys.executable,
    "-c",
    r"import os, sys; sys.stdout.buffer.write(b''.join(os.fsencode(word) + b'\0' for word in sys.argv[1:]))",
)
PRINT_PLAINLY = (sys.executable, "-c", "import os, sys; [os.write(1, os.fsencode(w) + bytes(1)) for w in sys.argv[1:]]")
AWKWARD = (
    *("", "a'b", "''", "\\", "\\\\'", "back\\slash", "bang!", "!!", "!$", "^a^b", "new\nline", "\n", "\r", "tab\there"),
    *("$HOME `id` $(id) ${x}", "*", "?", "[a]", "{a,b}", "~", "~root", "%h %b \\0101 %%", "#x", "a;b|c&d<e>f", '"q"'),
    *("é€😀", "\x01\x1b[0m\x7f", "\udcff", "-n", "--", "=", "x=y", "(a)"),
)
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "tcsh", "csh", "busybox")


def said_by(shell: str, arguments: tuple[str, ...], program: tuple[str, ...] = PRINT_ARGUMENTS) -> list[bytes]:
    """What the host's process gets, through a login shell."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    mark = StartMark()
    login = [found, "sh", "-c"] if shell == "busybox" else [found, "-c"]
    done = subprocess.run([*login, mark.command([*program, *arguments])], capture_output=True, check=True, timeout=30)
    return mark.on_stdout()(done.stdout).split(b"\0")[:-1]


@pytest.mark.parametrize("shell", SHELLS)
def test_plain_arguments_survive_every_login_shell(shell: str) -> None:
    plain = (
        "",
        " ",
        "a b",
        "$HOME `id` $(id) ${x}",
        *"*?~#%^;&|<>(){}[]=-",
        "~root",
        "{a,b}",
        "[a]",
        '"q"',
        "-n",
        "%b",
    )
    assert said_by(shell, plain, PRINT_PLAINLY) == [os.fsencode(argument) for argument in plain]


@pytest.mark.parametrize("shell", SHELLS)
@fault("I1", how="quotes, line ends, options as arguments", result="they arrive as they were")
def test_awkward_arguments_survive_every_login_shell(shell: str) -> None:
    assert said_by(shell, AWKWARD) == [os.fsencode(argument) for argument in AWKWARD]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), max_size=5))
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_any_arguments_survive(shell: str, arguments: list[str]) -> None:
    assert said_by(shell, tuple(arguments)) == [os.fsencode(argument) for argument in arguments]


def test_ordinary_commands_stay_readable() -> None:
    """They are seen in the host's logs and process list."""
    line = StartMark().command(["systemctl", "show", "--property=Id,ActiveState", "--", "a@1.service"])
    assert line.endswith(" 'systemctl' 'show' '--property=Id,ActiveState' '--' 'a@1.service'")
    assert set(line) <= set(string.printable) - set("\n\r")


def test_a_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        StartMark().command(["echo", "a\0b"])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_mark_is_found_however_the_output_is_cut(size: int) -> None:
    mark = StartMark()
    said = b"hello\ndflash:\xff\n" + b"dflash:0123:\n" + mark_line(mark) + b"ours\ndflash:more\n"
    after = mark.on_stdout()
    assert b"".join(after(said[at : at + size]) for at in range(0, len(said), size)) == b"ours\ndflash:more\n"
    assert after.value == b"4711"
    assert after.noise.startswith(b"hello\n")


def mark_line(mark: StartMark) -> bytes:
    done = subprocess.run(["/bin/sh", "-c", mark.command(["true"])], capture_output=True, check=True)
    return done.stdout.rpartition(b":")[0] + b":4711\n"


def test_noise_without_end_is_not_kept() -> None:
    after = StartMark().on_stdout()
    for _ in range(1000):
        assert after(b"x" * 10_000) == b""
    assert len(after.noise) <= 4096


async def test_what_start_files_say_is_not_our_output(server: LoopbackServer, connect: Connect) -> None:
    server.prelude = "echo hello; echo bye >&2; set -x; "
    async with connect(server) as transport:
        done = await transport.run(["sh", "-c", "cat; echo err >&2; exit 4"], stdin=b"ours\n")
        assert (done.stdout, done.stderr, done.exit_status) == (b"ours\n", b"err\n", 4)
        async with transport.stream(["cat"]) as stream:
            await stream.write(b"word")
            assert await anext(aiter(stream)) == b"word"


@fault("I6", how="variables of the console", result="none reaches the host")
async def test_commands_run_in_the_c_locale_without_our_environment(
    server: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.prelude = "export LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8; unset SSH_AUTH_SOCK; "
    async with connect(server) as transport:
        environment = (await transport.run(["env"])).stdout.decode().splitlines()
    assert "LC_ALL=C" in environment


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        (("/bin/false",), "runs no commands: exit 1, without a word"),
        (("/bin/sh", "-c", "echo This account is not available; exit 1; :"), "says 'This account is not available'"),
        (("/bin/sh", "-c", "printf '\\033[2J'; exit 9; :"), "exit 9"),
    ],
)
@fault("A22", how="/bin/false as login shell", result="told in words")
async def test_a_shell_that_runs_nothing_is_told_in_words(
    server: LoopbackServer, connect: Connect, shell: tuple[str, ...], words: str
) -> None:
    server.shell = shell
    async with connect(server) as transport:
        with pytest.raises(SourceUnavailable) as failure:
            await transport.run(["true"])
        assert words in str(failure.value)
        assert "\x1b" not in str(failure.value)
        with pytest.raises(SourceUnavailable):
            async with transport.stream(["true"]) as stream:
                await asyncio.wait_for(anext(aiter(stream)), 20)


@fault("A12", how="commands that never begin", result="given up after a limit, told in words; others go on")
@fault("B18", how="start files that read from a FIFO", result="told as the login shell's")
async def test_a_shell_that_hangs_is_given_up(
    server: LoopbackServer, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_session, "BEGIN_SECONDS", 0.2)
    os.mkfifo(tmp_path / "bashrc")
    asked = ["cat", "/proc/sys/kernel/random/boot_id"]
    async with connect(server) as transport, transport.stream(["sh", "-c", "echo begun; exec cat"]) as living:
        chunks = aiter(living)
        assert await anext(chunks) == b"begun\n"
        server.prelude = f". {tmp_path}/bashrc; "
        for _ in range(6):
            with pytest.raises(CommandTimeout, match=r"cat has not begun within 0\.2 s: the login shell hangs"):
                await transport.run(asked)
        with pytest.raises(CommandTimeout):
            async with transport.stream(["cat"]) as hanging:
                await anext(aiter(hanging))
        await living.write(b"still here")
        assert await anext(chunks) == b"still here"
