"""What is wrong on a host, and what is not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dflashtui.model.finding import Level
from dflashtui.model.gpu import Gpu, GpuProcess, Xid
from dflashtui.model.host import HostSnapshot, Link, LinkState, SourceState
from dflashtui.model.rules import findings
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus

NOW = datetime(2031, 1, 2, 12, tzinfo=UTC)
UP = Link(state=LinkState.UP)


def unit(**fields: object) -> UnitStatus:
    well: dict[str, object] = {
        "name": "a.service",
        "load_state": LoadState.LOADED,
        "active_state": ActiveState.ACTIVE,
        "sub_state": "running",
        "readiness": Readiness.NONE,
    }
    return UnitStatus.model_validate(well | fields)


def host(**fields: object) -> HostSnapshot:
    return HostSnapshot.model_validate({"name": "h", "link": UP, "units": (unit(),), "gpus": ()} | fields)


def judged(snapshot: HostSnapshot) -> list[tuple[Level, str]]:
    return [(finding.level, finding.message) for finding in findings(snapshot, NOW)]


def test_a_well_host_has_no_findings() -> None:
    ready = unit(readiness=Readiness.READY, name="b.service")
    gpu = Gpu(index=0, memory_used_bytes=90 * 2**30, processes=(GpuProcess(pid=1, unit="b.service"),))
    assert judged(host(units=(unit(), ready), gpus=(gpu,))) == []


@pytest.mark.parametrize(
    ("fields", "level", "words"),
    [
        (
            {
                "active_state": "failed",
                "result": "exit-code",
                "exec_main_code": 1,
                "exec_main_status": 3,
                "since": NOW - timedelta(minutes=2),
            },
            Level.FAILED,
            "failed (exit-code, status 3) 2m ago",
        ),
        (
            {"active_state": "failed", "result": "signal", "exec_main_code": 2, "exec_main_status": 9},
            Level.FAILED,
            "failed (signal, signal 9)",
        ),
        ({"active_state": "activating", "sub_state": "auto-restart", "n_restarts": 4}, Level.FAILED, "4 times"),
        ({"load_state": "not-found", "active_state": "inactive"}, Level.WARNING, "not installed"),
        ({"load_state": "masked", "active_state": "inactive"}, Level.WARNING, "masked"),
        ({"load_state": "bad-setting", "load_error": "no ExecStart"}, Level.WARNING, "no ExecStart"),
        ({"needs_reload": True}, Level.WARNING, "daemon-reload"),
        ({"active_state": "inactive", "unit_file_state": "enabled"}, Level.WARNING, "enabled but stopped"),
        ({"readiness": "sick", "readiness_detail": "GET /health 503"}, Level.WARNING, "GET /health 503"),
        ({"readiness": "loading"}, Level.WARNING, "active but not ready"),
        ({"readiness": "unknown"}, Level.UNKNOWN, "whether it answers is unknown"),
    ],
)
def test_units(fields: dict[str, Any], level: Level, words: str) -> None:
    found = judged(host(units=(unit(**fields),)))
    assert len(found) == 1
    assert found[0][0] is level
    assert words in found[0][1]


def test_a_unit_that_is_stopped_and_not_enabled_is_nobodys_problem() -> None:
    assert judged(host(units=(unit(active_state="inactive", unit_file_state="disabled"),))) == []


@pytest.mark.parametrize(
    ("fields", "level", "words"),
    [
        ({"lost": "GPU is lost"}, Level.FAILED, "GPU is lost"),
        ({"remapped_rows_failed": True}, Level.FAILED, "replaced"),
        ({"remapped_rows_pending": True}, Level.WARNING, "reset"),
        ({"ecc_uncorrected_count": 2}, Level.FAILED, "2 uncorrected"),
        ({"clocks_event_reasons": ("hw_thermal_slowdown",)}, Level.WARNING, "too hot"),
        ({"temperature_celsius": 91, "temperature_slowdown_celsius": 92}, Level.WARNING, "91 °C"),
        (
            {"processes": (GpuProcess(pid=7, memory_used_bytes=2**34, command="python"),)},
            Level.WARNING,
            "16.0 GiB held by no unit: pid 7 (python)",
        ),
    ],
)
def test_gpus(fields: dict[str, Any], level: Level, words: str) -> None:
    found = judged(host(gpus=(Gpu.model_validate({"index": 3, "uuid": "GPU-3"} | fields),)))
    assert [one[0] for one in found] == [level]
    assert words in found[0][1]


def test_full_memory_and_power_capping_are_no_alarms() -> None:
    gpu = Gpu(index=0, memory_used_bytes=99, memory_total_bytes=100, clocks_event_reasons=("sw_power_cap", "gpu_idle"))
    assert judged(host(gpus=(gpu,))) == []


@pytest.mark.parametrize("state", [state for state in LinkState if state not in {LinkState.UP, LinkState.NO_SYSTEMD}])
def test_a_host_that_cannot_be_looked_at_is_unknown_and_its_old_values_are_not_judged(state: LinkState) -> None:
    old = host(link=Link(state=state, error="why"), units=(unit(active_state="failed"),))
    assert [level for level, _ in judged(old)] == [Level.UNKNOWN]


def test_sources() -> None:
    broken = SourceState(source="gpus", problem="Driver/library version mismatch")
    absent = SourceState(source="gpus", problem="no NVIDIA driver", is_absent=True)
    unread = SourceState(source="journal", problem="add ops to group systemd-journal")
    assert [level for level, _ in judged(host(sources=(broken,)))] == [Level.UNKNOWN]
    assert judged(host(sources=(absent,), gpus=None)) == []
    assert [level for level, _ in judged(host(sources=(unread,)))] == [Level.WARNING]
    assert [level for level, _ in judged(host(units=None))] == [Level.UNKNOWN]


def test_the_worst_comes_first_and_ids_are_stable() -> None:
    lost = Gpu(index=1, uuid="GPU-1", lost="gone")
    snapshot = host(units=(unit(needs_reload=True),), gpus=(lost,), clock_skew_seconds=-90.0)
    found = findings(snapshot, NOW)
    assert [finding.id for finding in found] == ["gpu-lost:GPU-1@h", "clock-skew@h", "reload:a.service@h"]
    assert findings(snapshot, NOW + timedelta(hours=1))[0].id == found[0].id


def test_an_xid_is_bad_until_it_was_seen() -> None:
    xid = Xid(pci_bus_id="00000000:00:06.0", xid=79, at=NOW, message="fallen off the bus")
    assert judged(host(xids=(xid,)))[0][0] is Level.FAILED
