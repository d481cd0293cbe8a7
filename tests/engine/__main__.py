"""`python3 -m tests.engine kind=sglang port=30001 phase_seconds=0.1`: starts as the engine does, then serves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.engine.phases import SGLANG, VLLM
from tests.engine.server import Engine, running
from tests.engine.settings import settings

if TYPE_CHECKING:
    from tests.engine.settings import Settings

CHILD = "import sys; sys.stderr.write('Scheduler hit an exception: Traceback (most recent call last):\\n'); 1 / 0"
SIGQUIT = "Received sigquit from a child process. It usually means the child failed."


async def main() -> None:
    asked = settings(sys.argv[1:])
    asked.api_key = asked.api_key or os.environ.get("VLLM_API_KEY", "")
    engine = Engine(asked)
    bound = _bound(asked) if asked.kind == "vllm" else None
    _start(engine)
    if bound:
        bound.close()
    await _serve(asked)


def _bound(asked: Settings) -> socket.socket:
    """vLLM binds at once and listens late: a busy port fails before anything is loaded."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind((asked.host, asked.port))
    return taken


def _start(engine: Engine) -> None:
    asked = engine.settings
    phases = {"sglang": SGLANG, "vllm": VLLM}.get(asked.kind, ())
    for phase in phases if asked.phase_seconds else ():
        if phase.endswith("\r"):
            sys.stderr.write(phase)
            sys.stderr.flush()
        else:
            engine.say(phase.replace("MODEL", asked.model))
        time.sleep(asked.phase_seconds)
    match asked.crash:
        case "late-import":
            import xgrammar_of_another_version  # type: ignore[import-not-found] # noqa: F401, PLC0415 - as told
        case "child":
            subprocess.run((sys.executable, "-c", CHILD), check=False)
            engine.say(SIGQUIT)
            os.kill(os.getpid(), signal.SIGKILL)


async def _serve(asked: Settings) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with running(asked) as engine:
        engine.is_ready = False
        engine.say(f"INFO:     Started server process [{os.getpid()}]")
        if asked.kind == "vllm":
            engine.is_ready = True
            engine.say("INFO:     Application startup complete.")
        engine.say(f"INFO:     Uvicorn running on http://{asked.host}:{engine.port} (Press CTRL+C to quit)")
        if asked.kind == "sglang":
            await asyncio.sleep(asked.phase_seconds)
            engine.is_ready = True
            engine.say("The server is fired up and ready to roll!")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0 if asked.crash == "exit0" else None):
                await ended.wait()
    if asked.crash == "exit0":
        engine.say("ERROR EngineCore encountered a fatal error.")


if __name__ == "__main__":
    asyncio.run(main())
