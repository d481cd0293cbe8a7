"""Services: how soon "ready" is seen, and what the load generator adds to the times that it measures."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.engines.openai import Prompt
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.unit import Readiness
from dflashtui.ops.bench_load import Level, Plan
from dflashtui.ops.bench_stats import percentile
from dflashtui.ops.endpoint import Endpoint
from dflashtui.source.asking import fetch
from dflashtui.source.exchange import dial_directly
from tests.fleet import standin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from benchmarks.setting import Setting
    from dflashtui.model.bench import LevelRun
    from dflashtui.source.exchange import Dial

UNIT, PORT, LOCAL_PORT = "standin.service", 30020, 30921
TIMES = "kind=vllm prefill_seconds=0.2 verify_seconds=0.03 tokens=120 accept=4 log_steps=0"
STREAMS, REQUESTS = 64, 192
READY_MS, TTFT_MS, LOST_PERCENT, APART_PERCENT = 300, 2, 1, 3
READY_LINE = "Application startup complete."


def measure(setting: Setting) -> tuple[Row, ...]:
    host = next(iter(setting.fleet.hosts))
    defined = standin.install(setting.fleet, host, "standin", PORT, f"{TIMES} phase_seconds=0.05")
    found = inventory.real(setting.fleet, setting.folder / "serving", (UNIT,))
    with found.hosts_toml.open("a") as file:
        file.write(defined)
    try:
        ready, through = asyncio.run(_on_host(setting, found, host))
    finally:
        standin.remove(setting.fleet, host, "standin")
    with _local():
        direct, apart = asyncio.run(_direct(setting))
    how = f"the bench's median minus the server's own, {STREAMS} streams"
    return (
        Row("ready line → ready in the snapshot", "ms", ready, "from journald's time of the engine's line", READY_MS),
        Row("generator adds to TTFT", "ms", Figure("", direct.ttft_ms), how, TTFT_MS),
        Row("  … through SSH", "ms", Figure("", through.ttft_ms), how, TTFT_MS),
        Row("generator takes of the speed", "%", Figure("", direct.lost_percent), "time of all requests", LOST_PERCENT),
        Row("  … through SSH", "%", Figure("", through.lost_percent), "time of all requests", LOST_PERCENT),
        Row(
            "apart from another client's TPOT",
            "%",
            Figure("", apart),
            "httpx, by the definitions of the engines' own tools, 8 streams",
            APART_PERCENT,
        ),
    )


@dataclass
class Overhead:
    """Of each turn."""

    ttft_ms: tuple[float, ...] = ()
    lost_percent: tuple[float, ...] = ()

    async def add(self, dial: Dial, base: str) -> None:
        before = await _truth(dial, base)
        run = await _level(dial, base, STREAMS, REQUESTS)
        after = await _truth(dial, base)
        skipped = len(before["ttft_seconds"]) + 2 * STREAMS  # what was there, and the warm-up
        ttft, latency = after["ttft_seconds"][skipped:], after["latency_seconds"][skipped:]
        measured = statistics.median(one.ttft_ms or 0.0 for one in run.requests)
        self.ttft_ms += (measured - 1000 * statistics.median(ttft),)
        took = sum(one.latency_ms or 0.0 for one in run.requests)
        self.lost_percent += (100 * (1 - 1000 * sum(latency) / took),)


async def _level(dial: Dial, base: str, streams: int, requests: int) -> LevelRun:
    service = Endpoint(host="", unit=UNIT, engine="vllm", base=base, dial=dial)
    plan = Plan(levels=(streams,), turns=1, max_tokens=96, requests=requests)
    return await Level(service, "stand-in", True, streams, 0, plan, lambda _done, _count: None).run()  # noqa: FBT003


async def _truth(dial: Dial, base: str) -> dict[str, list[float]]:
    told: dict[str, list[float]] = json.loads((await fetch(dial, f"{base}/truth")).body)
    return told


async def _on_host(setting: Setting, found: inventory.Inventory, host: str) -> tuple[Figure, Overhead]:
    delays, overhead = [], Overhead()
    async with _connected(found, host) as fleet:
        for turn in range(setting.runs(5)):
            say(f"serving: a start, {turn + 1}")
            delays.append(await _start_to_ready(setting, fleet, host))
        for turn in range(setting.runs(3)):
            say(f"serving: {STREAMS} streams through SSH, {turn + 1}")
            setting.wait_for_quiet()
            await overhead.add(lambda address, port: fleet.open_tcp(host, address, port), f"http://127.0.0.1:{PORT}")
    return Figure("", tuple(delays)), overhead


@asynccontextmanager
async def _connected(found: inventory.Inventory, host: str) -> AsyncIterator[RealFleet]:
    config = load(found.hosts_toml)
    only = config.model_copy(update={"hosts": tuple(one for one in config.hosts if one.name == host)})
    async with RealFleet(only, opener()) as fleet, fleet.follow(host, UNIT, lines=0) as batches:
        await anext(batches)  # the journal is followed and units are known: as in a console that is open
        async with fleet.subscribe() as changes:
            async for change in changes:
                if change.snapshot.units is not None:
                    break
        yield fleet


async def _start_to_ready(setting: Setting, fleet: RealFleet, host: str) -> float:
    """Milliseconds; hosts and this machine have one clock."""
    await fleet.perform(UnitAction(verb=Verb.STOP, host=host, unit=UNIT))
    await fleet.perform(UnitAction(verb=Verb.START, host=host, unit=UNIT))
    seen = await _ready_at(fleet, host)
    lines = [one for one in setting.fleet.journal(host, UNIT, "-n", "40") if READY_LINE in str(one.get("MESSAGE"))]
    return 1000 * (seen - int(lines[-1]["__REALTIME_TIMESTAMP"]) / 1e6)


async def _ready_at(fleet: RealFleet, host: str) -> float:
    async with fleet.subscribe() as changes:
        async for change in changes:
            unit = change.snapshot.unit(UNIT)
            if change.host == host and unit and unit.readiness is Readiness.READY:
                return time.time()
    raise RuntimeError("the fleet goes on")


class _local:  # noqa: N801 - used as a word
    """A stand-in in a process of its own on this machine."""

    def __enter__(self) -> None:
        words = (*TIMES.split(), f"port={LOCAL_PORT}")
        self._running = subprocess.Popen((sys.executable, "-m", "tests.engine", *words), stderr=subprocess.DEVNULL)

    def __exit__(self, *_: object) -> None:
        self._running.terminate()
        self._running.wait()


async def _direct(setting: Setting) -> tuple[Overhead, tuple[float, ...]]:
    base, overhead, apart = f"http://127.0.0.1:{LOCAL_PORT}", Overhead(), []
    while not (await fetch(dial_directly, f"{base}/health")).is_ok:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.1)
    for turn in range(setting.runs(3)):
        say(f"serving: {STREAMS} streams, {turn + 1}")
        setting.wait_for_quiet()
        await overhead.add(dial_directly, base)
        run = await _level(dial_directly, base, 8, 64)
        ours = percentile([one.tpot_ms for one in run.requests if one.tpot_ms], 0.5) or 0.0
        theirs = percentile(await _other_client(base), 0.5) or 0.0
        apart.append(100 * abs(ours / theirs - 1))
    return overhead, tuple(apart)


async def _other_client(base: str) -> list[float]:
    """Milliseconds per token after the first, of 64 requests by 8 at a time."""
    async with httpx.AsyncClient() as client:
        numbers = iter(range(64))
        groups = await asyncio.gather(*(_asks(client, base, numbers) for _ in range(8)))
    return [value for group in groups for value in group]


async def _asks(client: httpx.AsyncClient, base: str, numbers: Iterator[int]) -> list[float]:
    found = []
    for number in numbers:
        prompt = Prompt(f"question {number}", model="stand-in", max_tokens=96)
        times, tokens = [], 0
        async with client.stream("POST", base + prompt.path, content=prompt.body()) as answer:
            async for line in answer.aiter_lines():
                event = json.loads(line[6:]) if line.startswith("data: {") else {}
                if any(choice["delta"].get("content") for choice in event.get("choices", ())):
                    times.append(time.perf_counter())
                tokens = (event.get("usage") or {}).get("completion_tokens", tokens)
        found.append(1000 * (times[-1] - times[0]) / (tokens - 1))
    return found
