"""Running programs and waiting for conditions."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

POLL_SECONDS = 0.02


class FleetUnavailableError(Exception):
    """The fleet cannot be built here; the message is one line and says why."""


class HarnessError(Exception):
    """Something that should work here failed; the message has the command and what it printed."""


def run(
    *argv: str | Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> bytes:
    """The standard output of a command; HarnessError with its last words when it fails.

    With `log` both outputs go to that file instead, appended.
    """
    if log is not None:
        return _run_logged(argv, environment, log)
    done = subprocess.run(argv, input=stdin, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise HarnessError(_failure(argv, done.returncode, done.stdout + done.stderr))
    return done.stdout


def _run_logged(argv: Sequence[str | Path], environment: Mapping[str, str] | None, log: Path) -> bytes:
    with log.open("ab") as file:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment, check=False)
    if done.returncode:
        raise HarnessError(_failure(argv, done.returncode, log.read_bytes()))
    return b""


def _failure(argv: Sequence[str | Path], status: int, output: bytes) -> str:
    tail = output.decode(errors="replace").strip().splitlines()[-5:]
    return f"{' '.join(map(str, argv))}: exit {status}: {' | '.join(tail)}"


def wait_until(condition: Callable[[], bool], what: str, *, seconds: float) -> None:
    """Return as soon as the condition holds; HarnessError naming `what` when it does not within the time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise HarnessError(f"not within {seconds:g} s: {what}")
        time.sleep(POLL_SECONDS)
