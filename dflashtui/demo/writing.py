"""The words of the engines, filled in: start-up scripts and lines in service. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.demo import scripts
from dflashtui.demo.crashes import missing_module, no_gpu, out_of_memory
from dflashtui.demo.noise import between, moving, noise
from dflashtui.demo.plan import Behaviour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.demo.plan import ServicePlan

HOSTILE = "[/x] [@click=app.quit]no[/] \x1b]0;owned\x07 \x1b[2J \x1b[31mred \x9b1m 日本語 \u202eabc \x00 \ud800"
"""Markup, control and escape sequences, wide and turned text: none of it may have an effect."""
Script = list[tuple[float, str]]
"""Share of the time from the start to ready (or to the end), and a line."""

PHASES = {
    "sglang": (
        (0.10, "importing"),
        (0.16, "setting up torch distributed"),
        (0.46, "target weights {percent} %"),
        (0.52, "KV cache"),
        (0.72, "capturing CUDA graphs {percent} %"),
        (0.84, "draft weights {percent} %"),
        (0.94, "capturing draft CUDA graphs"),
        (1.00, "warm-up request"),
    ),
    "vllm": (
        (0.12, "importing"),
        (0.50, "weights {percent} %"),
        (0.70, "torch.compile"),
        (0.92, "capturing CUDA graphs {percent} %"),
        (1.00, "warm-up"),
    ),
}
PLAIN_PHASES = ((0.2, "importing"), (1.0, "weights {percent} %"))
ENGINES_WITH_SCRIPT = frozenset(PHASES)
FITS_UNTIL = 0.5
"""A service that runs out of memory writes its script so far, and takes its whole life for it."""
CACHE_TOKENS = 241_807
BLOCK_TOKENS = 16
PREFILL_CHANCE, WARNING_CHANCE = 0.4, 0.004
VLLM_PERIOD_SECONDS, HEALTH_PERIOD_SECONDS, HOSTILE_PERIOD_SECONDS = 10, 5, 3


def phase(engine: str, share: float) -> str:
    """What a service does when `share` of its loading time has passed."""
    began = 0.0
    for ends, words in PHASES.get(engine, PLAIN_PHASES):
        if share < ends:
            return words.format(percent=int(100 * (share - began) / (ends - began)))
        began = ends
    return "ready"


def script(plan: ServicePlan, behaviour: Behaviour, pid: int, started: float, span: float) -> Script:
    """All lines of a start, in order; `span`: seconds until it is ready or ends."""
    match behaviour:
        case Behaviour.LOOPS:
            return [(0.12, "INFO: loading configuration"), *((0.98, text) for text in missing_module(plan))]
        case Behaviour.LOST_ITS_GPU:
            return [(0.98, text) for text in no_gpu()]
        case Behaviour.RUNS_OUT_OF_MEMORY:
            begun = _script(plan, pid, started, span, FITS_UNTIL)
            return [*begun, *((0.99, text) for text in out_of_memory(plan))]
        case _:
            return _script(plan, pid, started, span, 1.0)


def _script(plan: ServicePlan, pid: int, started: float, span: float, until: float) -> Script:
    """The script up to one share of it, stretched over the span."""
    name = plan.engine if plan.engine in ENGINES_WITH_SCRIPT else "openai"
    values = {"model": plan.model, "port": plan.port, "tp": len(plan.gpus), "pid": pid, "core_pid": pid + 41}
    shares = ((float(key) / until, line) for key, line in scripts.table(name) if float(key) <= until)
    return [
        (
            share,
            _bar(line) if line.startswith("%bar") else line.format(t=_stamp(plan, started + share * span), **values),
        )
        for share, line in shares
    ]


def _stamp(plan: ServicePlan, at: float) -> str:
    form = "%m-%d %H:%M:%S" if plan.engine == "vllm" else "%Y-%m-%d %H:%M:%S"
    return datetime.fromtimestamp(at, UTC).strftime(form)


def _bar(line: str) -> str:
    """A progress bar as journald keeps it: one record with carriage returns."""
    _, steps, title = line.split(" ", 2)
    return "\r".join(f"{title}: {_state(done, int(steps))}" for done in range(int(steps) + 1))


def _state(done: int, total: int) -> str:
    bar = "█" * (done * 10 // total)
    return f"{100 * done // total:3d}%|{bar:10}| {done}/{total} [00:{done:02d}<00:{total - done:02d}]"


def load(plan: ServicePlan, now: float) -> float:
    """0 to 1: how busy a ready service is; moves over minutes, with idle times."""
    return max(0.0, min(1.0, 1.5 * moving(now, 47, plan.host, plan.unit, "load") - 0.25))


def steady(plan: ServicePlan, pid: int, second: int) -> Iterator[str]:
    """The lines that a ready service writes in one second."""
    key = (plan.host, plan.unit, second)
    busy = load(plan, second)
    if busy and plan.engine == "sglang" and noise(*key) < 0.2 + 0.5 * busy:
        yield from _sglang_batches(plan, key, busy)
    if busy and plan.engine == "vllm" and second % VLLM_PERIOD_SECONDS == 0:
        yield _vllm_batch(plan, key, busy, pid)
    if second % HEALTH_PERIOD_SECONDS == 0:
        yield f'INFO:     127.0.0.1:{40000 + pid % 9999} - "GET /health HTTP/1.1" 200 OK'
    if noise(*key, "request") < busy:
        client = f"10.1.2.{int(between(2, 9, *key, 'client'))}:{int(between(32768, 60999, *key, 'port'))}"
        yield f'INFO:     {client} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    if noise(*key, "warning") < WARNING_CHANCE:
        yield f"[{_stamp(plan, second)}] WARNING: the tokenizer has no chat template for role 'developer'"
    if plan.is_hostile and second % HOSTILE_PERIOD_SECONDS == 0:
        yield HOSTILE


def _sglang_batches(plan: ServicePlan, key: tuple[str, str, int], busy: float) -> Iterator[str]:
    running = 1 + int(busy * 24)
    tokens = int(running * between(900, 4200, *key, "tokens"))
    new = int(between(40, 8192, *key, "new"))
    accepted = between(3.4, 6.1, *key, "accept")
    values = {
        "t": _stamp(plan, key[2]),
        "running": running,
        "queued": max(0, running - 20),
        "tokens": tokens,
        "usage": tokens / CACHE_TOKENS,
        "new": new,
        "cached": new // 3,
        "accepted": accepted,
        "rate": accepted / BLOCK_TOKENS,
        "speed": running * between(95, 180, *key, "speed"),
    }
    if noise(*key, "prefill") < PREFILL_CHANCE:
        yield scripts.lines("steady")["prefill"].format(**values)
    yield scripts.lines("steady")["decode"].format(**values)


def _vllm_batch(plan: ServicePlan, key: tuple[str, str, int], busy: float, pid: int) -> str:
    running = 1 + int(busy * 30)
    return scripts.lines("steady")["vllm"].format(
        t=_stamp(plan, key[2]),
        pid=pid,
        running=running,
        usage=busy * 61,
        prompt=between(200, 2600, *key),
        speed=running * between(38, 61, *key, "speed"),
        hit=between(30, 60, *key, "hit"),
    )
