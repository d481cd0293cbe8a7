"""Packages made alike from the comparison: two real environments of this machine behind a fake fleet."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.config.model import Unit
from dflashtui.transport.local import LocalTransport
from dflashtui.tui.compare.directions import Direction, directions, packages
from dflashtui.tui.compare.pairing import Pairing
from dflashtui.tui.compare.picking import PickScreen
from dflashtui.tui.compare.screen import CompareScreen
from dflashtui.tui.dialogs.confirm import Confirm
from dflashtui.tui.preflight.fixing import FixScreen
from tests.support.site_files import distribution, site, write
from tests.tui.fake import Console, FakeFleet, app_on, console, settled
from tests.tui.stage import config_of, host
from tests.tui.test_compare import TWO, A, B

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import pytest

    from dflashtui.config.model import Config
    from dflashtui.transport.base import Completed, Stream

ENVIRONMENT = "lib/python{}.{}/site-packages".format(*sys.version_info[:2])


class HereFleet(FakeFleet):
    """Hosts that are this machine."""

    here = LocalTransport("here")

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        return await self.here.run(argv, stdin=stdin)

    @asynccontextmanager
    async def command(self, host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        self.commanded.append((host, *argv))
        async with self.here.stream(argv) as running:
            yield running


def environment(folder: Path, version: str) -> Path:
    """One without pip and uv: what is to change goes over as files."""
    base = Path(sys.executable).resolve()
    write(folder, {"pyvenv.cfg": f"home = {base.parent}\ninclude-system-site-packages = false\n".encode()})
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(base)
    files = {"kernels/__init__.py": f"VERSION = '{version}'\n", f"kernels/of_{version[0]}.py": ""}
    write(folder / ENVIRONMENT, site(distribution("kernels", version, files), distribution("same", "1")))
    return folder


def inventory(tmp_path: Path) -> Config:
    units = [
        Unit(name=f"{name}.service", hosts=(name,), python=str(environment(tmp_path / name, version) / "bin/python"))
        for name, version in ((A, "2.0"), (B, "1.0"))
    ]
    return config_of(host(A), host(B)).model_copy(update={"units": tuple(units)})


@asynccontextmanager
async def comparing(config: Config) -> AsyncIterator[Console]:
    fleet = HereFleet(host(A), host(B))
    app = app_on(fleet, config=config)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        c = Console(pilot, fleet)
        await c.press("1", "space", "space", "equals_sign")
        await c.sees("≠ kernels", "1.0")
        yield c


async def refused(c: Console, changed: Path) -> None:
    """Nothing was synced that could be put back; a wrong word sends nothing."""
    await c.press("u", "1")
    await c.sees("nothing was exchanged here")
    await c.press("s", "1")
    await c.until(lambda: isinstance(c.app.screen, PickScreen))
    await c.press("enter")
    await c.until(lambda: isinstance(c.app.screen, Confirm))
    await c.press("x", "enter")
    assert isinstance(c.app.screen, Confirm)
    await c.press("escape")
    await c.until(lambda: isinstance(c.app.screen, CompareScreen))
    assert changed.joinpath("of_1.py").exists()


async def put_back(c: Console) -> None:
    await c.press("u")
    await c.sees("put back on which host?")
    await c.press("2")
    await c.sees("put back packages", "put back kernels")
    await c.press(*B, "enter")
    await c.sees("all done")


async def test_a_package_goes_over_as_planned_and_confirmed_and_comes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    changed = tmp_path / B / ENVIRONMENT / "kernels"
    async with comparing(inventory(tmp_path)) as c:
        await refused(c, changed)
        await c.press("s")
        await c.sees("make which like which?", f"make {B} like {A}")
        await c.press("1")
        await c.sees("[ ] ≠ kernels", "1.0 → 2.0", "[ ]   same")
        await c.press("a")
        await c.sees("[x] ≠ kernels")
        await c.press("enter")
        await c.sees("make packages", f"{A} → {B}", "copy", f"'kernels from {A}'", f"type {B} to go on", "is kept")
        assert changed.joinpath("of_1.py").exists()
        await c.press(*B, "enter")
        await c.until(lambda: isinstance(c.app.screen, FixScreen))
        await c.sees("placed", "all done")
        assert changed.joinpath("__init__.py").read_text() == "VERSION = '2.0'\n"
        assert not changed.joinpath("of_1.py").exists()
        await c.press("escape")
        await c.sees("≠ 1 differ")
        await put_back(c)
        assert changed.joinpath("of_1.py").exists()
        await c.press("escape")
        await c.sees("≠ kernels")
    lines = [json.loads(line) for line in (tmp_path / "state/dflashtui/audit.jsonl").read_text().splitlines()]
    assert [(line["host"], line["ok"]) for line in lines] == [(B, True), (B, True)]
    assert f"'kernels from {A}'" in json.dumps(lines[0])


async def test_where_nothing_may_be_changed_nothing_is_offered() -> None:
    async with console(host(A), host(B), read_only=True) as c:
        await c.press("1", "space", "space", "equals_sign")
        await c.until(lambda: isinstance(c.app.screen, CompareScreen))
        await c.sees("fewer than two hosts")
        sheet = c.app.screen
        assert isinstance(sheet, CompareScreen)
        sheet.fill(TWO)
        await c.sees("≠ soundfile")
        assert "s sync" not in c.text
        await c.press("s", "u")
        assert c.app.screen is sheet


def test_a_reference_is_only_read_from() -> None:
    both = Pairing((A, B), None)
    assert directions(both, TWO, lambda _: True) == (Direction(A, B), Direction(B, A))
    assert directions(both._replace(reference=A), TWO, lambda _: True) == (Direction(A, B),)
    assert directions(both, TWO, lambda host: host == A) == (Direction(B, A),)
    assert directions(both, None, lambda _: True) == ()
    assert [row.name for row in packages(TWO, Direction(A, B))] == ["torch", "torchvision", "soundfile"]
    assert [row.name for row in packages(TWO, Direction(B, A))] == ["torch", "torchvision"]
