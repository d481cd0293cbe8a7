"""Services that end as engines do: `dying.py WAY`. Settings: STEP_SECONDS (a phase), WAIT_SECONDS (before the end)."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.1"))
WAIT_SECONDS = float(os.environ.get("WAIT_SECONDS", "2"))
HERE = Path(__file__).parent
LOADING = (
    "server_args=ServerArgs(model_path='/dev/shm/Qwen3.6-27B', tp_size=1)",
    "Load weight begin. avail mem=139.10 GB",
    "Load weight end. elapsed=12.3 s, type=Qwen3_5ForCausalLM, avail mem=86.20 GB, mem usage=52.90 GB.",
    "Capture cuda graph begin. This can take up to several minutes. avail mem=35.90 GB",
    "Capture cuda graph end. Time elapsed: 8.9 s. mem usage=1.20 GB. avail mem=34.70 GB.",
    "max_total_num_tokens=402144, chunked_prefill_size=8192, context_len=32768, available_gpu_mem=34.70 GB",
)


def say(text: str) -> None:
    sys.stderr.write(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}\n")
    sys.stderr.flush()


def load() -> None:
    for phase in LOADING:
        say(phase)
        time.sleep(STEP_SECONDS)


def init_memory_pool(token_count: int) -> None:
    raise RuntimeError(f"Not enough memory. Please try to increase --mem-fraction-static. ({token_count} tokens)")


def scheduler() -> None:
    """The child: it prints why it fails, and is left behind."""
    try:
        init_memory_pool(402144)
    except RuntimeError:
        say(f"Scheduler hit an exception: {traceback.format_exc()}")


def child() -> None:
    """SGLang: a child fails, and its parent kills itself seconds later."""
    load()
    pid = os.fork()
    if not pid:
        scheduler()
        os._exit(1)
    os.waitpid(pid, 0)
    time.sleep(WAIT_SECONDS)
    say("Received sigquit from a child process. It usually means the child failed.")
    os.kill(os.getpid(), signal.SIGKILL)


def exit0() -> None:
    """vLLM: its engine dies, and the server ends with status 0."""
    say("EngineCore encountered a fatal error.")
    try:
        init_memory_pool(148304)
    except RuntimeError:
        say(traceback.format_exc())
    say("AsyncLLM output_handler failed.")
    say("Shutting down")


def recovers() -> None:
    """A traceback after which the service goes on."""
    try:
        init_memory_pool(1)
    except RuntimeError:
        say(f"retrying without the cache: {traceback.format_exc()}")
    os.execv(sys.executable, (sys.executable, "-u", str(HERE / "engine.py")))  # noqa: S606


def cuda() -> None:
    """What a real H200 made a process write."""
    sys.stderr.write((HERE / "h200-illegal-access.txt").read_text())
    raise SystemExit(1)


def late() -> None:
    """The grammar backend is imported last, and is older than the engine expects."""
    load()
    sys.path.insert(0, str(HERE / "late"))
    import_module("sglang_late.xgrammar_backend")


def never() -> None:
    """Active, and never ready: it hangs in a phase that no watchdog covers."""
    say(LOADING[0])
    say(LOADING[1])
    signal.pause()


if __name__ == "__main__":
    {"child": child, "exit0": exit0, "recovers": recovers, "cuda": cuda, "late": late, "never": never}[sys.argv[1]]()
