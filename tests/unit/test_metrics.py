"""What engines' metrics and log lines mean, from a stand-in that tells the truth, and from hostile servers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import httpx
import pytest

from dflashtui.engines.figures import Figures
from dflashtui.engines.log_figures import LogFigures
from dflashtui.engines.metrics import Reading, quantile, reading
from dflashtui.source.http import ThroughHost
from dflashtui.source.metrics import Scrape, scrape
from tests.engine.counters import Counters, exposition
from tests.engine.server import running
from tests.engine.settings import Settings, settings

if TYPE_CHECKING:
    from dflashtui.transport.base import Transport

NOW = datetime(2026, 12, 3, tzinfo=UTC)
SGLANG_DECODE = (
    "[2026-12-01 02:29:36 TP0] Decode batch, #running-req: 3, #token: 9, token usage: 0.01, accept len: 5.21, "
    "accept rate: 0.28, cuda graph: False, gen throughput (token/s): 310.22, #queue-req: 2"
)
SGLANG_HYBRID = (
    "[2026-12-01 02:29:36] Decode batch, #running-req: 1, #full token: 9, full token usage: 0.25, mamba num: 1, "
    "mamba usage: 0.01, cuda graph: True, gen throughput (token/s): 99.5, #queue-req: 0"
)
VLLM_LINE = (
    "(APIServer pid=1) INFO 05-12 01:48:42 [loggers.py:1] Engine 000: Avg prompt throughput: 12.5 tokens/s, Avg "
    "generation throughput: 88.1 tokens/s, Running: 4 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.5%, "
    "Prefix cache hit rate: 25.0%"
)
VLLM_SPECULATION = (
    "SpecDecoding metrics: Mean acceptance length: 3.40, Accepted throughput: 9 tokens/s, Per-position acceptance "
    "rate: 0.8, 0.5, Avg Draft acceptance rate: 16.0%"
)


def read(asked: Settings, counters: Counters, seconds: float) -> Reading:
    return reading(exposition(asked, counters).splitlines(), seconds)


@pytest.mark.parametrize("kind", ["sglang", "vllm"])
def test_rates_and_percentiles_are_those_of_what_came_in_between(kind: str) -> None:
    asked, counters, figures = Settings(kind=kind, accept=(3, 5)), Counters(), Figures()
    counters.tokens, counters.prompt_tokens = 1000, 500
    for _ in range(50):
        counters.ttft.take(9.0)
    figures.take(read(asked, counters, 10.0), NOW)
    counters.tokens, counters.prompt_tokens, counters.running = 1400, 700, 2
    for _ in range(10):
        counters.ttft.take(0.05)
    for _ in range(4):
        counters.step(0.02, 4)
    load = figures.take(read(asked, counters, 14.0), NOW)
    assert (load.running, load.queued, load.interval_seconds) == (2, 0, 4.0)
    assert (load.output_tokens_per_second, load.input_tokens_per_second) == (104.0, 50.0)
    assert load.accept_length == 4.0
    assert load.accept_rate_percent == 20.0
    assert load.kv_use_percent == pytest.approx(3.1)
    assert load.prefix_hit_percent == 25.0
    assert load.ttft_p50_ms is not None
    assert 40 < load.ttft_p50_ms <= 60
    assert load.itl_p50_ms is not None
    assert load.itl_p50_ms <= 5


def test_a_counter_that_fell_is_a_new_start_and_not_a_negative_rate() -> None:
    asked, counters, figures = Settings(kind="vllm"), Counters(tokens=5000), Figures()
    figures.take(read(asked, counters, 1.0), NOW)
    load = figures.take(read(asked, Counters(tokens=7), 3.0), NOW)
    assert load.output_tokens_per_second is None
    load = figures.take(read(asked, Counters(tokens=27), 5.0), NOW)
    assert load.output_tokens_per_second == 10.0


def test_what_is_not_told_is_unknown_and_never_zero() -> None:
    load = Figures().take(reading(['vllm:num_requests_running{a="b"} 3'], 1.0), NOW)
    assert load.running == 3
    told = load.model_dump(exclude={"at", "via", "running", "queue_grows"})
    assert set(told.values()) == {None}


def test_labels_that_nobody_knows_add_up_and_ranks_do_not() -> None:
    lines = [
        f'sglang:num_running_reqs{{tp_rank="{tp}",dp_rank="{dp}",colour="red"}} 2' for tp in range(4) for dp in range(2)
    ]
    assert reading(lines, 0.0).get("running") == 4


def test_lines_that_are_no_samples_are_left_out() -> None:
    lines = [
        'sglang:num_running_reqs{model_name="a\\"}b,c"} 5',
        "sglang:num_queue_reqs{",
        "sglang:token_usage NaN",
        'sglang:gen_throughput{x="y"} eleven',
        'sglang:time_to_first_token_seconds_bucket{le="wide"} 3',
        "sglang:",
    ]
    assert reading(lines, 0.0).values == {"running": 5.0}


def test_a_quantile_lies_between_the_bounds_as_prometheus_puts_it() -> None:
    after = {0.1: 0.0, 0.2: 10.0, 0.4: 20.0, float("inf"): 20.0}
    assert quantile({}, after, 0.5) == pytest.approx(0.2)
    assert quantile({}, after, 0.75) == pytest.approx(0.3)
    assert quantile({}, {0.1: 0.0, float("inf"): 3.0}, 0.5) == 0.1
    assert quantile(after, after, 0.5) is None


def test_requests_that_run_without_a_token_are_a_stall() -> None:
    asked, counters, figures = Settings(kind="vllm"), Counters(tokens=50, running=1), Figures()
    loads = [figures.take(read(asked, counters, seconds), NOW) for seconds in (0.0, 5.0, 25.0, 45.0)]
    assert [load.stalled_seconds for load in loads] == [None, 0.0, 20.0, 40.0]
    counters.tokens += 1
    assert figures.take(read(asked, counters, 50.0), NOW).stalled_seconds == 0


def test_log_lines_tell_what_metrics_would() -> None:
    figures = LogFigures()
    load = figures.feed(SGLANG_DECODE, NOW)
    assert load is not None
    assert (load.via, load.running, load.queued, load.output_tokens_per_second) == ("log", 3, 2, 310.22)
    assert (load.accept_length, load.accept_rate_percent, load.cuda_graph) == (5.21, 28.0, False)
    hybrid = LogFigures().feed(SGLANG_HYBRID, NOW)
    assert hybrid is not None
    assert (hybrid.kv_use_percent, hybrid.accept_length, hybrid.cuda_graph) == (25.0, None, True)
    figures = LogFigures()
    figures.feed(VLLM_LINE, NOW)
    both = figures.feed(VLLM_SPECULATION, NOW)
    assert both is not None
    assert (both.running, both.queued, both.prefix_hit_percent, both.accept_length) == (4, 1, 25.0, 3.4)
    assert figures.feed("INFO: 127.0.0.1:1 - GET /health throughput", NOW) is None


class Loopback:
    """The one method of a Transport that HTTP needs."""

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(address, port)


async def scraped(*words: str) -> Scrape:
    transport = ThroughHost(cast("Transport", Loopback()))
    async with running(settings(words)) as engine, httpx.AsyncClient(transport=transport) as client:
        return await scrape(client, f"http://127.0.0.1:{engine.port}")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("faults=no-metrics", "--enable-metrics"),
        ("faults=huge-metrics", "larger than 4 MiB"),
        ("faults=rubbish", "GET /metrics: "),
        ("kind=lazy", "no /metrics here"),
    ],
)
async def test_metrics_that_cannot_be_read_are_named(words: str, problem: str) -> None:
    found = await scraped(words)
    assert found.reading is None
    assert problem in found.problem


async def test_odd_labels_and_families_do_no_harm() -> None:
    found = await scraped("kind=sglang", "faults=odd-metrics")
    assert found.reading is not None
    assert found.reading.get("running") == 0
