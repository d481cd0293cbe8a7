"""What is kept and told of a deployment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflashtui.exit_code import ExitCode
from dflashtui.model.comparison import Compared, Comparison, Remark, Stand
from dflashtui.model.deploy import HostDeploy, Outcome, Step, StepEnd, StepNews, StepState
from dflashtui.ops.deploy_compare import compared_end
from dflashtui.ops.deploy_preflight import both
from dflashtui.ops.deploy_record import RECORDS_KEPT, DeployLog
from dflashtui.ops.deploy_report import document, exit_code, lines, table
from tests.faults.marks import fault

if TYPE_CHECKING:
    from pathlib import Path

UNIT = "sglang-a.service"


def row(host: str, outcome: Outcome | None, *steps: StepNews) -> HostDeploy:
    return HostDeploy(host=host, unit=UNIT, steps=steps, outcome=outcome)


PUSHED = StepNews(step=Step.PUSH, state=StepState.DONE, words="replaced", seconds=0.12)
CRASHED = StepNews(
    step=Step.PROBE,
    state=StepState.FAILED,
    words="crashed: \x1b[2J HF_TOKEN=hf_12345678",
    lines=("--api-key geheim1",),
    seconds=3.4,
)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((Outcome.READY, Outcome.READY), ExitCode.OK),
        ((Outcome.READY, Outcome.LOADING), ExitCode.WARNING),
        ((Outcome.READY, Outcome.PUT_BACK, Outcome.SKIPPED), ExitCode.FAILED),
        ((Outcome.UNKNOWN, Outcome.READY), ExitCode.UNKNOWN),
        ((Outcome.UNKNOWN, Outcome.FAILED), ExitCode.FAILED),
        ((Outcome.READY, Outcome.INTERRUPTED, Outcome.SKIPPED), ExitCode.INTERRUPTED),
    ],
)
@fault("E10", how="every mixture of outcomes", result="the worst one is the exit code")
def test_the_exit_code_tells_the_worst(outcomes: tuple[Outcome, ...], code: ExitCode) -> None:
    assert exit_code([row(f"h{number}", outcome) for number, outcome in enumerate(outcomes)]) is code


def test_words_are_inert_and_without_secrets() -> None:
    text = "\n".join(lines(row("gpu-a", Outcome.FAILED, PUSHED, CRASHED)))
    assert text.splitlines()[0] == f"gpu-a: {UNIT}: failed"
    assert "replaced (0.120 s)" in text
    assert "\x1b" not in text
    assert "hf_12345678" not in text
    assert "geheim1" not in text
    assert "geheim1" not in json.dumps(document(row("gpu-a", Outcome.FAILED, CRASHED)))


def test_the_table_fits_its_width() -> None:
    rows = [row("gpu-a", None, PUSHED, CRASHED), row("a-very-long-name-of-a-host-indeed", None, PUSHED)]
    for width in (20, 80, 120):
        assert all(len(line) <= width for line in table(rows, width))
    assert "✓ 0.120 s done" in table(rows, 120)[1]
    assert table(rows, 120, is_ascii=True)[1].isascii()


@fault("E12", how="secrets in the texts of a deployment", result="masked in its record")
def test_a_record_is_whole_at_every_step_and_holds_no_secret(tmp_path: Path) -> None:
    log = DeployLog(tmp_path, UNIT, ("a", "b"))
    log.keep(row("b", None, PUSHED))
    log.keep(row("a", None, CRASHED))
    kept = json.loads(log.path.read_text())
    assert [host["host"] for host in kept["hosts"]] == ["a", "b"]
    assert kept["ended_at"] is None
    log.end()
    text = log.path.read_text()
    assert json.loads(text)["ended_at"]
    assert "hf_12345678" not in text
    assert "geheim1" not in text
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_the_oldest_records_go(tmp_path: Path) -> None:
    logs = [DeployLog(tmp_path, UNIT, ("a",)) for _ in range(RECORDS_KEPT + 2)]
    for log in logs:
        log.end()
    assert len(list(logs[-1].path.parent.iterdir())) == RECORDS_KEPT
    assert logs[-1].path.exists()
    assert not logs[0].path.exists()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "deploys").write_text("in the way")
    log = DeployLog(tmp_path, UNIT, ("a",))
    log.keep(row("a", None, PUSHED))
    assert log.problem is not None
    assert "cannot be written" in log.problem


def compared(*rows: Compared) -> StepEnd:
    return compared_end(Comparison(hosts=("old", "new"), rows=rows), "new", "old", force=False)


TORCH = Compared(
    name="torch",
    group="decisive",
    stands=(Stand(value="2.11.0+cu130", hosts=("old",)), Stand(value="2.11.0+cu128", hosts=("new",))),
    fatal=(Remark(host="new", message="sgl-kernel wants libcudart.so.13"),),
)
SOUND = Compared(
    name="soundfile",
    group="package",
    stands=(Stand(value="0.13.1", hosts=("old",)), Stand(value=None, hosts=("new",))),
)


def test_a_move_tells_what_the_new_host_lacks_and_stops_at_what_is_fatal() -> None:
    end = compared(SOUND)
    assert (end.state, end.words) == (StepState.DONE, "1 differences from old")
    assert end.lines == ("soundfile: absent here, 0.13.1 on old",)
    fatal = compared(SOUND, TORCH)
    assert fatal.state is StepState.FAILED
    assert fatal.lines[:2] == (
        "fatal: torch: 2.11.0+cu128 here, 2.11.0+cu130 on old",
        "fatal: sgl-kernel wants libcudart.so.13",
    )
    assert compared().words == "the same environment as old"


def test_two_looks_are_one_step_that_fails_if_either_does() -> None:
    fine, bad = StepEnd(state=StepState.DONE, words="fine"), StepEnd(state=StepState.FAILED, words="bad", lines=("x",))
    assert both(fine, bad) == StepEnd(state=StepState.FAILED, words="fine; bad", lines=("x",))
    assert both(bad, fine).state is StepState.FAILED
