"""Log panes on the main screen: moments, holes, runs, merged logs, searches at the host."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.ops.runs import EXITED, FAILED, STARTED
from dflashtui.transport.base import Completed
from dflashtui.tui.journal import runs
from tests.tui.fake import console
from tests.tui.log_items import START, entry, numbered, page_of
from tests.tui.stage import LIVE, READY, host, unit

if TYPE_CHECKING:
    import pytest

    from dflashtui.model.journal import JournalEntry, JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.tui.log.widget import LogPane
    from tests.tui.fake import Console, FakeFleet

KEYS = {" ": "space", ":": "colon", "-": "minus"}


class SlowSearch:
    """A host that looks through its journal for ever; what is asked without a pattern is answered."""

    def __init__(self, fleet: FakeFleet) -> None:
        self._answer = fleet.journal_page
        self.ended = False

    async def page(self, host: str, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        if not query.grep:
            return await self._answer(host, unit, query)
        try:
            return await asyncio.Future()
        finally:
            self.ended = True


async def type_in(there: Console, key: str, words: str) -> None:
    await there.press(key, *(KEYS.get(char, char) for char in words), "enter")


async def at_log(there: Console) -> LogPane:
    """The log of the first service, with the keys."""
    await there.press("5")
    await there.until(lambda: there.screen.log_pane is not None and bool(there.screen.log_pane.unit))
    await there.press("tab")
    pane = there.screen.log_pane
    assert pane is not None
    return pane


async def test_a_moment_is_fetched_from_the_host_and_from_there_one_scrolls_to_the_present() -> None:
    async with console(LIVE) as there:
        there.fleet.journal = numbered(3000)
        pane = await at_log(there)
        await there.sees("line 2999")
        at = START.astimezone() + timedelta(seconds=1000)
        await type_in(there, "at", f"{at:%Y-%m-%d %H:%M:%S}")
        await there.sees("line 1000", "paused")
        assert not pane.is_following
        await there.press("G")
        await there.sees("line 2999", "following")
        boot = f"0 {'a' * 32} Tue 2026-12-01 03:01:00 UTC Tue 2026-12-01 03:50:00 UTC\n"
        there.fleet.answers["env"] = Completed("h-live", ("env",), 0, boot.encode(), b"")
        await there.press("b")
        await there.sees("boots of h-live", "this one, 49m")
        await there.press("0")
        await there.sees("line 60", "paused")
        await type_in(there, "at", "nonsense")
        await there.sees("is no time; expected 12:04")


async def test_the_search_goes_on_at_the_host_and_says_when_there_is_nothing() -> None:
    async with console(LIVE) as there:
        there.fleet.journal = (entry(0, "the needle"), *numbered(2000, first=1))
        await at_log(there)
        await there.sees("line 2000")
        await type_in(there, "slash", "needle")
        await there.sees("0 matches")
        await there.press("S")
        await there.sees("the needle")
        await there.press("escape")
        await type_in(there, "slash", "nowhere")
        await there.press("S")
        await there.sees("no older line")


async def test_a_search_at_the_host_is_cancelled_by_a_key_and_the_pane_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(LIVE) as there:
        there.fleet.journal = (entry(0, "the needle"), *numbered(400, first=1))
        pane = await at_log(there)
        await there.sees("line 400")
        await type_in(there, "slash", "needle")
        slow = SlowSearch(there.fleet)
        monkeypatch.setattr(there.fleet, "journal_page", slow.page)
        await there.press("S")
        await there.sees("escape cancels · searching back")
        assert not slow.ended
        await there.press("escape")
        await there.until(lambda: slow.ended and not pane.progress)
        await there.sees("the search at the host was cancelled", "line 400", "0 matches")
        monkeypatch.undo()
        await there.press("S")
        await there.sees("the needle", "paused")


async def test_a_search_of_merged_logs_goes_on_at_every_host(monkeypatch: pytest.MonkeyPatch) -> None:
    other = host("h-other", units=(READY,))
    async with console(LIVE, other) as there:
        there.fleet.journal = numbered(400)
        journals = {"h-other": (entry(0, "the needle"), *numbered(400, first=1)), "h-live": numbered(400)}

        async def page(name: str, _unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
            return page_of(journals[name], query)

        monkeypatch.setattr(there.fleet, "journal_page", page)
        await there.press("3", "slash", *"sglang", "enter", "space", "space", "l")
        await there.sees("log sglang-a on 2 hosts", "line 399")
        await there.press("tab")
        await type_in(there, "slash", "needle")
        await there.press("S")
        await there.sees("the needle")
        await there.press("escape")
        await type_in(there, "slash", "nowhere")
        await there.press("S")
        await there.sees("no older line of")


def of_run(run: str, start: int, *messages: str) -> tuple[JournalEntry, ...]:
    mark = {"message_id": STARTED, "invocation_id": run * 32}
    lines = (entry(start + place, text, pid=ord(run)) for place, text in enumerate(messages, 1))
    begin = entry(start, "Started x.", from_manager=True).model_copy(update=mark)
    return (begin, *(line.model_copy(update={"invocation_id": run * 32}) for line in lines))


def ended(run: str, at: int) -> tuple[JournalEntry, ...]:
    words = {EXITED: "Main process exited, code=exited, status=1/FAILURE", FAILED: "Failed with result 'exit-code'."}
    return tuple(
        entry(at, text, from_manager=True).model_copy(update={"message_id": mark, "invocation_id": run * 32})
        for mark, text in words.items()
    )


async def test_runs_are_listed_and_two_are_compared() -> None:
    async with console(LIVE) as there:
        good = of_run("a", 0, "load 1/4", "ready in 4 s")
        bad = of_run("b", 100, "load 3/4", "ERROR: port 30001 is taken")
        there.fleet.journal = tuple(
            one.model_copy(update={"cursor": f"i={place}"}) for place, one in enumerate((*good, *bad, *ended("b", 105)))
        )
        await at_log(there)
        await there.sees("is taken")
        await there.press("r")
        await there.sees("runs of sglang-a@h-live", "exit-code (exited 1/FAILURE)")
        await there.press("1")
        await there.sees("the last good one")
        await there.press("c")
        await there.sees("where they part", "ERROR: port 30001 is taken", "ready in 4 s")
        await there.press("escape", "r")
        await there.sees("runs of")
        await there.press("2")
        await there.sees("the log of this run")
        await there.press("s")
        await there.sees("run of")
        await there.until(lambda: "is taken" not in there.text)


async def test_long_runs_are_compared_from_their_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "RUN_LINES", 4)
    async with console(LIVE) as there:
        same = [f"step {word}" for word in "abcdefgh"]
        whole = (*of_run("a", 0, "cache found", *same), *of_run("b", 100, "cache is empty", *same))
        there.fleet.journal = tuple(one.model_copy(update={"cursor": f"i={at}"}) for at, one in enumerate(whole))
        await at_log(there)
        await there.sees("step h")
        await there.press("r")
        await there.sees("runs of", "its end was not told")
        await there.press("1")
        await there.sees("compare")
        await there.press("c")
        await there.sees("where they part", "this  cache is empty", "other cache found", "the first 4 lines")


async def test_marked_units_are_one_stream_with_the_hosts_in_a_column_and_their_clocks_said() -> None:
    other = host("h-other", units=(READY, unit("y.service")), clock_skew_seconds=3.2)
    async with console(LIVE, other) as there:
        there.fleet.journal = numbered(20)
        await there.press("3", "slash", *"sglang", "enter", "space", "space", "l")
        await there.sees(
            "log sglang-a on 2 hosts", "h-other line 19", "h-live  line 19", "clocks apart: h-other +3.2 s"
        )
        await there.press("tab", "K")
        await there.sees("+ kernel")
        await there.press("K")
        await there.until(lambda: "+ kernel" not in there.text)


async def test_one_process_is_chosen_fields_are_masked_and_filters_are_saved_by_name() -> None:
    async with console(LIVE) as there:
        there.fleet.journal = (entry(0, "[2026-12-01 03:00:00 TP0] zero"), entry(1, "[2026-12-01 03:00:00 TP1] one"))
        pane = await at_log(there)
        await there.sees("TP1] one")
        await there.press("o")
        await there.sees("only the lines of", "TP0")
        await there.press("1")
        await there.sees("only TP0", "1 hidden")
        await there.press("o")
        await type_in(there, "ampersand", "zero")
        await type_in(there, "ampersand", "TP")
        await type_in(there, "colon", "filter save mine")
        await there.press("escape", "escape")
        assert pane.patterns == ()
        await type_in(there, "colon", "filter mine")
        await there.until(lambda: pane.patterns == ("zero", "TP"))
        await there.press("enter")
        await there.sees("journal entry")
        await there.press("right_square_bracket")
        await there.sees("as it was", "serve --api-key ***")
