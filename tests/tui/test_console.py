"""Moving about in the console: views, panes, cursor, filter, marks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.tui.subject import host_subject, unit_subject
from tests.faults.marks import fault
from tests.tui.fake import console
from tests.tui.stage import (
    ALL,
    FAILED,
    HOSTKEY,
    LIVE,
    LOADING,
    LOST,
    NOW,
    READY,
    STOPPED,
    WITH_FAILURE,
    config_of,
    host,
    unit,
)


async def test_fleet_is_drawn_from_the_inventory_and_then_from_the_hosts() -> None:
    async with console(*ALL) as c:
        await c.sees(
            "h-connecting", "handshake 7s", "no contact 3m05s", "login refused", "host key unknown", "9 hosts"[2:]
        )


async def test_numbers_show_the_views_and_minus_goes_back() -> None:
    async with console(LIVE) as c:
        for key, word in (("3", "services"), ("4", "gpus"), ("5", "logs"), ("6", "events"), ("2", "host")):
            await c.press(key)
            await c.until(lambda word=word: c.screen.way.here.view == word)  # type: ignore[misc]
        await c.press("minus")
        await c.until(lambda: c.screen.way.here.view == "events")
        await c.press("minus")
        await c.until(lambda: c.screen.way.here.view == "host")


async def test_enter_goes_in_and_escape_comes_back_to_the_same_row() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.press("down", "enter")
        await c.sees("host h-failed", "broken")
        await c.press("escape")
        await c.until(lambda: c.screen.way.here.view == "fleet" and c.screen.subject == host_subject("h-failed"))


async def test_a_problem_leads_to_its_unit() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.press("tab")
        await c.until(lambda: c.screen.subject == unit_subject("h-failed", FAILED.name))
        await c.press("enter")
        await c.until(
            lambda: c.screen.way.here.view == "host" and c.screen.subject == unit_subject("h-failed", FAILED.name)
        )


async def test_an_event_leads_to_its_unit() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        event = Event(
            at=NOW, kind=EventKind.UNIT, severity=Severity.BAD, host="h-failed", unit=FAILED.name, message="failed"
        )
        c.fleet.post(WITH_FAILURE, event)
        await c.press("6")
        await c.sees("events 1")
        await c.press("enter")
        await c.until(
            lambda: c.screen.way.here.view == "host" and c.screen.subject == unit_subject("h-failed", FAILED.name)
        )


async def test_cursor_stays_on_its_row_when_rows_come_and_go() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "down")
        await c.until(lambda: c.screen.subject == unit_subject("h-live", LOADING.name))
        c.fleet.post(LIVE.model_copy(update={"units": (FAILED, STOPPED, READY, LOADING)}))
        await c.sees("units 4")
        assert c.screen.subject == unit_subject("h-live", LOADING.name)


async def test_cursor_stays_on_its_row_when_it_is_sorted_and_filtered() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.press("3", "down")
        await c.until(lambda: c.screen.subject == unit_subject("h-live", LOADING.name))
        await c.press("o", "n")
        await c.sees("by unit")
        await c.press("O")
        assert c.screen.subject == unit_subject("h-live", LOADING.name)
        await c.press("slash", "v", "l", "l", "m", "enter")
        await c.sees("/vllm", "1/5")
        assert c.screen.subject == unit_subject("h-live", LOADING.name)


async def test_escape_clears_marks_then_filter_then_goes_up() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "slash", "s", "e", "r", "v", "enter", "space")
        await c.sees("1 marked", "/serv")
        await c.press("escape")
        await c.until(lambda: "marked" not in c.text and "/serv" in c.text)
        await c.press("escape")
        await c.until(lambda: "/serv" not in c.text and c.screen.way.here.view == "host")
        await c.press("escape")
        await c.until(lambda: c.screen.way.here.view == "fleet")


async def test_a_filter_that_matches_nothing_says_so() -> None:
    async with console(LIVE) as c:
        await c.press("slash", "n", "o", "p", "e")
        await c.sees("0 of 1 match /nope – escape clears")
        await c.press("escape")
        await c.until(lambda: "h-live" in c.text and "/nope" not in c.text)


async def test_keys_that_are_typed_into_a_filter_do_nothing_else() -> None:
    async with console(LIVE) as c:
        await c.press("slash", "q", "2", "Z")
        await c.sees("/q2Z")
        assert c.screen.way.here.view == "fleet"
        assert c.screen.frozen_since is None


async def test_only_problems() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.press("exclamation_mark")
        await c.sees("problems only", "hosts 1/2")
        await c.press("exclamation_mark")
        await c.sees("hosts 2")


async def test_freeze_keeps_the_picture_and_says_since_when() -> None:
    async with console(LIVE) as c:
        await c.press("Z")
        await c.sees("FROZEN since 03:00:00")
        c.fleet.post(LIVE.model_copy(update={"units": (FAILED,)}))
        await c.until(lambda: c.screen.newest.hosts[0].units == (FAILED,))
        c.screen.draw()
        await c.pilot.pause()
        assert "starts again" not in c.text
        assert "0 alarms" not in c.text
        assert "1 alarm" not in c.text
        await c.press("Z")
        await c.sees("1 alarm")


async def test_read_now_asks_the_host_in_view() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.press("enter", "ctrl+r")
        await c.until(lambda: c.fleet.refreshed == ["h-live"])
        assert c.fleet.looked_at == ("h-live",)


async def test_groups_close_and_a_problem_opens_one_once() -> None:
    other = host("h-other", group="prod")
    async with console(LIVE, other) as c:
        await c.press("up", "enter")
        await c.until(lambda: "h-live" not in c.text)
        broken = LIVE.model_copy(update={"units": (FAILED,)})
        c.screen.list_pane.rows.listing.opened_once.clear()  # type: ignore[union-attr]
        c.fleet.post(broken)
        await c.sees("h-live")
        await c.press("enter")
        await c.until(lambda: "h-live   " not in c.text.split("problems")[0])
        c.fleet.post(broken.model_copy(update={"observed_at": NOW}))
        await c.until(lambda: c.screen.newest.hosts[0].observed_at == NOW)
        c.screen.draw()
        await c.pilot.pause()
        assert "h-live" not in c.text.split("problems")[0]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((200, 50), ("units 3", "GPUs 8", "log sglang-a@h-live", "details")),
        ((140, 40), ("units 3", "GPUs 8", "log sglang-a@h-live", "details")),
        ((80, 24), ("units 3", "GPUs", "log sglang-a@h-live")),
        ((60, 20), ("units 3",)),
        ((50, 14), ("sglang-a",)),
    ],
)
@fault("H3", how="40 to 300 columns", result="readable, nothing overlaps")
async def test_host_view_at_every_size(size: tuple[int, int], words: tuple[str, ...]) -> None:
    async with console(LIVE, size=size) as c:
        await c.press("enter")
        await c.sees(*words)
        assert all(len(line) <= size[0] for line in c.text.splitlines())


@fault("H3", how="terminals that are too small", result="one sentence")
async def test_too_small_is_one_sentence() -> None:
    async with console(LIVE, size=(39, 7)) as c:
        await c.sees("39×7 is too small: 40×8 is needed;")


async def test_resizing_keeps_cursor_and_filter() -> None:
    async with console(LIVE) as c:
        await c.press("enter", "slash", "i", "c", "e", "enter", "down")
        subject = c.screen.subject
        await c.pilot.resize_terminal(70, 20)
        await c.sees("/ice")
        await c.pilot.resize_terminal(180, 50)
        await c.sees("/ice", "log ")
        assert c.screen.subject == subject


async def test_tab_goes_round_the_panes_that_can_be_seen() -> None:
    async with console(LIVE, size=(90, 30)) as c:
        await c.press("enter")
        await c.sees("units 3")
        seen = []
        for _ in range(3):
            seen.append(c.screen.view.current_pane.id)  # type: ignore[union-attr]
            await c.press("tab")
        assert seen == ["units", "gpus", "log"]
        assert c.screen.view.current_pane.id == "units"  # type: ignore[union-attr]


async def test_footer_names_only_keys_that_work() -> None:
    async with console(LIVE) as c:
        await c.press("enter")
        await c.sees("R restart", "a actions")
        await c.press("down", "down")
        await c.until(lambda: "R restart" not in c.text and "a actions" in c.text)


async def test_header_counts() -> None:
    async with console(LIVE, WITH_FAILURE) as c:
        await c.sees("hosts 2/2 up", "services 2/4 ready", "GPUs 16/16 in use")


async def test_old_values_are_dimmed_and_say_their_age() -> None:
    old = LIVE.model_copy(update={"observed_at": NOW - timedelta(seconds=45)})
    async with console(old) as c:
        await c.sees("45s")
        row = c.screen.row
        assert row is not None
        assert {tone for _, tone in row.cells[5]} == {"stale"}


async def test_quit_from_the_top_closes_the_fleet() -> None:
    async with console(LIVE) as c:
        fleet = c.fleet
        await c.press("q")
        await c.until(lambda: c.app.return_code is not None or not fleet.is_open)


async def test_without_an_inventory_the_first_steps_are_told() -> None:
    async with console(LIVE, config=config_of(LIVE).model_copy(update={"path": None})) as c:
        await c.sees("no hosts.toml was found: this machine alone is watched", "[hosts.my-gpu-box]")


async def test_scrolling_with_the_wheel_is_not_undone_by_new_values() -> None:
    units = tuple(unit(f"u{number:02}.service") for number in range(60))
    many = host("h-live", units=units)
    async with console(many) as c:
        await c.press("3")
        await c.sees("units 60")
        rows = c.screen.list_pane.rows  # type: ignore[union-attr]
        rows.scroll_to(y=20, animate=False, force=True, immediate=True)
        c.fleet.post(many.model_copy(update={"units": (*units[:-1], FAILED)}))
        await c.sees("1 alarm")
        assert rows.scroll_offset.y == 20


async def test_a_host_that_was_never_reached_can_still_be_copied_from() -> None:
    async with console(HOSTKEY) as c:
        await c.press("enter")
        await c.sees("host key unknown", "offered key", "c copy")
        await c.press("c", "l")
        await c.until(lambda: c.app.clipboard == HOSTKEY.link.known_hosts_line)


async def test_the_log_says_when_its_host_cannot_be_reached() -> None:
    async with console(LOST) as c:
        await c.press("enter")
        await c.sees("log sglang-a@h-lost", "no contact 3m05s")
