"""What a fault of our own says, and what the own log keeps: never raw, never a secret."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.discreet import discreet_output, tell_own_fault
from dflashtui.cli.logging_setup import _Discreet
from tests.faults.marks import fault

if TYPE_CHECKING:
    import pytest

CANARY = "Zq7CNRYp4Lx9"
WORDS = f"bad answer\x1b]0;x\x07 api_key={CANARY} \u202e"


def _fails(answer: str) -> None:
    raise RuntimeError(answer)


@fault(
    "H5", how="a command fails in its own code, with a host's words", result="its way through the code, words made safe"
)
def test_a_fault_of_our_own_is_told_discreetly(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        _fails(WORDS)
    except RuntimeError as wrong:
        tell_own_fault(wrong)
    said = capsys.readouterr().err
    assert "_fails" in said
    assert "api_key=***" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert CANARY not in said


def test_documents_stay_documents(capsys: pytest.CaptureFixture[str]) -> None:
    document = {
        "schema": 1,
        "message": f'é "token": "{CANARY}" and password=ü{CANARY}',
        "deep": [{"a": f"Bearer {CANARY}"}],
    }
    with discreet_output():
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.writelines([f"--api-key {CANARY}\n", "plain\n"])
    out = capsys.readouterr().out
    assert CANARY not in out
    assert json.loads(out.splitlines()[0])["deep"] == [{"a": "Bearer ***"}]
    assert out.splitlines()[1:] == ["--api-key ***", "plain"]


@fault("I7", how="a secret in a message of the own log", result="masked; one line stays one line of text")
def test_the_own_log_is_discreet() -> None:
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "said %s", (WORDS,), None)
    line = _Discreet("%(message)s").format(record)
    assert CANARY not in line
    assert "\x1b" not in line
    assert line.startswith("said bad answer api_key=***")
