"""Details, copy, help, palette, command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import ConfigError
from dflashtui.model.journal import JournalEntry
from dflashtui.tui.dialogs.text import TextScreen
from tests.tui.fake import FakeFleet, app_on, console, settled
from tests.tui.stage import HOSTKEY, LIVE, LOST_GPU, NOW, READY, config_of

if TYPE_CHECKING:
    from pathlib import Path

LINES = tuple(
    JournalEntry(cursor=f"c{number}", at=NOW, message=f"line {number}", unit=READY.name) for number in range(3)
)


async def test_details_have_properties_and_the_unit_file() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "d")
        await c.sees("sglang-a on h-live", "overview", "main pid")
        await c.press("right_square_bracket")
        await c.sees("RequiredBy", "gateway.service")
        await c.press("right_square_bracket")
        await c.sees("ExecStart=/usr/bin/serve [/x]")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)


async def test_a_unit_file_that_cannot_be_read_says_why() -> None:
    async with console(LIVE) as c:
        c.fleet.fails = {READY.name}
        await c.press("enter", "y")
        await c.sees("No files found.")


async def test_copy_says_what_and_how_much() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "c")
        await c.sees("copy from sglang-a on h-live", "unit path", "/etc/systemd/system/sglang-a.service")
        await c.press("p")
        await c.sees("copied 36 characters")
        assert c.app.clipboard == "/etc/systemd/system/sglang-a.service"


async def test_the_line_for_known_hosts_can_be_copied() -> None:
    async with console(HOSTKEY) as c:
        await c.press("c", "l")
        await c.until(lambda: c.app.clipboard == HOSTKEY.link.known_hosts_line)


async def test_help_shows_the_keys_of_the_pane_then_all_then_the_signs() -> None:
    async with console(LIVE) as c:
        await c.press("question_mark")
        await c.sees("keys that work now", "Mark this row and step down")
        await c.press("right_square_bracket")
        await c.sees("everywhere, and on rows")
        await c.press("right_square_bracket")
        await c.sees("restarted again and again")


async def test_the_palette_offers_what_works_with_its_key() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "ctrl+p", *"restart")
        await c.sees("Restart the unit; asks first   R")


async def test_the_palette_of_a_read_only_console_offers_no_change() -> None:
    async with console(LIVE, read_only=True) as c:
        await c.press("enter", "ctrl+p", *"unit")
        await c.sees("unit sglang-a on h-live")
        assert "Restart the unit" not in c.text


async def test_the_command_line_completes_and_goes() -> None:
    async with console(LIVE, LOST_GPU) as c:
        await c.press("colon", *"host h-lo")
        await c.sees(":host h-lo")
        await c.press("tab", "enter")
        await c.sees("host h-lostgpu")


async def test_the_command_line_says_what_it_does_not_know() -> None:
    async with console(LIVE) as c:
        await c.press("colon", *"hots x", "enter")
        await c.sees("no command 'hots'; did you mean host?")


async def test_the_log_is_saved_and_never_overwrites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "x.log"
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("line 2")
        await c.press("colon", *"w x.log", "enter")
        await c.until(target.exists)
        assert "line 1" in target.read_text()
        target.write_text("kept")
        await c.press("colon", *"w x.log", "enter")
        await c.sees("File exists")
        assert target.read_text() == "kept"


async def test_the_log_follows_the_row() -> None:
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("log sglang-a@h-live", "line 2")
        await c.press("down")
        await c.sees("log vllm-b@h-live")


@pytest.mark.parametrize("theme", ["dflash-light", "high-contrast", "colour-blind", "ansi16"])
async def test_every_theme_can_be_used(theme: str) -> None:
    async with console(LIVE, LOST_GPU) as c:
        await c.press("colon", *f"theme {theme}", "enter")
        await c.until(lambda: c.app.theme == theme)
        for view in "123456":
            await c.press(view)
        await c.press("question_mark")
        await c.until(lambda: isinstance(c.app.screen, TextScreen))


async def test_two_actions_on_one_key_end_the_start_and_name_both() -> None:
    config = config_of(LIVE)
    clash = config.model_copy(update={"console": config.console.model_copy(update={"keymap": {"unit.restart": "a"}})})
    app = app_on(FakeFleet(LIVE), config=clash)
    async with app.run_test() as pilot:
        while app.failure is None:
            await pilot.pause(0.01)
    assert isinstance(app.failure, ConfigError)
    assert "'row.actions'" in str(app.failure)
    assert "'unit.restart'" in str(app.failure)


async def test_a_key_that_was_changed_works_and_is_shown() -> None:
    config = config_of(LIVE)
    other = config.model_copy(update={"console": config.console.model_copy(update={"keymap": {"unit.restart": "f8"}})})
    async with console(LIVE, config=other) as c:
        await c.press("enter")
        await c.sees("f8 restart")
        await c.press("f8")
        await c.sees("systemctl restart sglang-a.service")


async def test_an_unknown_theme_and_a_broken_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text('[colors]\nprimary = "nope"\n')
    app = app_on(FakeFleet(LIVE), theme="odd")
    app.options = app.options._replace(theme_folders=(tmp_path,))
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await settled(pilot)
        assert any("is not a colour" in event.message for event in app.screen.feed.picture(NOW).events)  # type: ignore[attr-defined]
