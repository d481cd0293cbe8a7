"""A bench against stand-ins whose true figures are known, and comparisons that must be called invalid."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dflashtui.model.bench import BenchResult, LevelRun, RequestRecord, Side, SideFacts
from dflashtui.ops import bench_fair, bench_same
from dflashtui.ops.audit import Audit
from dflashtui.ops.bench import Bench
from dflashtui.ops.bench_load import Plan
from dflashtui.ops.bench_stats import percentile, spread
from dflashtui.ops.bench_switch import Switch, must_share
from dflashtui.source.completion import Limits
from tests.support.until import until
from tests.unit.service_fleet import HOST, ServiceFleet, services

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.config.model import Config
    from dflashtui.model.action import ActionResult, UnitAction

A, B = (HOST, "a.service"), (HOST, "b.service")
SLOW = "kind=vllm prefill_seconds=0.02 verify_seconds=0.002 tokens=24 log_steps=0"
FAST = f"{SLOW} accept=3,5"
QUICK = Plan(levels=(1, 4), turns=1, max_tokens=48, requests=8, limits=Limits(seconds=5.0, silent_seconds=1.0))


async def benched(plan: Plan = QUICK, **words: str) -> tuple[BenchResult, ServiceFleet]:
    """All services of `words` at once, each on a GPU of its own."""
    active = [f"{name}.service" for name in words]
    async with services(active, share_gpu=False, **words) as (fleet, config):
        return await Bench(fleet, config, [(HOST, unit) for unit in active], plan).run(), fleet


async def test_figures_are_those_that_the_server_was_given() -> None:
    found, fleet = await benched(a=FAST)
    (side,) = found.sides
    one, four = side.levels
    truth = fleet.engines["a.service"].truth
    assert not found.is_partial
    assert (one.requests, one.failures, four.requests) == (8, 0, 8)
    assert one.accept_length == pytest.approx(truth["accept_length"], rel=0.05)
    assert one.accept_from == "counters"
    assert one.ttft_ms.p50 is not None
    assert 20 <= one.ttft_ms.p50 < 60
    assert one.tpot_ms.p50 == pytest.approx(0.5, rel=0.6)
    assert four.tokens_per_second.p50 is not None
    assert one.tokens_per_second.p50 is not None
    assert four.tokens_per_second.p50 > 2 * one.tokens_per_second.p50
    assert (side.facts.engine, side.facts.engine_version, side.facts.model) == ("vllm", "0.5.12", "stand-in")
    assert (one.ttft_ms.count, one.ttft_ms.p95) == (8, None)


async def test_two_units_with_the_same_text_are_compared() -> None:
    found, _ = await benched(a=SLOW, b=FAST)
    assert found.invalid == ()
    assert found.sameness is not None
    assert (found.sameness.pairs, found.sameness.identical) == (8, 8)
    assert [speedup.concurrency for speedup in found.speedups] == [1, 4]
    assert all(speedup.throughput_ratio and speedup.throughput_ratio > 1.2 for speedup in found.speedups)
    assert "different GPUs of one host" in found.notes


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ("faults=differs-early", "within their first"),
        ("faults=repeats", "again and again"),
        ("faults=500", "B could not be measured"),
        ("faults=other-model", "another-model"),
    ],
)
async def test_what_must_not_be_compared_is_invalid_and_has_no_speedup(faults: str, reason: str) -> None:
    plan = Plan(levels=(2,), turns=1, max_tokens=32, requests=8, limits=QUICK.limits)
    found, _ = await benched(plan, a=SLOW, b=f"{FAST} {faults}")
    assert reason in " ".join(found.invalid)
    assert found.speedups == ()


async def test_late_differences_are_a_note() -> None:
    found, _ = await benched(a=SLOW, b=f"{FAST} faults=differs-late")
    assert found.invalid == ()
    assert found.sameness is not None
    assert 0 < len(found.sameness.differences) <= 4
    assert any("floating point" in note for note in found.notes)
    assert found.speedups


async def test_a_server_that_fails_now_and_then_keeps_its_failures() -> None:
    async with services(a=SLOW) as (fleet, config):
        engine = fleet.engines["a.service"]
        bench = Bench(fleet, config, [A], Plan(levels=(1,), turns=1, max_tokens=8, requests=12, limits=QUICK.limits))
        running = asyncio.create_task(bench.run())
        await until(lambda: engine.counters.requests >= 8)
        engine.settings.faults = {"500"}
        await until(lambda: engine.counters.requests >= 11)
        engine.settings.faults = set()
        (level,) = (await running).sides[0].levels
    assert level.requests == 12
    assert level.failed_by == {"http-error": level.failures}
    assert 0 < level.failures < 12


async def test_a_server_that_dies_ends_the_bench_with_what_was_measured() -> None:
    async with services(a=SLOW) as (fleet, config):
        bench = Bench(fleet, config, [A], Plan(levels=(1, 2), turns=1, max_tokens=8, requests=40, limits=QUICK.limits))
        running = asyncio.create_task(bench.run())
        await until(lambda: fleet.engines["a.service"].counters.requests >= 10)
        fleet.active.clear()
        found = await running
    assert found.is_partial
    assert "its run ended during the bench" in (found.sides[0].trouble or "")
    (run,) = found.sides[0].runs
    assert len(run.requests) < 40
    assert {one.outcome for one in run.requests} == {"ok", "refused"}


async def turns(fleet: ServiceFleet, config: Config, folder: Path, plan: Plan, starts: list[str]) -> Bench:
    async def watch(action: UnitAction, asked: asyncio.Future[ActionResult]) -> str | None:
        await asked
        starts.append(action.unit)
        return "crashed: no module" if action.unit in fleet.fails else None

    switch = Switch(fleet, config, Audit(folder), watch, [A, B], read_only=False)
    assert must_share(config, [A, B])
    return Bench(fleet, config, [A, B], plan, switch=switch)


TURNS = Plan(levels=(2,), turns=3, max_tokens=8, requests=2, limits=QUICK.limits)


async def test_units_of_one_gpu_take_turns_and_are_left_as_they_were(tmp_path: Path) -> None:
    starts: list[str] = []
    async with services(["a.service"], a=SLOW, b=FAST) as (fleet, config):
        found = await (await turns(fleet, config, tmp_path, TURNS, starts)).run()
        assert fleet.active == {"a.service"}
    assert found.order == ("A", "B", "B", "A", "A", "B")
    assert starts == ["b.service", "a.service", "b.service"]
    assert fleet.performed[-2:] == ["stop b.service", "start a.service"]
    assert [run.turn for run in found.sides[0].runs] == [0, 1, 2]
    assert len(found.sides[1].facts.invocations) == 2
    assert (tmp_path / "audit.jsonl").read_text().count("\n") == len(fleet.performed)


async def test_a_unit_that_does_not_start_is_said_and_the_other_comes_back(tmp_path: Path) -> None:
    async with services(["a.service"], a=SLOW, b=FAST) as (fleet, config):
        fleet.fails = {"b.service"}
        found = await (await turns(fleet, config, tmp_path, TURNS, [])).run()
        assert fleet.active == {"a.service"}
    assert found.is_partial
    assert "crashed: no module" in " ".join(found.invalid)


async def test_an_interrupted_bench_keeps_its_part_and_puts_the_units_back(tmp_path: Path) -> None:
    async with services(["a.service"], a=SLOW, b=FAST) as (fleet, config):
        bench = await turns(
            fleet, config, tmp_path, Plan(levels=(1,), turns=2, max_tokens=8, requests=10, limits=QUICK.limits), []
        )
        running = asyncio.create_task(bench.run())
        await until(lambda: fleet.engines["b.service"].counters.requests >= 6)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert fleet.active == {"a.service"}
    found = bench.result()
    assert found.is_partial
    assert [run.is_whole for run in found.sides[1].runs] == [False]
    assert 0 < len(found.sides[1].runs[0].requests) < 10
    assert found.sides[1].levels == ()


def side(label: str, argv: str, **facts: object) -> Side:
    told = SideFacts.model_validate({"engine": "sglang", "argv": tuple(argv.split()), **facts})
    return Side(label=label, host="gpu-a", unit=f"{label}.service", facts=told)


def test_flags_are_compared_by_what_they_decide() -> None:
    one = side("A", "python -m sglang.launch_server --dtype bfloat16 --port 1 --disable-overlap", model_hash="1")
    two = side(
        "B", "python -m sglang.launch_server --dtype float16 --port 2 --speculative-algorithm DFLASH", model_hash="2"
    )
    objections = " ".join(bench_fair.objections(one, two))
    assert "--dtype differs: bfloat16 and float16" in objections
    assert "not the same files" in objections
    remarks = list(bench_fair.remarks(one, two))
    assert "--disable-overlap (differs): set and not set" in remarks
    assert "--speculative-algorithm (speculation): not set and DFLASH" in remarks
    assert not any("--port" in remark for remark in remarks)


def test_the_first_difference_is_shown_with_its_place() -> None:
    def run(text: str) -> LevelRun:
        return LevelRun(
            concurrency=1, turn=0, wall_seconds=1.0, requests=(RequestRecord(prompt="p", outcome="ok", text=text),)
        )

    (found,) = bench_same.sameness([run("one two three")], [run("one two four")]).differences
    assert (found.at_word, found.before, found.first, found.second) == (2, "one two ", "three", "four")


def test_percentiles_are_linear_and_tails_need_samples() -> None:
    assert percentile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.5
    assert percentile([], 0.5) is None
    few, many = spread([1.0] * 19), spread([float(value) for value in range(101)])
    assert (few.count, few.p50, few.p95) == (19, 1.0, None)
    assert (many.p5, many.p50, many.p95) == (5.0, 50.0, 95.0)
    assert spread([None, None]).count == 0
