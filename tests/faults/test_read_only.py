"""Read-only: whatever is pressed, chosen or typed, no call that changes something reaches the host."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, cast

import pytest
from textual.css.query import NoMatches

from dflashtui.cli import main
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.fleet import RealFleet
from dflashtui.paths import shared
from dflashtui.tui.app import DflashApp, Options
from dflashtui.tui.keys import bindings_of
from dflashtui.tui.outline import Outline
from dflashtui.tui.palette import Commands, Offer
from dflashtui.tui.scopes import SCOPES
from dflashtui.tui.screen import MainScreen
from dflashtui.tui.start import now
from tests.faults.marks import fault
from tests.faults.reach import Reach, reach
from tests.faults.starts import PATH, UNIT, counted, text
from tests.tui.fake import settled, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from dflashtui.config.model import Config
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(180)
HOST = "gpu-b"
DEFINED = f"""
[units."{UNIT}"]
hosts = ["{HOST}"]
file = "{UNIT}"
python = "/usr/bin/python3"
[[units."{UNIT}".overlays]]
source = "patches"
package = "only_here"
"""
Verbs = tuple[tuple[str, ...], ...]
REFUSED: Verbs = (("start", UNIT), ("kill", UNIT), ("mask", UNIT), ("push", UNIT), ("overlay", "push", UNIT))
DEPLOYS: Verbs = (("deploy", UNIT), ("deploy", "--rollback", "--no-preflight", "--force", UNIT))
MORE_REFUSED: Verbs = (
    *(("stop", UNIT), ("restart", UNIT), ("reload", UNIT), ("reset-failed", UNIT), ("enable", UNIT), ("disable", UNIT)),
    *(("unmask", UNIT), ("start", "--no-probe", UNIT), ("probe", "--start", UNIT), ("push", "--force", UNIT)),
)
DRY_RUNS: Verbs = (("push", "--dry-run", UNIT), ("deploy", "--dry-run", UNIT), ("overlay", "push", "--dry-run", UNIT))
WAYS_BACK: Verbs = (("rollback", UNIT), ("overlay", "restore", UNIT))
LOOKS: Verbs = (
    *(("--check",), ("logs", "-n", "5", UNIT), ("render", UNIT), ("advise", UNIT), ("diff", UNIT), ("preflight", UNIT)),
    *(("preflight", "--fix", UNIT), ("probe", UNIT), ("smoke", UNIT), ("bench", UNIT), ("overlay", "status", UNIT)),
    *(("rollback", "--list", UNIT), ("compare", HOST, "gpu-c"), ("sync", HOST, "gpu-c", "only_here"), ("diagnose",)),
)
FEWEST_OFFERS = 10
HASTE = ("A", "P", "u", "F", "y", "tab", "enter")
"""What would go on in one of the dialogs."""
LEAVES = frozenset({"q", "ctrl+q", "ctrl+c", "s", "M", "e", "ctrl+z"})
"""Keys that leave the console or lend its terminal to another program."""


@pytest.fixture
def folder(fleet: TestFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An inventory with everything that could be changed, and a way back that could be taken."""
    lines = fleet.config_path.read_text().splitlines()
    kept = [f'units = ["{UNIT}"]' if line.startswith("units = ") else line for line in lines]
    (tmp_path / "hosts.toml").write_text("\n".join(kept) + DEFINED)
    (tmp_path / UNIT).write_text(text("pushed"))
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches/__init__.py").write_text("laid\n")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    package = "/usr/local/lib/python3.11/dist-packages/only_here"
    fleet.write_file(HOST, f"{package}/__init__.py", "own\n")
    yield tmp_path
    fleet.exec(HOST, "rm", "-rf", package)


def require_untouched(seen: Reach) -> None:
    """Nothing that changes anything reached the host, and nothing there has changed."""
    assert seen.commands, "nothing at all reached the host"
    assert seen.changing_calls == []
    assert [one for one in seen.commands if "sudo" in one] == []


