from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.errors import DecodeError
from dflashtui.model.journal import JournalEntry, JournalGap, Priority
from dflashtui.source.journal_entry import WITHHELD, decode, decode_entry
from tests.faults.marks import fault

RECORDED = Path(__file__).parent.parent / "data" / "journal" / "252"
UNIT = "counter.service"
BASE = {
    "__CURSOR": "s=5fce;i=93;b=c840;m=bdf0;t=6618b11415c54;x=8f01",
    "__REALTIME_TIMESTAMP": "1796099778108500",
    "__MONOTONIC_TIMESTAMP": "3186630119",
    "_BOOT_ID": "c8401ef357b34d258f2445f617505b4f",
    "_SYSTEMD_UNIT": UNIT,
    "_UID": "0",
    "_PID": "64",
    "_TRANSPORT": "stdout",
    "PRIORITY": "6",
    "MESSAGE": "line 55",
}


def line(**fields: Any) -> bytes:  # noqa: ANN401 - whatever JSON can hold
    return json.dumps(BASE | fields).encode()


def without(*names: str) -> bytes:
    return json.dumps({name: value for name, value in BASE.items() if name not in names}).encode()


def entry(data: bytes, *units: str, manager: Any = "system") -> JournalEntry:  # noqa: ANN401 - a literal
    item = decode(data, units, manager)
    assert isinstance(item, JournalEntry)
    return item


def recorded(name: str) -> list[bytes]:
    return (RECORDED / name).read_bytes().splitlines()


def test_an_ordinary_line() -> None:
    found = entry(line())
    assert (found.message, found.unit, found.pid, found.priority) == ("line 55", UNIT, 64, Priority.INFO)
    assert found.at.isoformat() == "2026-12-01T04:36:18.108500+00:00"
    assert found.monotonic_usec == 3186630119
    assert not found.from_manager


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", ""),
        ([98, 97, 100, 255], "bad\\xff"),
        ([27, 91, 49, 109], "\x1b[1m"),
        (["first", "second"], "first\nsecond"),
        (["first", [255, 0]], "first\n\\xff\x00"),
        ([[255], [254]], "\\xff\n\\xfe"),
        (None, WITHHELD),
    ],
)
def test_every_form_of_message(message: object, text: str) -> None:
    assert entry(line(MESSAGE=message)).message == text


def test_no_message_at_all_is_empty() -> None:
    assert entry(without("MESSAGE")).message == ""


@pytest.mark.parametrize("priority", ["99", "-1", "", "7x", ["3", "4"], None, [51]])
def test_an_odd_priority_never_loses_the_line(priority: object) -> None:
    assert entry(line(PRIORITY=priority)).message == "line 55"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"rubbish", b"{", b"[]", b"null", b'"text"', b"{}", b"-- No entries --", b'{"__CURSOR":"x"}',
        line(__CURSOR=""), line(__CURSOR="x" * 2000), line(__CURSOR=7), line(__REALTIME_TIMESTAMP="soon"),
        line(__REALTIME_TIMESTAMP="9" * 30), line(__REALTIME_TIMESTAMP=None), line(MESSAGE=7), line(MESSAGE=[300]),
        line(MESSAGE={"a": 1}), line(MESSAGE=[True, {}]), b"[" * 100_000, b'{"a":' * 100_000,
        b'{"a":' + b"9" * 100_000 + b"}", line()[:-1], line() + b"x", b'{"__CURSOR":"\xff"}',
    ],
)  # fmt: skip
def test_rubbish_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(data)


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    try:
        decode(data, (UNIT,))
    except DecodeError:
        return


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*BASE, "UNIT", "MESSAGE_ID", "N_DROPPED", "_COMM"]), JSON_VALUES))
def test_no_document_raises_anything_else(fields: dict[str, Any]) -> None:
    for manager in ("system", "user"):
        try:
            decode(line(**fields), (UNIT,), manager)
        except DecodeError:
            continue


@given(st.binary(min_size=1))
def test_every_byte_of_a_binary_message_stays_visible(message: bytes) -> None:
    assert entry(line(MESSAGE=list(message))).message == message.decode("utf-8", "backslashreplace")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_comes_as_it_was_written(message: str) -> None:
    assert entry(line(MESSAGE=message)).message == message


