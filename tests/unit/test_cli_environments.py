"""Wrong use of `compare` and `sync` is said before any host is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.exit_code import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

INVENTORY = '[hosts.ct129]\naddress = "192.0.2.1"\n[hosts.ct200]\naddress = "192.0.2.2"\n'


@pytest.fixture
def inventory(tmp_path: Path) -> str:
    path = tmp_path / "hosts.toml"
    path.write_text(INVENTORY)
    return str(path)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("compare", "ct129"), ExitCode.USAGE, "name two hosts or more"),
        (("compare", "ct129", "ct2OO"), ExitCode.USAGE, "ct2OO"),
        (("--demo", "compare", "ct129", "ct200"), ExitCode.USAGE, "demo"),
        (("sync", "ct129", "ct200"), ExitCode.USAGE, "and the packages"),
        (("sync", "ct129", "ct129", "torch"), ExitCode.USAGE, "both ends"),
        (("sync", "ct*", "ct200", "torch"), ExitCode.USAGE, "names 2 hosts"),
        (("sync", "ct129", "ct200", "torch", "--read-only"), ExitCode.FAILED, "read-only"),
    ],
)
def test_wrong_use_is_said(
    capsys: pytest.CaptureFixture[str], inventory: str, words: tuple[str, ...], code: ExitCode, said: str
) -> None:
    assert main([*words, "-c", inventory]) == code
    assert said in capsys.readouterr().err
