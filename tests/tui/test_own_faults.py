"""A fault of the console ends in one line; the log has the traceback, and nobody has the values."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

from dflashtui.tui.own_faults import OwnFaults
from tests.faults.marks import fault

if TYPE_CHECKING:
    import pytest

CANARY = "canary-secret-value"


class Failing(OwnFaults):
    def on_mount(self) -> None:
        token = CANARY
        assert token
        raise RuntimeError("[/x] surprise\x1b]0;x\x07")


@fault("H5", how="a fault of its own", result="one line, no local values")
def test_one_line_and_no_local_values(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    app = Failing()
    with caplog.at_level(logging.CRITICAL):
        app.run(headless=True)
    shown = capsys.readouterr()
    assert "RuntimeError: [/x] surprise" in shown.err
    assert "dflashtui.log" in shown.err
    assert app.return_code == 1
    assert "Traceback" in caplog.text
    assert CANARY not in io.StringIO(shown.err + shown.out + caplog.text).getvalue()
    assert "\x1b]0;x" not in shown.err
