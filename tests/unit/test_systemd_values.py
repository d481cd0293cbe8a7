import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.errors import DecodeError
from dflashtui.model.unit import ActiveState, LoadState, UnitStatus
from dflashtui.source.systemd_show import blocks, first_words, span_usec, time_usec, typed
from dflashtui.source.systemd_values import PROPERTIES, major_version, unit_status
from tests.faults.marks import fault

DATA = Path(__file__).parent.parent / "data" / "systemd" / "252"


def from_text(file: str = "units.show") -> dict[str, UnitStatus]:
    units = [unit_status(typed(block)) for block in blocks((DATA / file).read_bytes())]
    return {unit.name: unit for unit in units}


def from_bus() -> dict[str, UnitStatus]:
    recorded: dict[str, dict[str, Any]] = json.loads((DATA / "units.bus.json").read_bytes())
    return {name: unit_status({key: plain(value) for key, value in unit.items()}) for name, unit in recorded.items()}


def plain(value: object) -> object:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


@pytest.mark.parametrize("name", json.loads((DATA / "units.bus.json").read_bytes()))
def test_text_and_bus_give_the_same_unit(name: str) -> None:
    assert from_text()[name] == from_bus()[name]


def test_a_running_unit() -> None:
    unit = from_bus()["dft-run.service"]
    assert (unit.load_state, unit.active_state, unit.sub_state) == (LoadState.LOADED, ActiveState.ACTIVE, "running")
    assert unit.aliases == ("dft-alias.service",)
    assert unit.drop_in_paths == ("/etc/systemd/system/dft-run.service.d/10-memory.conf",)
    assert unit.memory_max_bytes == 2 * 2**30
    assert unit.main_pid is not None
    assert unit.invocation_id is not None
    assert len(unit.invocation_id) == 32
    assert unit.exec_main_status is None, "no process has ended yet"
    assert unit.unit_file_state == "enabled"
    assert unit.control_group == "/system.slice/dft-run.service"


@fault("C15", how="[not set], 2**64-1, infinity", result="unknown, never 16 EiB")
def test_unset_and_infinity_are_unknown_not_sixteen_exbibytes() -> None:
    unit = from_text()["dft-failed.service"]
    assert (unit.memory_current_bytes, unit.memory_max_bytes, unit.tasks_current) == (None, None, None)


def test_a_waiting_restart_says_when() -> None:
    unit = from_text()["dft-loop.service"]
    assert unit.since is not None
    assert unit.next_restart_at == unit.since + timedelta(hours=1)
    assert unit.is_looping
    assert from_text()["dft-failed.service"].next_restart_at is None


def test_ends_of_processes() -> None:
    units = from_text()
    assert (units["dft-failed.service"].exec_main_code, units["dft-failed.service"].exec_main_status) == (1, 3)
    assert (units["dft-killed.service"].exec_main_code, units["dft-killed.service"].exec_main_status) == (2, 11)
    assert units["dft-killed.service"].result == "signal"
    assert units["dft-once.service"].exec_main_status == 0
    assert units["dft-once.service"].needs_reload is True


def test_units_that_cannot_be_loaded() -> None:
    units = from_text()
    assert units["dft-nosuch.service"].load_state is LoadState.NOT_FOUND
    assert units["dft-nosuch.service"].load_error == "Unit dft-nosuch.service not found."
    assert units["dft-masked.service"].load_state is LoadState.MASKED
    assert units["dft-bad.service"].load_state is LoadState.BAD_SETTING
    assert units["dft-nosuch.service"].since is None


def test_what_the_service_says_about_itself() -> None:
    assert from_bus()["dft-notify.service"].status_text == "loading 62%"


def test_a_target_has_no_service_properties() -> None:
    unit = from_bus()["multi-user.target"]
    assert (unit.result, unit.n_restarts, unit.main_pid) == (None, None, None)


def test_seconds_have_to_do_on_old_versions() -> None:
    exact, rough = from_text()["dft-run.service"], from_text("seconds.show")["dft-run.service"]
    assert exact.since is not None
    assert rough.since == exact.since.replace(microsecond=0)


@fault("C15", how="unknown words, refreshing", result="no exception; the words as they are")
def test_unknown_words_and_properties_are_accepted() -> None:
    unit = unit_status({"Id": "x.service", "ActiveState": "levitating", "LoadState": "odd", "SubState": "on-air"})
    assert (unit.active_state, unit.load_state, unit.sub_state) == (ActiveState.UNKNOWN, LoadState.UNKNOWN, "on-air")
    assert unit_status({"Id": "x.service", "ActiveState": "refreshing"}).active_state is ActiveState.REFRESHING


@given(
    st.dictionaries(
        st.sampled_from(sorted(PROPERTIES)),
        st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.lists(st.text()),
    )
)
@fault("C15", how="any type for any property", result="a unit is read")
def test_no_type_on_the_bus_breaks_the_reader(values: dict[str, object]) -> None:
    assert isinstance(unit_status(values).name, str)


def test_a_value_may_span_lines() -> None:
    assert blocks(b"Description=a\nb c\nId=x.service\n\nId=y.service\n") == [
        {"Description": "a\nb c", "Id": "x.service"},
        {"Id": "y.service"},
    ]


def test_lists_are_quoted_as_a_shell_would() -> None:
    block = {
        "Id": r"h-\x5b.service",
        "Names": r'"h-\\x5b.service" h.service',
        "DropInPaths": '"/etc/a b/c.conf" /d.conf',
    }
    unit = unit_status(typed(block))
    assert unit.aliases == ("h.service",)
    assert unit.drop_in_paths == ("/etc/a b/c.conf", "/d.conf")


def test_bytes_that_are_no_text_stay_visible() -> None:
    assert blocks(b"Description=\xff\n") == [{"Description": "\\xff"}]


@pytest.mark.parametrize(
    ("text", "usec"),
    [
        ("100ms", 100_000),
        ("1min 30s", 90_000_000),
        ("1h", 3_600_000_000),
        ("0", 0),
        ("1month 2w 3d", 4_098_600_000_000),
    ],
)
def test_spans(text: str, usec: int) -> None:
    assert span_usec(text) == usec


def test_times() -> None:
    at = datetime(2026, 12, 1, 4, 33, 12, 201057, tzinfo=UTC)
    assert time_usec("Tue 2026-12-01 04:33:12.201057 UTC") == int(at.timestamp() * 1_000_000)


@pytest.mark.parametrize("line", ["RestartUSec=soon", "MainPID=x", "StateChangeTimestamp=Tue 2026-12-01 04:33:12 CET"])
def test_what_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(DecodeError, match=line.partition("=")[0]):
        typed(blocks(line.encode())[0])


@given(st.binary(max_size=400))
def test_blocks_take_any_bytes(output: bytes) -> None:
    assert all(isinstance(block, dict) for block in blocks(output))


def test_lists_of_names() -> None:
    assert "dft-masked.service" in first_words((DATA / "list-unit-files.txt").read_bytes())
    assert first_words((DATA / "list-units.txt").read_bytes())[0] == "dft-failed.service"


@pytest.mark.parametrize(
    ("text", "version"),
    [("252.39-1~deb12u2", 252), ("systemd 252 (252.39-1~deb12u2)\n+PAM", 252), ("v255", 255), ("who knows", None)],
)
def test_versions(text: str, version: int | None) -> None:
    assert major_version(text) == version
