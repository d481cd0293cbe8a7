"""What becomes of single lines: levels, colours, folding, blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.journal import Priority
from dflashtui.text import printable
from dflashtui.tui.log.buffer import LIVE_LIMIT, PAUSED_LIMIT, Buffer
from dflashtui.tui.log.levels import ERROR_HINTS, ERROR_WORDS, WARNING_HINTS, WARNING_WORDS, level_of, next_limit
from dflashtui.tui.log.record import record_of
from dflashtui.tui.log.saving import plain
from dflashtui.tui.log.sgr import Span, parsed
from tests.tui.log_items import TRACEBACK, entries, entry, gap, numbered


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Decode batch, #running-req: 3, gen throughput (token/s): 310.22", Priority.INFO),
        ("Avg prompt throughput: 0.0 tokens/s, error_rate 0, errors: 0", Priority.INFO),
        ("(APIServer pid=1) ERROR 05-12 01:48:42 [file.py:72] it broke", Priority.ERR),
        ("Traceback (most recent call last):", Priority.ERR),
        ("RuntimeError: CUDA error: device-side assert triggered", Priority.ERR),
        ("torch.OutOfMemoryError: CUDA out of memory.", Priority.ERR),
        ("KeyboardInterrupt: ", Priority.ERR),
        ("NVRM: Xid (PCI:0000:00:06): 43, pid=471, name=python3", Priority.ERR),
        ("WARNING 12-01 slow", Priority.WARNING),
        ("site.py:3: DeprecationWarning: the imp module is deprecated", Priority.WARNING),
        ('INFO:     10.1.2.3:5 - "POST /v1/chat/completions HTTP/1.1" 503 Service Unavailable', Priority.WARNING),
        ('INFO:     10.1.2.3:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK', Priority.INFO),
    ],
)
def test_the_text_raises_the_level(text: str, level: Priority) -> None:
    assert level_of(text, Priority.INFO) is level


def test_the_text_never_lowers_the_level() -> None:
    assert level_of("all is well", Priority.CRIT) is Priority.CRIT
    assert level_of("WARNING", Priority.NOTICE) is Priority.WARNING
    assert level_of("WARNING", Priority.WARNING) is Priority.WARNING


@given(st.text(alphabet='ERORWAINGXidCUDAerrorException:%" 5HTP/1.0Tracebkmostenl()fudpj'))
def test_hints_never_hide_what_the_expressions_find(text: str) -> None:
    assert not ERROR_WORDS.search(text) or any(hint in text for hint in ERROR_HINTS)
    assert not WARNING_WORDS.search(text) or any(hint in text for hint in WARNING_HINTS)


def test_levels_cycle_back_to_all() -> None:
    limit, seen = None, []
    for _ in range(5):
        limit = next_limit(limit)
        seen.append(limit)
    assert seen == [Priority.INFO, Priority.NOTICE, Priority.WARNING, Priority.ERR, None]


def test_colours_become_spans_and_everything_else_is_inert() -> None:
    text, spans = parsed("\x1b[1;32mINFO\x1b[0m ok \x1b]0;evil\x07\x1b[2J\x1b[31mred", 100)
    assert text == "INFO ok red"
    assert spans == (Span(0, 4, "bold green"), Span(8, 11, "red"))


@pytest.mark.parametrize("hidden", ["\x1b[8m", "\x1b[30m", "\x1b[40m", "\x1b[38;5;16m", "\x1b[48;2;0;0;0m", "\x1b[5m"])
def test_no_service_can_hide_its_text_or_make_it_blink(hidden: str) -> None:
    assert parsed(f"{hidden}text", 100) == ("text", ())


@given(st.text())
def test_any_text_is_safe_to_print(text: str) -> None:
    record = record_of(0, entry(0, text))
    for line, spans in zip(record.texts, record.spans or [()] * len(record.texts), strict=True):
        assert line == printable(line, limit=10**6)
        assert "\t" not in line
        assert all(0 <= span.start < span.end <= len(line) for span in spans)


def test_of_a_bar_only_the_last_state_is_kept() -> None:
    assert record_of(0, entry(0, "bar:  0%|  | 0/2\rbar: 50%|# | 1/2\rbar: 100%|##| 2/2")).texts == (
        "bar: 100%|##| 2/2",
    )


def test_an_entry_of_many_lines_stays_one_record_with_a_bound() -> None:
    record = record_of(0, entry(0, "\n".join(f"l{number}" for number in range(1000))))
    assert len(record.texts) == 200
    assert record.texts[-1] == "… 801 more lines"


def test_equal_lines_of_one_process_fold() -> None:
    buffer = Buffer()
    buffer.append([*entries(["same"] * 48), entry(48, "same", pid=8), entry(49, "other")])
    assert [(record.texts[0], record.count) for record in buffer.records] == [("same", 48), ("same", 1), ("other", 1)]
    assert buffer.oldest_cursor == "i=0"


def test_states_of_one_progress_bar_fold_to_the_last() -> None:
    bars = [
        f"Loading safetensors checkpoint shards: {done:3d}% Completed | {done // 25}/4" for done in (0, 25, 50, 75, 100)
    ]
    buffer = Buffer()
    buffer.append(entries([*bars, "Load weight end."]))
    assert [record.texts[0] for record in buffer.records] == [bars[-1], "Load weight end."]
    assert buffer.records[0].count == 5


def test_a_traceback_is_one_block_up_to_its_exception() -> None:
    buffer = Buffer()
    buffer.append(entries(["before", *TRACEBACK, "after"]))
    assert [record.is_in_block for record in buffer.records] == [False, True, True, True, True, False]
    assert all(record.is_error for record in buffer.records[1:5])
    assert not buffer.records[5].is_error


def test_another_process_does_not_end_a_block() -> None:
    first, *rest = TRACEBACK
    buffer = Buffer()
    buffer.append([entry(0, first), entry(1, "Decode batch", pid=9), *entries(rest, 2)])
    assert [record.is_in_block for record in buffer.records] == [True, False, True, True, True]


def test_a_block_goes_on_behind_an_engines_prefix() -> None:
    prefix = "(EngineCore pid=7) ERROR 12-01 03:00:01 [core.py:9] "
    buffer = Buffer()
    buffer.append(entries([prefix + line for line in TRACEBACK]))
    assert all(record.is_in_block for record in buffer.records)


def test_the_buffer_is_bounded_at_its_old_end() -> None:
    buffer = Buffer()
    buffer.append(numbered(LIVE_LIMIT + 5))
    assert len(buffer.trim(LIVE_LIMIT)) == 5
    assert buffer.oldest_cursor == "i=5"


def test_older_lines_come_before_and_stay_bounded() -> None:
    buffer = Buffer()
    buffer.append(numbered(3, first=10))
    older = buffer.prepend(numbered(10))
    assert [record.texts[0] for record in older[:2]] == ["line 0", "line 1"]
    seqs = [record.seq for record in buffer.records]
    assert seqs == sorted(set(seqs))
    buffer.prepend(numbered(PAUSED_LIMIT))
    assert buffer.let_go_of_newest(PAUSED_LIMIT)
    assert len(buffer.records) == PAUSED_LIMIT + 1
    assert buffer.records[-1].texts == ("… 13 newer lines not shown · G goes to the newest …",)


def test_lines_that_were_not_drawn_add_up() -> None:
    buffer = Buffer()
    buffer.skip(5000, entry(0, "").at)
    buffer.skip(312, entry(1, "").at)
    assert [record.texts for record in buffer.records] == [("… 5 312 lines not shown …",)]


def test_saved_text_cannot_pretend_to_be_another_entry() -> None:
    record = record_of(0, entry(0, "first\n2026-12-01T03:00:00Z systemd: Stopped"))
    assert plain(record).splitlines() == [
        "2026-12-01T03:00:00.000000Z python: first",
        "    2026-12-01T03:00:00Z systemd: Stopped",
    ]
    assert plain(record_of(0, gap(0))).startswith("2026-12-01T03:00:00.000000Z dflashtui: gap in the journal")


def test_only_the_managers_word_is_a_start() -> None:
    started = {"message_id": "39f53479d3a045ac8e11786248231fbf"}
    buffer = Buffer()
    buffer.append([entry(3, "Started by me").model_copy(update=started)])
    assert buffer.starts == {}
    buffer.append([entry(5, "Started sglang-a.", from_manager=True).model_copy(update=started), *numbered(2, first=6)])
    assert buffer.starts == {"a" * 32: entry(5, "").at}
