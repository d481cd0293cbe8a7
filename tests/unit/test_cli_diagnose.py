"""`dflashtui diagnose`: documents, words, exit codes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dflashtui.cli import main
from dflashtui.exit_code import ExitCode

SAMPLES = Path(__file__).parents[1] / "data" / "crashlogs"
MISSING = str(SAMPLES / "missing-module-chain.log")
WELL = str(SAMPLES / "no-failure.log")
CAUSE_FIELDS = (
    "kind",
    "exception",
    "message",
    "module",
    "location",
    "process",
    "host",
    "unit",
    "invocation_id",
    "lines",
)


def printed(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["diagnose", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_document_has_the_contracts_fields(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = printed(["--json", MISSING], capsys)
    document: dict[str, Any] = json.loads(out)
    assert (code, err) == (ExitCode.FAILED, "")
    assert set(document) == {"schema", "fatal", "cause", "remedies", "others"}
    assert set(CAUSE_FIELDS) <= set(document["cause"])
    assert document["cause"]["module"] == "soundfile"
    assert document["remedies"][0]["command"].endswith("pip install soundfile")


def test_no_failure_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed([WELL], capsys) == (ExitCode.OK, "no failure found\n", "")
    code, out, _ = printed(["--json", WELL], capsys)
    assert json.loads(out) == {"schema": 1, "fatal": False, "cause": None, "remedies": [], "others": []}
    assert code == ExitCode.OK


def test_several_files_are_one_document_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(["--json", WELL, MISSING], capsys)
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == ExitCode.FAILED
    assert [(document["file"], document["fatal"]) for document in documents] == [(WELL, False), (MISSING, True)]


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(MISSING).read_bytes())))
    code, out, _ = printed([], capsys)
    assert code == ExitCode.FAILED
    assert out.startswith("missing-module: ModuleNotFoundError: No module named 'soundfile'\n")


def test_a_file_that_cannot_be_read_hides_no_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gone = str(tmp_path / "gone\x1b[2J.log")
    code, out, err = printed([gone, MISSING], capsys)
    assert code == ExitCode.FAILED
    assert "soundfile" in out
    assert "No such file" in err
    assert "\x1b" not in err
    assert printed([gone], capsys)[0] == ExitCode.UNKNOWN


def test_nothing_from_the_log_acts_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed([str(SAMPLES / "bad-bytes.log")], capsys)
    assert code == ExitCode.FAILED
    assert "import-error" in out
    assert "\x1b" not in out
    assert "\x07" not in out
