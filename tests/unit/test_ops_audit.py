import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dflashtui.errors import ActionRefused
from dflashtui.mask import masked
from dflashtui.model.action import ActionResult, UnitAction, Verb
from dflashtui.ops.audit import Audit, entry, who
from tests.faults.marks import fault


def result(message: str = "done", **more: object) -> ActionResult:
    given = {
        "action": UnitAction(verb=Verb.RESTART, host="gpu-a", unit="a.service"),
        "ok": True,
        "result": "done",
        "message": message,
        "via": "bus",
        "started_at": datetime(2026, 12, 1, 4, 5, 6, tzinfo=UTC),
        "duration_seconds": 1.23456,
    }
    return ActionResult.model_validate({**given, **more})


def lines(audit: Audit) -> list[dict[str, object]]:
    return [json.loads(line) for line in audit.path.read_text().splitlines()]


def test_one_line_an_action(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "state" / "dflashtui")
    assert audit.record(result()) is None
    assert audit.record(result(ok=None, result="unknown", via=None)) is None
    first, second = lines(audit)
    assert first == {
        "time": "2026-12-01T04:05:06Z",
        "who": who(),
        "host": "gpu-a",
        "unit": "a.service",
        "action": "restart",
        "command": "systemctl restart a.service",
        "result": "done",
        "ok": True,
        "message": "done",
        "via": "bus",
        "duration_s": 1.235,
    }
    assert (second["ok"], second["result"]) == (None, "unknown")


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "state")
    audit.require()
    assert stat.S_IMODE(audit.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(audit.path.parent.stat().st_mode) == 0o700


@fault("E16", how="line ends and control characters in a message", result="one line, ASCII, escaped")
def test_no_text_forges_a_line(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    audit.record(result('x\n{"who": "nobody"}\x85\u2028\ud800\x1b[2J'))
    assert len(audit.path.read_bytes().splitlines()) == 1
    assert audit.path.read_bytes().isascii()


def test_the_command_is_the_one_that_ran() -> None:
    assert entry(result(via="sudo"))["command"] == "sudo -n systemctl restart a.service"


@fault("E16", how="the folder is a file", result="refused before anything is sent; or NOT AUDITED, where allowed")
def test_without_its_file_nothing_may_be_changed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ActionRefused, match="audit file cannot be written"):
        Audit(tmp_path / "file").require()
    Audit(tmp_path / "file", required=False).require()
    trouble = Audit(tmp_path / "file", required=False).record(result())
    assert trouble is not None
    assert "cannot be written" in trouble


@fault("E16", how="no space for the line; the file is rotated away", result="told with the action; a new file is begun")
def test_a_full_disk_is_told_and_a_rotated_file_is_begun_anew(tmp_path: Path) -> None:
    full = Audit(tmp_path / "full")
    full.path.parent.mkdir()
    full.path.symlink_to("/dev/full")
    trouble = full.record(result())
    assert trouble is not None
    assert "No space left on device" in trouble
    audit = Audit(tmp_path / "rotated")
    audit.record(result())
    audit.path.rename(audit.path.with_suffix(".1"))
    assert audit.record(result()) is None
    assert len(lines(audit)) == 1


def test_a_fifo_does_not_hold_the_console(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.jsonl")
    with pytest.raises(ActionRefused):
        Audit(tmp_path).require()


@fault("E16", how="two consoles write by turns", result="whole lines")
def test_two_writers_do_not_mix(tmp_path: Path) -> None:
    one, other = Audit(tmp_path), Audit(tmp_path)
    for count in range(20):
        (one, other)[count % 2].record(result("x" * 5000))
    assert len(lines(one)) == 20


def test_secrets_do_not_get_in(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    audit.record(result("Failed: --api-key s3cret-value and HF_TOKEN=hf_abcdefghij"))
    assert "s3cret" not in audit.path.read_text()
    assert "hf_abc" not in audit.path.read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("serve --api-key X1 --port 3", "serve --api-key *** --port 3"),
        ("serve --api-key=X1 --port 3", "serve --api-key=*** --port 3"),
        ("--api_key 'a b' x", "--api_key *** x"),
        ('Environment="HF_TOKEN=abc def"', 'Environment="HF_TOKEN=*** def"'),
        ("OPENAI_API_KEY=abc", "OPENAI_API_KEY=***"),
        ("AWS_SECRET_ACCESS_KEY=abc/+=", "AWS_SECRET_ACCESS_KEY=***"),
        ('{"password": "a\\"b", "user": "u"}', '{"password": ***, "user": "u"}'),
        ("password=x;user=y", "password=***;user=y"),
        ("https://user:pw@host/path", "https://user:***@host/path"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("pushed with hf_AbCdEfGhIjKl done", "pushed with *** done"),
        ("key is sk-proj-abcdefgh12345678", "key is ***"),
    ],
)
def test_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "--tokenizer-path /models/x --max-tokens 4096",
        "--max-total-tokens=1000",
        "--ssl-keyfile /etc/key.pem",
        "systemctl restart keydb.service",
        "https://host:8080/path@2",
        "monkey=banana",
        "skip sk-1",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_masking_takes_time_in_proportion() -> None:
    """A quadratic search of this text would take minutes; the time limit of the test run is the judge."""
    for hostile in ("-a_key" * 20_000, "://" * 40_000, "key " * 30_000, "A" * 200_000, '"' * 100_000):
        masked(hostile)
