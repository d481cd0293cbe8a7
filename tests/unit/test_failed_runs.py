"""The last failed runs: what is kept, how much, and without secrets."""

from __future__ import annotations

import stat
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from dflashtui.model.failed_run import FailedRun, LogLine, UnitText
from dflashtui.model.finding import Cause, Location
from dflashtui.ops.failed_runs import LINE_LIMIT, RUNS_KEPT, FailedRuns
from tests.faults.marks import fault
from tests.unit.crash_fakes import NOW, UNIT

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-hx7"


def run(number: int = 1, **values: object) -> FailedRun:
    usual: dict[str, object] = {
        "host": "gpu-a",
        "unit": UNIT,
        "invocation_id": f"{number:032x}",
        "words": "failed (exit-code, status 1)",
        "ended_at": NOW + timedelta(minutes=number),
        "cause": Cause(kind="missing-module", message="No module named 'x'", location=Location(file="/a.py", line=3)),
        "lines": (LogLine(text="Traceback", mark="trace", at=NOW), LogLine(text="x", mark="cause")),
    }
    return FailedRun.model_validate(usual | values)


def test_the_last_five_are_kept_newest_first(tmp_path: Path) -> None:
    kept = FailedRuns(tmp_path)
    for number in range(RUNS_KEPT + 2):
        kept.keep(run(number))
    again = FailedRuns(tmp_path).of("gpu-a", UNIT)
    assert again == kept.of("gpu-a", UNIT)
    assert [one.invocation_id for one in again] == [f"{number:032x}" for number in (6, 5, 4, 3, 2)]
    assert again[0] == run(6)


def test_more_about_a_run_takes_the_place_of_less(tmp_path: Path) -> None:
    kept = FailedRuns(tmp_path)
    kept.keep(run(1, words="at first"))
    kept.keep(run(2))
    kept.keep(run(1, words="in the end"))
    assert [one.words for one in kept.of("gpu-a", UNIT)] == ["in the end", "failed (exit-code, status 1)"]


def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    kept = FailedRuns(tmp_path)
    cause = Cause(kind="auth", message=f"bad token=hf_{CANARY}", location=Location(file=f"http://u:{CANARY}@h/x"))
    secret = run(
        words=f"--api-key {CANARY}",
        cause=cause,
        others=(cause,),
        lines=(LogLine(text=f"server_args=ServerArgs(api_key='{CANARY}')"), LogLine(text=f"['--api-key', '{CANARY}']")),
        neighbours=(f"Authorization: Bearer {CANARY}",),
        gpus_before=(f"python --token={CANARY}",),
        unit_changes=(f"+Environment=HF_TOKEN={CANARY}",),
        problem=f"password: {CANARY}",
    )
    shown = kept.keep(secret)
    kept.keep_text("gpu-a", UNIT, UnitText(at=NOW, text=f"Environment=API_KEY={CANARY}\nExecStart=/x\n"))
    written = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert len(written) == 2
    assert all(CANARY not in text for text in written)
    assert CANARY not in shown.model_dump_json()


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    kept = FailedRuns(tmp_path / "state")
    kept.keep(run())
    kept.keep_text("gpu-a", UNIT, UnitText(at=NOW, text="x"))
    for path in (tmp_path / "state").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_long_texts_are_cut(tmp_path: Path) -> None:
    kept = FailedRuns(tmp_path).keep(run(lines=(LogLine(text="x" * 10**6),)))
    assert len(kept.lines[0].text) == LINE_LIMIT


@fault("I3", how="units named ../../x, a/b, NUL and line end", result="a file inside of the folder of records")
@pytest.mark.parametrize("name", ["../../x.service", ".hidden", "a/b", "x" * 400, "\x00\n", "é"])
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "state"
    kept = FailedRuns(folder)
    kept.keep(run(host=name, unit=name))
    assert kept.problem is None
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1
    assert FailedRuns(folder).of(name, name)


@fault("D17", how="a folder that cannot be written", result="kept in memory, and said")
def test_a_folder_that_cannot_be_written_leaves_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = FailedRuns(tmp_path / "file")
    kept.keep(run())
    assert kept.problem is not None
    assert "cannot be kept" in kept.problem
    assert kept.of("gpu-a", UNIT) == (run(),)


@pytest.mark.parametrize("text", [b"", b"[", b"[{}]", b"\xff", b'{"a": 1}', b"[1,2]"])
@fault("D17", how="damaged files", result="count as none, are replaced whole")
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path, text: bytes) -> None:
    FailedRuns(tmp_path).keep(run())
    (file,) = (path for path in tmp_path.rglob("*.json"))
    file.write_bytes(text)
    kept = FailedRuns(tmp_path)
    assert kept.of("gpu-a", UNIT) == ()
    kept.keep(run(2))
    assert len(FailedRuns(tmp_path).of("gpu-a", UNIT)) == 1


@fault("D17", how="two consoles with one state folder", result="neither loses what the other has kept")
def test_two_consoles_keep_each_others_runs(tmp_path: Path) -> None:
    first, second = FailedRuns(tmp_path), FailedRuns(tmp_path)
    assert (first.of("gpu-a", UNIT), second.of("gpu-a", UNIT)) == ((), ())
    first.keep(run(1))
    second.keep(run(3))
    first.keep(run(2))
    second.keep(run(3, words="failed, and explained"))
    again = FailedRuns(tmp_path).of("gpu-a", UNIT)
    assert {one.words for one in again if one.invocation_id == f"{3:032x}"} == {"failed, and explained"}
    assert [one.invocation_id for one in again] == [f"{number:032x}" for number in (3, 2, 1)]


@fault("D17", how="a file truncated at each byte", result="counts as none, is replaced whole")
def test_a_truncated_file_is_no_obstacle(tmp_path: Path) -> None:
    FailedRuns(tmp_path).keep(run())
    (file,) = tmp_path.rglob("*.json")
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert FailedRuns(tmp_path).of("gpu-a", UNIT) == ()
    kept = FailedRuns(tmp_path)
    kept.keep(run(2))
    assert FailedRuns(tmp_path).of("gpu-a", UNIT) == kept.of("gpu-a", UNIT)


def test_in_memory_alone() -> None:
    kept = FailedRuns(None)
    kept.keep(run())
    kept.keep_text("gpu-a", UNIT, UnitText(at=NOW, text="x"))
    assert kept.of("gpu-a", UNIT) == (run(),)
    assert kept.good_text("gpu-a", UNIT) == UnitText(at=NOW, text="x")
