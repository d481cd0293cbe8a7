"""A host that says the worst in every place: nothing of it acts on a terminal, nothing tells a secret."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from tests.faults.hostile_host import (
    SLOW_FORMS,
    UNIT,
    forms,
    hostile_host,
    hostile_inventory,
    messages,
    require_clean,
    traces,
)
from tests.faults.marks import fault
from tests.faults.seed import seeded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.fake_host import FakeHost

LIMIT = ("--timeout", "4")
MANY_LINES, TURNS = 40_000, 4
"""One answer of a journal is read up to 64 MiB: more lines at once would be left out, and said so."""
WRITTEN_BY_US = ("host", "hosts.toml", "log", "patches")
"""What the test itself put there."""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """The host, and a home of its own."""
    made = hostile_host(tmp_path, seeded("a hostile host"))
    hostile_inventory(tmp_path)
    monkeypatch.setenv("PATH", made.path)
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return made


def said(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> tuple[bytes, bytes]:
    """What a command printed."""
    capfd.readouterr()
    try:
        main(["-c", "hosts.toml", *LIMIT, *words])
    except SystemExit as wrong_use:
        assert wrong_use.code == 64  # noqa: PT017 - argparse ends so
    out, err = capfd.readouterr()
    return out.encode("utf-8", "surrogateescape"), err.encode("utf-8", "surrogateescape")


def require_discreet_files(folder: Path) -> None:
    """No file that the product wrote has a part of the canary, in its text or in its name."""
    files = [path for path in folder.rglob("*") if path.relative_to(folder).parts[0] not in WRITTEN_BY_US]
    assert any(path.name == "audit.jsonl" for path in files)
    assert [path for path in files if path.is_file() and traces(path.read_bytes())] == []
    assert [path for path in files if traces(os.fsencode(path))] == []


def run_all(wanted: tuple[tuple[str, ...], ...], capfd: pytest.CaptureFixture[str]) -> None:
    for words in wanted:
        for form in (words, (*words, "--json")):
            out, err = said(form, capfd)
            require_clean(" ".join(form), out, is_json="--json" in form)
            require_clean(" ".join(form), err, is_json=False)


@fault(
    "I7",
    how="canary secrets in every text of a host and of hosts.toml; every command",
    result="no part of one anywhere",
)
@fault(
    "I12", how="escapes, C1, lone surrogates in all values; every command with --json", result="a valid document a line"
)
@fault("I2", how="a host whose systemctl, journalctl and python3 say rubbish", result="words or a refusal, never raw")
def test_every_command_on_a_hostile_host(host: FakeHost, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_all(forms(tmp_path), capfd)
    require_discreet_files(tmp_path)


@pytest.mark.long
@pytest.mark.timeout(900)
@fault("I7", how="the same with preflight, bench, deploy, and a hundred other hosts", result="no part of one anywhere")
def test_every_command_again_and_again(host: FakeHost, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_all(SLOW_FORMS, capfd)
    for number in range(100):
        chance = seeded(f"host {number}")
        host.logs(list(messages(chance, 5)))
        host.says("refusal", next(messages(chance, 1)) + b"\n")
        host.shows(Description=next(messages(chance, 1)), LoadError=b'x "' + next(messages(chance, 1)) + b'"')
        run_all((chance.choice(forms(tmp_path)), ("probe", UNIT)), capfd)
    require_discreet_files(tmp_path)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shape", ["short", "full", "cat", "json", "diagnose"])
@fault(
    "H2", how="800 000 hostile lines through logs and diagnose, in five forms", result="none of it reaches the terminal"
)
def test_most_of_a_million_lines(shape: str, host: FakeHost, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = {"json": ("logs", "--json", UNIT), "diagnose": ("diagnose", "log")}.get(shape, ("logs", "-o", shape, UNIT))
    count = ("-n", str(MANY_LINES)) if words[0] == "logs" else ()
    for turn in range(TURNS):
        lines = list(messages(seeded(f"{shape} {turn}"), MANY_LINES))
        host.logs(lines)
        (tmp_path / "log").write_bytes(b"\n".join(lines))
        out, err = said((*words, *count, "--timeout", "600"), capfd)
        require_clean(shape, out, is_json=shape == "json")
        require_clean(shape, err, is_json=False)
        assert shape == "diagnose" or out.count(b"\n") >= MANY_LINES