def test_the_manager_is_believed_about_a_unit() -> None:
    found = entry(line(_PID="1", _SYSTEMD_UNIT="init.scope", UNIT=UNIT, INVOCATION_ID="ab" * 16, MESSAGE_ID="c" * 32))
    assert (found.unit, found.from_manager, found.invocation_id) == (UNIT, True, "ab" * 16)


@fault("D9", how="forged unit fields", result="not believed")
def test_nobody_else_is_believed_about_a_unit() -> None:
    forged = line(_UID="65534", _SYSTEMD_UNIT="cron.service", UNIT=UNIT, OBJECT_SYSTEMD_UNIT=UNIT, INVOCATION_ID="0")
    found = entry(forged, UNIT)
    assert (found.unit, found.from_manager, found.invocation_id) == ("cron.service", False, None)


def test_root_is_believed_about_another_unit() -> None:
    assert entry(line(_SYSTEMD_UNIT="x.service", OBJECT_SYSTEMD_UNIT=UNIT)).unit == UNIT


def test_of_two_units_the_watched_one_is_named() -> None:
    both = line(_SYSTEMD_UNIT="x.service", OBJECT_SYSTEMD_UNIT=UNIT)
    assert entry(both, "x.service").unit == "x.service"


def test_a_core_dump_belongs_to_the_unit_that_crashed() -> None:
    found = entry(line(MESSAGE_ID="fc2e22bc6ee647b6b90729ab34a250b1", COREDUMP_UNIT=UNIT, _SYSTEMD_UNIT="x.service"))
    assert found.unit == UNIT


def test_a_user_service_cannot_speak_for_its_manager() -> None:
    own = {"_UID": "1000", "_SYSTEMD_UNIT": "user@1000.service", "USER_UNIT": UNIT}
    assert entry(line(**own, _SYSTEMD_USER_UNIT="init.scope"), manager="user").unit == UNIT
    forged = entry(line(**own, _SYSTEMD_USER_UNIT="x.service"), UNIT, manager="user")
    assert (forged.unit, forged.from_manager) == ("x.service", False)


def test_recorded_suppression_is_a_gap_of_its_unit() -> None:
    (gap,) = map(decode, recorded("suppressed.json"))
    assert isinstance(gap, JournalGap)
    assert gap.unit == "worker@suppressed.service"
    assert gap.entries_lost == 435
    assert gap.text == "journald suppressed 435 messages (its rate limit)"
    assert gap.cursor


def test_recorded_start_of_journald_is_a_gap_of_all() -> None:
    gaps = [decode(data) for data in recorded("journald.json")]
    assert [type(gap) for gap in gaps] == [JournalGap]
    assert gaps[0].unit is None


def test_recorded_forgeries_are_ordinary_lines() -> None:
    forged = [entry(data, UNIT) for data in recorded("forged.json")]
    assert [found.message for found in forged[:7]] == [
        "Started fake.", "first\nsecond", "first\n\\xff\x00", "", "", "wrong priority", "suppressed? no",
    ]  # fmt: skip
    assert forged[7].message == "y" * 5000
    assert {found.unit for found in forged} == {None}
    assert not any(found.from_manager for found in forged)


def test_recorded_without_all_says_what_is_missing() -> None:
    assert [entry(data).message for data in recorded("without-all.json")] == [WITHHELD]


def test_recorded_failure_of_a_unit() -> None:
    unit = "sglang-import-error.service"
    found = [entry(data, unit) for data in recorded("failed-unit.json")]
    assert {one.unit for one in found} == {unit}
    assert any("ModuleNotFoundError" in one.message or "ImportError" in one.message for one in found)
    assert [one.message for one in found if one.from_manager][-1] == f"{unit}: Failed with result 'exit-code'."


def test_recorded_user_manager() -> None:
    found = [entry(data, "user-counter.service", manager="user") for data in recorded("user-manager.json")]
    assert {one.unit for one in found} == {"user-counter.service"}
    assert [one.from_manager for one in found] == [True] * 4 + [False] * 3


def test_the_place_of_any_entry_can_be_read() -> None:
    suppressed = recorded("suppressed.json")[0]
    assert decode_entry(suppressed).cursor == decode(suppressed).cursor
