"""The import sweep over real wheels of the package index, against really importing and mending by real installs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.ops import preflight_imports
from dflashtui.ops.preflight import preflight
from tests.fleet.environments import FOLDER, PYTHON, clear, lay_out

if TYPE_CHECKING:
    from dflashtui.config.model import Config
    from tests.fleet.harness.fleet import TestFleet

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(180)]
HOST = "gpu-a"
UNIT = "real.service"
UNIT_TEXT = f"[Service]\nUser=ops\nWorkingDirectory={FOLDER}/app\nExecStart={PYTHON} -m served\n"
SUBJECTS = ("fastapi==0.115.6", "starlette==0.41.3", "pydantic==2.10.4", "anyio==4.7.0")
LACKING = (
    "pydantic-core==2.27.2",
    "annotated-types==0.7.0",
    "typing-extensions==4.12.2",
    "sniffio==1.3.1",
    "idna==3.10",
)
OLD, NEW = "xgrammar==0.1.10", "xgrammar==0.1.32"
CACHE = Path(os.environ.get("DFLASHTUI_WHEELS") or Path.home() / ".cache" / "dflashtui-wheels")
MISSING = re.compile(r"No module named '([\w.]+)'")


def wheels() -> dict[str, bytes]:
    """By file name; fetched once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for pin in (*SUBJECTS, *LACKING, OLD, NEW):
        name, _, version = pin.replace("-", "_").partition("==")
        if not list(CACHE.glob(f"{name}-{version}-*.whl")):
            fetch(pin)
    return {path.name: path.read_bytes() for path in CACHE.glob("*.whl")}


def fetch(pin: str) -> None:
    target = ("--only-binary", ":all:", "--python-version", "3.11", "--no-deps", "-d", str(CACHE))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", *target, pin], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"the package index did not give {pin}: {done.stderr[-400:]}; fill {CACHE} or reach an index")


def install(fleet: TestFleet, *pins: str) -> None:
    fleet.check(HOST, PYTHON, "-m", "pip", "install", "-q", "--no-deps", *pins)


def named(fleet: TestFleet, config: Config, text: str) -> set[str]:
    fleet.write_file(HOST, f"{FOLDER}/app/served.py", text)

    async def look() -> set[str]:
        async with opener()(config.host(HOST), lambda _: None) as transport:
            found = await preflight(config, UNIT, config.host(HOST), transport, checks=(preflight_imports.check,))
        return {one.id for one in found.findings if one.level == "fatal"}

    return asyncio.run(look())


def met(fleet: TestFleet) -> str | None:
    """The module that really importing ends with."""
    done = fleet.exec(HOST, "runuser", "-u", "ops", "--", PYTHON, "-c", "import fastapi")
    words = done.stderr.decode(errors="replace")
    found = MISSING.search(words)
    assert found or done.returncode == 0, words
    return found and found[1]


def test_the_sweep_names_what_real_imports_meet(fleet: TestFleet, tmp_path: Path) -> None:
    lay_out(fleet, HOST, {"none.pth": b""}, wheels=wheels())
    fleet.write_file(HOST, f"/etc/systemd/system/{UNIT}", UNIT_TEXT)
    path = tmp_path / "hosts.toml"
    path.write_text(fleet.config_path.read_text() + f'\n[units."{UNIT}"]\nhosts = ["{HOST}"]\nengine = "sglang"\n')
    config = load(path)
    install(fleet, *SUBJECTS)
    fleet.write_file(HOST, f"{FOLDER}/app/served.py", "")
    fleet.check(HOST, "chmod", "-R", "go+rX", FOLDER)
    first = named(fleet, config, "import fastapi\n")
    seen: set[str] = set()
    while (module := met(fleet)) is not None:
        assert module not in seen
        seen.add(module)
        assert f"imports:missing-module:{module}" in named(fleet, config, "import fastapi\n")
        install(fleet, module.partition(".")[0].replace("_", "-"))
    assert first == {f"imports:missing-module:{one}" for one in seen}
    assert len(seen) >= 4
    assert named(fleet, config, "import fastapi\n") == set()
    fault = "imports:missing-name:xgrammar:StructuralTag"
    for pin, lacks in ((OLD, True), (NEW, False)):
        install(fleet, pin)
        assert (fault in named(fleet, config, "from xgrammar import StructuralTag\n")) is lacks
    clear(fleet, HOST)
