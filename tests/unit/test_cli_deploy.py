"""What is deployed is what was shown, whatever becomes of the files while a person reads the question."""

from __future__ import annotations

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli import deploy
from dflashtui.cli.parser import parse
from dflashtui.exit_code import ExitCode
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

UNIT = "engine.service"
INVENTORY = f"""
[hosts.gpu-a]
[units."{UNIT}"]
hosts = ["gpu-a"]
template = "python"
python = "/srv/venv/bin/python"
extra_args = ["/srv/server.py"]
[[units."{UNIT}".overlays]]
source = "patches"
package = "sglang"
"""


class Stopped(Exception):
    """Where the deployment would begin; carries what it would work with."""


@fault("I11", how="an overlay file is edited while the question is open", result="the bytes that were shown are laid")
def test_overlay_files_are_those_that_were_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hosts.toml").write_text(INVENTORY)
    patch = tmp_path / "patches/a.py"
    patch.parent.mkdir()
    patch.write_bytes(b"shown")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    @asynccontextmanager
    async def looking(*_: object) -> AsyncIterator[SimpleNamespace]:
        yield SimpleNamespace(fleet=None, seen={}, code=ExitCode.OK, hosts=())

    async def unreached(*_: object) -> list[str]:
        return []

    async def allowed(*_: object) -> bool:
        patch.write_bytes(b"edited meanwhile")
        return False

    def setting(**given: Any) -> None:  # noqa: ANN401 - whatever a deployment works with
        raise Stopped(given["overlays"])

    for name, stand_in in (("looking", looking), ("unreached", unreached), ("_allowed", allowed), ("Setting", setting)):
        monkeypatch.setattr(deploy, name, stand_in)
    monkeypatch.setattr(deploy, "would_change", lambda *_: [])
    with pytest.raises(Stopped) as stopped:
        deploy.run_deploy(parse(["-c", str(tmp_path / "hosts.toml"), "deploy", UNIT]))
    (overlay,) = stopped.value.args[0]
    assert dict(overlay.files) == {"a.py": b"shown"}
