import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.errors import DecodeError
from dflashtui.model.gpu import Gpu
from dflashtui.model.sample import CgroupUse, GpuProblem, HostSample, cpu_percent
from dflashtui.source.driver_words import clocks_event_reasons
from dflashtui.source.sampler_feed import parse_hello, parse_tick

AT = datetime(2026, 12, 1, 5, 0, tzinfo=UTC)
RECORDED = Path(__file__).parent.parent / "data/nvml/h200-sampler.jsonl"


def tick(**values: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps({"time": AT.timestamp() + 2.5, "monotonic": 10.0, **values}).encode()


def recorded() -> list[HostSample]:
    hello, *ticks = RECORDED.read_bytes().splitlines()
    return [parse_tick(line, at=AT, boot_id=parse_hello(hello)) for line in ticks]


def recorded_gpus() -> list[Gpu]:
    return [gpu for sample in recorded() for gpu in sample.gpus or ()]


def test_every_recorded_line_of_a_real_h200_has_its_gpu_and_no_problem() -> None:
    samples = recorded()
    assert len(samples) > 30
    assert {(sample.driver_version, sample.cuda_driver_version) for sample in samples} == {("580.159.04", "13.0")}
    assert all(sample.gpus and len(sample.gpus) == 1 and sample.gpu_problem is None for sample in samples)
    assert {sample.boot_id for sample in samples} == {"0" * 32}


def test_the_recorded_gpu_at_rest_and_at_work() -> None:
    gpus = recorded_gpus()
    rest, busiest = gpus[0], max(gpus, key=lambda gpu: gpu.power_watts or 0)
    assert (rest.utilization_percent, rest.memory_used_bytes, rest.processes) == (0, 0, ())
    assert rest.clocks_event_reasons == ("gpu_idle",)
    assert rest.memory_reserved_bytes == 644939776
    assert (rest.power_limit_watts, rest.temperature_slowdown_celsius, rest.fan_percent) == (700.0, 89, None)
    assert busiest.power_watts is not None
    assert busiest.power_watts > 600
    assert busiest.clocks_event_reasons == ("sw_power_cap",)
    assert busiest.processes is not None
    (process,) = busiest.processes
    assert process.memory_used_bytes == 44000346112
    assert (process.unit, process.user) == (None, "root")
    assert process.command is not None
    assert process.command.startswith("/usr/bin/python3 -c import time, torch held =")


def test_the_hosts_own_facts() -> None:
    sample = parse_tick(
        tick(shm=[1, 2], memory=[3, 4], load=0.5, uptime=99.5, units={"a.service": [5, 6, 7], "b.service": [None] * 3}),
        at=AT,
    )
    assert (sample.shm_used_bytes, sample.shm_total_bytes) == (1, 2)
    assert (sample.memory_available_bytes, sample.memory_total_bytes) == (3, 4)
    assert (sample.load_average, sample.uptime_seconds) == (0.5, 99.5)
    assert sample.cgroups == {
        "a.service": CgroupUse(memory_bytes=5, cpu_usage_nsec=6, tasks=7),
        "b.service": CgroupUse(),
    }
    assert sample.clock_skew_seconds == 2.5
    assert (sample.gpus, sample.gpu_problem) == (None, None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (12, GpuProblem.NO_DRIVER),
        (9, GpuProblem.NO_DRIVER),
        (18, GpuProblem.MISMATCH),
        (999, GpuProblem.OTHER),
        (4, GpuProblem.OTHER),
    ],
)
def test_a_driver_that_cannot_be_asked_is_a_state_with_its_words(code: int, kind: GpuProblem) -> None:
    sample = parse_tick(tick(nvml={"code": code, "words": "the \x1b[31mdriver's words"}), at=AT)
    assert sample.gpu_problem_kind is kind
    assert sample.gpu_problem is not None
    assert sample.gpu_problem.endswith("(the driver's words)")
    assert sample.gpus is None


def test_a_call_that_hangs_is_told_after_a_while() -> None:
    assert parse_tick(tick(pending_seconds=2.0), at=AT).gpu_problem is None
    hanging = parse_tick(tick(pending_seconds=12.3), at=AT)
    assert hanging.gpu_problem == "NVML: no answer for 12 s; a call hangs in the driver"
    assert hanging.gpu_problem_kind is GpuProblem.NO_ANSWER


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        b'{"time":"x"}',
        b'{"time":1e300}',
        b'{"time":NaN}',
        b'{"time":1,"gpus":{"a":1}}',
        b'{"time":1,"gpus":[{"index":"many"}]}',
        b'{"time":1,"gpus":[{"index":0,"power_watts":NaN}]}',
        b'{"time":1,"gpus":[{"index":0,"surprise":1}]}',
        b'{"time":1,"units":[1]}',
        b'{"time":1,"units":{"a":[1]}}',
        b'{"time":1,"nvml":{}}',
        b'{"time":1,"nvml":"no"}',
        b'{"time":1,"shm":7}',
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_sample_is_a_decode_error(line: bytes) -> None:
    with pytest.raises(DecodeError):
        parse_tick(line, at=AT)


@given(st.binary())
def test_no_bytes_do_worse_than_a_decode_error(line: bytes) -> None:
    with pytest.raises(DecodeError):
        parse_hello(line)


@pytest.mark.parametrize(
    "line", [b'{"sampler":2,"boot_id":"b"}', b'{"sampler":1}', b'{"sampler":1,"boot_id":7}', b"hi"]
)
def test_a_first_line_that_is_not_the_samplers_is_refused(line: bytes) -> None:
    with pytest.raises(DecodeError):
        parse_hello(line)


def test_clocks_event_reasons_by_name() -> None:
    assert clocks_event_reasons(0) == ()
    assert clocks_event_reasons(0x1 | 0x4 | 0x40) == ("gpu_idle", "sw_power_cap", "hw_thermal_slowdown")
    assert clocks_event_reasons(1 << 13) == ("bit_13",)


def sample(monotonic: float | None, nsec: int | None, *, boot: str = "b", unit: str = "a.service") -> HostSample:
    return HostSample(at=AT, monotonic_seconds=monotonic, boot_id=boot, cgroups={unit: CgroupUse(cpu_usage_nsec=nsec)})


def test_cpu_of_a_unit_is_the_share_of_one_core() -> None:
    assert cpu_percent(sample(10, 0), sample(12, 5_000_000_000), "a.service") == 250.0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (sample(10, 5), sample(12, 4)),
        (sample(10, None), sample(12, 4)),
        (sample(10, 1), sample(12, None)),
        (sample(10, 1), sample(10, 4)),
        (sample(10, 1), sample(12, 4, boot="c")),
        (sample(None, 1), sample(12, 4)),
        (sample(10, 1, unit="b.service"), sample(12, 4)),
    ],
)
def test_cpu_is_unknown_where_two_samples_do_not_tell(before: HostSample, after: HostSample) -> None:
    assert cpu_percent(before, after, "a.service") is None
