"""SVG pictures of every state, at two sizes; `pytest --snapshot-update` after looking at each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.marks import fault
from tests.tui.fake import FakeFleet, app_on, settled, until
from tests.tui.stage import (
    ALL,
    CONNECTING,
    DENIED,
    HOSTKEY,
    LIVE,
    LOST,
    LOST_GPU,
    NO_GPU,
    STALE,
    WITH_FAILURE,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    Compare = Callable[..., bool]

SIZES = {"80x24": (80, 24), "140x40": (140, 40)}
HOSTS = {
    "connecting": CONNECTING,
    "live": LIVE,
    "stale": STALE,
    "lost": LOST,
    "denied": DENIED,
    "hostkey": HOSTKEY,
    "no-gpu": NO_GPU,
    "failed-unit": WITH_FAILURE,
    "lost-gpu": LOST_GPU,
}


def pressed(*keys: str) -> Callable[[Pilot[int]], object]:
    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        screen = pilot.app.screen_stack[1]
        pane = getattr(screen, "log_pane", None)
        subject = getattr(getattr(screen, "view", None), "row", None)
        if pane is not None and subject is not None and subject.kind.value == "unit":
            await until(pilot, lambda: pane.unit == subject.name, "the log was not shown")
            screen.draw()  # type: ignore[attr-defined] # the main screen
        await pilot.pause()

    return before


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("state", HOSTS)
def test_host(snap_compare: Compare, state: str, size: str) -> None:
    app = app_on(FakeFleet(HOSTS[state]))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=pressed("enter"))


@pytest.mark.parametrize("size", SIZES)
def test_fleet(snap_compare: Compare, size: str) -> None:
    assert snap_compare(app_on(FakeFleet(*ALL)), terminal_size=SIZES[size], run_before=pressed())


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("services", ("3",)),
        ("gpus", ("4", "down")),
        ("restart", ("enter", "R")),
        ("actions", ("enter", "a")),
        ("copy", ("enter", "c")),
        ("help", ("question_mark",)),
        ("details", ("enter", "d")),
        ("marks", ("3", "space", "space")),
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_view(snap_compare: Compare, name: str, keys: tuple[str, ...], size: str) -> None:
    app = app_on(FakeFleet(LIVE, WITH_FAILURE))
    assert snap_compare(app, terminal_size=SIZES[size], run_before=pressed(*keys))


@pytest.mark.parametrize("theme", ["dflash-light", "high-contrast", "colour-blind", "ansi16"])
def test_theme(snap_compare: Compare, theme: str) -> None:
    app = app_on(FakeFleet(*ALL), theme=theme)
    assert snap_compare(app, terminal_size=SIZES["140x40"], run_before=pressed())


@fault("H3", how="--ascii", result="every sign has an ASCII form")
def test_ascii(snap_compare: Compare) -> None:
    app = app_on(FakeFleet(*ALL), ascii_only=True)
    assert snap_compare(app, terminal_size=SIZES["140x40"], run_before=pressed())


def test_narrow(snap_compare: Compare) -> None:
    assert snap_compare(app_on(FakeFleet(*ALL)), terminal_size=(60, 20), run_before=pressed())


@fault("H3", how="NO_COLOR", result="readable without colours")
def test_no_colour(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app_on(FakeFleet(*ALL)), terminal_size=SIZES["140x40"], run_before=pressed())
