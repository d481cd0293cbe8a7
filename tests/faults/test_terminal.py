"""A console that is suspended, pasted into, on a rare terminal or on none; output that nobody takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.marks import fault
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = Path(__file__).parents[1] / "data" / "crashlogs"
STOPPED = "T"


@contextmanager
def demo(state: Path, **variables: str) -> Iterator[PtyScreen]:
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(state), **variables}
    argv = (sys.executable, "-m", "dflashtui", "--demo")
    with PtyScreen(argv, columns=100, rows=30, environment=environment) as screen:
        screen.sees("ct129", "live")
        yield screen


def state_of(screen: PtyScreen) -> str:
    """One letter, by proc(5)."""
    return Path(f"/proc/{screen.child.pid}/stat").read_text().rpartition(")")[2].split()[0]


@fault(
    "H6",
    how="SIGSTOP and SIGTSTP, then SIGCONT",
    result="it goes on, draws the keys of meanwhile, leaves the terminal as it was",
)
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGTSTP])
def test_a_suspended_console_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    with demo(tmp_path) as screen:
        screen.child.send_signal(number)
        while state_of(screen) != STOPPED:
            screen.read(0.02)
        screen.press("?")
        screen.child.send_signal(signal.SIGCONT)
        screen.sees("keys that work now")
        screen.press("escape")
        screen.wait(lambda text: "live" in text and "keys that work now" not in text)
        screen.press("q")
        assert screen.wait_for_end() == 0
        assert screen.has_echo


@fault("H7", how="a paste of 1 MB", result="nothing is sent, keys work at once after it")
def test_a_paste_of_a_megabyte_is_no_command(tmp_path: Path) -> None:
    with demo(tmp_path) as screen:
        screen.press("3")
        screen.sees("services")
        paste = "\x1b[200~" + "Ry\r" * 350_000 + "\x1b[201~"
        for start in range(0, len(paste), 4096):
            screen.press(paste[start : start + 4096])
            screen.read(0)
        screen.press("1")
        screen.wait(lambda text: "ct129" in text and "live" in text)
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert not list(tmp_path.rglob("audit.jsonl"))


@fault("H3", how="TERM=dumb, latin-1, no colours", result="readable; nothing fails")
def test_a_rare_terminal(tmp_path: Path) -> None:
    with demo(tmp_path, TERM="dumb", LC_ALL="en_US.ISO-8859-1", NO_COLOR="1") as screen:
        screen.press("q")
        assert screen.wait_for_end() == 0
        assert b"Traceback" not in screen.raw


def dflashtui(*arguments: str, state: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    argv = (sys.executable, "-m", "dflashtui", *arguments)
    return subprocess.run(argv, check=False, timeout=20, env=environment, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]  # the options are those of run


@fault("H4", how="output to a full disk", result="said in one line, no traceback")
def test_output_to_a_full_disk_is_an_error(tmp_path: Path) -> None:
    log = next(LOG.glob("*.log"))
    with Path("/dev/full").open("wb") as full:
        done = dflashtui("diagnose", str(log), state=tmp_path, stdout=full)
    assert done.returncode not in {0, 1}
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


@fault("H4", how="the console without a terminal, its input closed", result="refused at once, in one line")
def test_the_console_without_a_terminal(tmp_path: Path) -> None:
    began = time.monotonic()
    done = dflashtui("--demo", state=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert time.monotonic() - began < 20
    assert done.returncode == 64
    assert b"Traceback" not in done.stderr
    assert b"terminal" in done.stderr
    assert done.stdout == b""


@fault("H4", how="| head", result="a quiet end")
def test_a_reader_that_leaves_ends_quietly(tmp_path: Path) -> None:
    log = next(LOG.glob("*.log"))
    command = '"$0" -m dflashtui diagnose --json "$1" | head -c 1'
    argv = ("bash", "-o", "pipefail", "-c", command, sys.executable, str(log))
    done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == (b"{", b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small file system")
@fault("G7", how="no space in the state folder", result="works without it")
def test_a_state_folder_without_space(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "none", str(state)), check=True)
    try:
        with demo(state) as screen:
            screen.press("q")
            assert screen.wait_for_end() == 0
            assert b"Traceback" not in screen.raw
    finally:
        subprocess.run(("umount", str(state)), check=True)