@fault(
    "E15",
    how="verbs of the command line with --read-only, dry runs, ways back",
    result="refused with the reason; no call, no file",
)
@fault("E14", how="dry runs of push, deploy and overlays", result="no write, no reload, no job on the host")
def test_no_verb_changes_anything(fleet: TestFleet, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with counted(fleet, HOST) as starts:
        assert main(["push", "-y", UNIT]) == ExitCode.OK  # so that there is a way back, too
        (folder / UNIT).write_text(text("pushed anew"))
        before = fleet.read_file(HOST, PATH)
        capsys.readouterr()
        with reach(fleet, HOST) as seen:
            for verb in (*REFUSED, *DEPLOYS):
                assert main([*verb, "--read-only", "--yes"]) == ExitCode.FAILED, verb
                told = "".join(capsys.readouterr())
                assert "read-only" in told, (verb, told)
            for verb in (*DRY_RUNS, *WAYS_BACK):
                main([*verb, "--read-only", "--yes"])
            changed = seen.changed_files
        require_untouched(seen)
        assert changed == []
        assert fleet.read_file(HOST, PATH) == before
        assert starts.count == 0
    audited = folder / "state/dflashtui/audit.jsonl"
    assert [json.loads(line)["action"] for line in audited.read_text().splitlines()] == ["push"]


@pytest.mark.long
@pytest.mark.timeout(120)
@fault("E15", how="every other verb, read-only", result="not one changing call, not one file, not even a cache")
def test_no_look_changes_anything(fleet: TestFleet, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with counted(fleet, HOST) as starts:
        with reach(fleet, HOST) as seen:
            for verb in MORE_REFUSED:
                assert main([*verb, "--read-only", "--yes"]) == ExitCode.FAILED, verb
            for verb in LOOKS:
                main([*verb, "--read-only"])
            changed = seen.changed_files
        require_untouched(seen)
        assert (changed, starts.count) == ([], 0)


@pytest.mark.long
@pytest.mark.timeout(300)
@fault("E15", how="every palette entry and every key of every view and dialog, read-only", result="not one call")
async def test_no_key_anywhere_changes_anything(fleet: TestFleet, folder: Path) -> None:
    await require_harmless(fleet, folder, palette="23456", keys="23456")


async def require_harmless(fleet: TestFleet, folder: Path, *, palette: str, keys: str) -> None:
    """Run the entries of the palette in some views, and press all keys in some; nothing may come of it."""
    config = load(folder / "hosts.toml")
    only = config.model_copy(update={"hosts": (config.host(HOST),)})
    options = Options(read_only=True, theme_folders=(shared("themes"),))
    with counted(fleet, HOST) as starts:
        with reach(fleet, HOST) as seen:
            await use(only, options, palette, keys)
            changed = seen.changed_files
        require_untouched(seen)
        assert (changed, starts.count) == ([], 0)
    assert not (folder / "state/dflashtui/audit.jsonl").exists()


async def use(only: Config, options: Options, palette: str, keys: str) -> None:
    """A console on a real host, in hasty hands."""
    app = DflashApp(Outline((HOST,)), lambda: (only, RealFleet(only, opener())), options, now)
    async with app.run_test(size=(140, 44), notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: bool(main_screen(app).fleet.snapshot(HOST).units), "the units were not read")
        for view in palette:
            await run_the_palette(pilot, app, view)
        for view in keys:
            await press_everything(pilot, app, view)


def main_screen(app: DflashApp) -> MainScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, MainScreen))


async def back(pilot: Pilot[int], app: DflashApp) -> None:
    """To the main screen, whatever is on it."""
    while app.screen is not main_screen(app):
        await pilot.press("escape")


async def press_everything(pilot: Pilot[int], app: DflashApp, view: str) -> None:
    """Every key that is bound anywhere, and what a hasty person types next."""
    bound = {key for scope in SCOPES for keys in bindings_of(scope).values() for key in keys}
    for key in sorted({*bound, "delete"} - LEAVES - {"escape", *"123456"}):
        await back(pilot, app)
        await pilot.press(view, key)
        if app.screen is not main_screen(app):
            await pilot.press(*HASTE)


async def run_the_palette(pilot: Pilot[int], app: DflashApp, view: str) -> None:
    """Every entry that is offered in a view, but those that leave, and what a hasty person types next."""
    while len(offers(app)) < FEWEST_OFFERS:  # what was chosen last may still open a screen
        await back(pilot, app)
        await pilot.press(view)
    for offer in offers(app):
        await back(pilot, app)
        await pilot.press(view)
        try:
            await cast("Awaitable[object]", offer.run())
        except NoMatches:
            continue  # its pane is gone by now
        if app.screen is not main_screen(app):
            await pilot.press(*HASTE)


def offers(app: DflashApp) -> list[Offer]:
    """What the palette has."""
    found = Commands(main_screen(app))._offers()
    return [one for one in found if not one.words.startswith("theme ") and not LEAVES & set(one.words.split())]
