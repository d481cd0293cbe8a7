"""Smoke and bench on the command line: wrong use is said at once; reports are for people and scripts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.cli.parser import parse
from dflashtui.model.bench import BenchResult, LevelRun, RequestRecord, Side, SideFacts
from dflashtui.ops.bench import compared
from dflashtui.ops.bench_html import page
from dflashtui.ops.bench_keep import keep
from dflashtui.ops.bench_report import document, lines, verdict
from dflashtui.ops.bench_stats import figures

if TYPE_CHECKING:
    from pathlib import Path

INVENTORY = """
[hosts.a]
[hosts.b]
[units."x.service"]
hosts = ["a", "b"]
engine = "vllm"
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bench", "x"), "say which with HOST:x.service"),
        (("bench", "c:x"), "no host named c"),
        (("bench", "a:x", "b:x", "x"), "one unit or two, not 3"),
        (("--demo", "bench", "x"), "real services"),
        (("--demo", "smoke", "x"), "real services"),
    ],
)
def test_wrong_use_is_64(words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(INVENTORY)
    assert main(["-c", str(path), *words]) == 64
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("levels", ["0", "1,x", "-3", ""])
def test_levels_are_positive_numbers(levels: str) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["bench", "x", "--levels", levels])
    assert ended.value.code == 64
    assert parse(["bench", "x", "--levels", "1,4"]).levels == (1, 4)


def run(concurrency: int, text: str, speed: float) -> LevelRun:
    request = RequestRecord(
        prompt="code-1", outcome="ok", ttft_ms=20.0, tpot_ms=1000 / speed, latency_ms=900.0, output_tokens=90, text=text
    )
    return LevelRun(concurrency=concurrency, turn=0, wall_seconds=90 * 4 / speed, requests=(request,) * 4)


def result(text: str = "the same", unit: str = "b<script>.service") -> BenchResult:
    sides = []
    for label, name, said, speed in (("A", "a.service", "the same", 100.0), ("B", unit, text, 200.0)):
        runs = tuple(run(level, said, speed) for level in (1, 2))
        facts = SideFacts(engine="vllm", model="m", argv=("vllm", "serve", "m"), packages={"torch": "2.11"})
        sides.append(Side(label=label, host="h", unit=name, facts=facts, runs=runs, levels=figures(runs)))
    whole = BenchResult(
        at=datetime(2026, 12, 3, tzinfo=UTC),
        prompts_version=1,
        levels=(1, 2),
        turns=1,
        max_tokens=96,
        order=("A", "B"),
        sides=tuple(sides),
    )
    return compared(whole)


def test_a_comparison_is_told_with_its_samples_and_without_what_is_not_known() -> None:
    found = result()
    text = "\n".join(lines(found))
    assert verdict(found) == "compared"
    assert "tokens/s 2.00, TTFT 1.00, TPOT 2.00" in text
    assert "n/a (n=4)" in text
    assert "same text: 4 of 4" in text
    assert "whether both have the same weights could not be read" in text
    assert document(found)["sides"][0]["levels"][0]["accept_length"] is None


def test_an_invalid_comparison_shows_no_speedup_and_the_first_difference() -> None:
    found = result("another text")
    text = "\n".join(lines(found))
    assert verdict(found) == "invalid"
    assert text.index("INVALID") > 0
    assert "B against A" not in text + page(found)
    assert "A 'the same'" in text


def test_the_page_is_whole_and_runs_nothing_from_outside(tmp_path: Path) -> None:
    record, shown = keep(result(), tmp_path)
    told = shown.read_text()
    assert told.count("<svg") == 3
    assert "b&lt;script&gt;.service" in told
    assert "<script" not in told
    assert "http" not in told
    assert json.loads(record.read_text())["schema"] == 1
    assert record.stat().st_mode & 0o077 == 0
