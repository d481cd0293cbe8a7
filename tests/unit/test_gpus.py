import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dflashtui.errors import SourceUnavailable, TransportLost
from dflashtui.model.gpu import GpuProcess
from dflashtui.model.sample import GpuProblem, HostSample
from dflashtui.source.gpus import Samples, samples
from dflashtui.source.proc_files import parse_grep
from tests.unit.sampler_host import Answer, ScriptedHost, ScriptedStream

DATA = Path(__file__).parent.parent / "data/nvml"
AT = datetime(2026, 12, 1, tzinfo=UTC)
HELLO = b'{"sampler":1,"boot_id":"b"}\n'
TICK = b'{"time":1796100186.8,"monotonic":24.5,"units":{}}\n'
UUID = "GPU-00000000-0000-4000-8000-000000000001"
LATER = ("clocks_event_reasons.active", "remapped_rows.pending")


@pytest.fixture
def host() -> ScriptedHost:
    return ScriptedHost()


def nvidia_smi(argv: tuple[str, ...]) -> Answer:
    """An older one, of a host with one GPU and one process on it."""
    query = next((part for part in argv if part.startswith("--query-gpu=")), "").removeprefix("--query-gpu=")
    unknown = next((field for field in query.split(",") if field in LATER), None)
    if argv[0] == "grep":
        return (0, b"/proc/7/cgroup:0::/system.slice/a.service\n", b"") if "/proc/7/cgroup" in argv else cmdline()
    if unknown:
        return 2, f'Field "{unknown}" is not a valid field to query.\n\n'.encode(), b""
    if "-L" in argv:
        return 0, b"GPU 0: NVIDIA H200\n", b""
    return 0, (f"7, 100, {UUID}, python3\n" if "compute-apps" in " ".join(argv) else "0, row\n").encode(), b""


def cmdline() -> Answer:
    return 0, b"/proc/7/cmdline:python3\0/proc/7/cmdline:--api-key\0/proc/7/cmdline:secret\0", b""


def rows(count: int) -> bytes:
    """Rounds as an older nvidia-smi prints them: without the two later fields."""
    cells = (DATA / "h200-smi-gpus.csv").read_text().rstrip().split(", ")
    return (", ".join([*cells[:20], *cells[21:23], *cells[24:]]) + "\n").encode() * count


async def taken(feed: Samples, count: int) -> list[HostSample]:
    found: list[HostSample] = []
    async for one in feed:
        found.append(one)
        if len(found) == count:
            break
    return found


async def test_the_sampler_is_shipped_and_its_lines_become_samples(host: ScriptedHost) -> None:
    stream = host.streams["python3"] = ScriptedStream([HELLO + TICK[:9], TICK[9:] + TICK], is_endless=True)
    async with samples(host, interval_seconds=2, control_groups={"a.service": "/a"}, clock=lambda: AT) as feed:
        assert feed.via == "sampler"
        found = await taken(feed, 2)
        await feed.set_interval(10)
        await feed.watch_units({"b.service": "/b"})
        await feed.sample_now()
    assert [(sample.at, sample.boot_id) for sample in found] == [(AT, "b")] * 2
    program, *orders = stream.written
    length, _, rest = program.partition(b"\n")
    assert json.loads(rest[int(length) :]) == {"interval_seconds": 2, "units": {"a.service": "/a"}}
    assert [json.loads(order) for order in orders] == [
        {"interval_seconds": 10},
        {"units": {"b.service": "/b"}},
        {"sample": True},
    ]
    assert host.channels == 0


async def test_a_sampler_that_dies_says_its_last_words(host: ScriptedHost) -> None:
    host.streams["python3"] = ScriptedStream([HELLO, TICK], 1, b"Traceback\nMemoryError: no room\n")
    async with samples(host, interval_seconds=2) as feed:
        with pytest.raises(SourceUnavailable, match="MemoryError: no room"):
            await taken(feed, 2)


async def test_a_lost_link_is_the_links_own_error(host: ScriptedHost) -> None:
    host.streams["python3"] = ScriptedStream([HELLO, TICK], None, is_cut=True)
    async with samples(host, interval_seconds=2) as feed:
        with pytest.raises(TransportLost):
            await taken(feed, 2)


async def test_a_link_lost_before_the_first_line_is_not_a_missing_python(host: ScriptedHost) -> None:
    host.streams["python3"] = ScriptedStream([], None, is_cut=True)
    with pytest.raises(TransportLost):
        async with samples(host, interval_seconds=2):
            pass


async def test_without_python_and_nvidia_smi_the_reason_names_both(host: ScriptedHost) -> None:
    with pytest.raises(SourceUnavailable, match=r"sh: not found.*no nvidia-smi"):
        async with samples(host, interval_seconds=2):
            pass


async def test_nvidia_smi_in_place_of_a_python_that_is_too_old(host: ScriptedHost) -> None:
    host.streams["python3"] = ScriptedStream([], 1, b"python3 is 3.6 here, the sampler needs 3.8\n")
    host.streams["nvidia-smi"] = ScriptedStream([rows(3)], is_endless=True)
    host.answer = nvidia_smi
    async with samples(host, interval_seconds=2, clock=lambda: AT) as feed:
        assert feed.via == "nvidia-smi"
        assert feed.why == "the sampler cannot run (python3 is 3.6 here, the sampler needs 3.8)"
        found = await taken(feed, 2)
    (gpu,) = found[1].gpus or ()
    assert (gpu.memory_total_bytes, gpu.name) == (143771 * 2**20, "NVIDIA H200")
    assert gpu.processes == (
        GpuProcess(pid=7, unit="a.service", memory_used_bytes=100 * 2**20, command="python3 --api-key ***"),
    )
    assert found[1].driver_version == "580.159.04"
    (loop,) = [argv for argv in host.asked if "-lms" in argv]
    assert loop[-1] == "2000"
    assert not any(field in loop[1] for field in LATER)
    assert len([argv for argv in host.asked if argv[0] == "grep"]) == 2
    assert host.channels == 0


async def test_another_interval_is_another_nvidia_smi(host: ScriptedHost) -> None:
    host.streams["nvidia-smi"] = ScriptedStream([rows(1)] * 2, is_endless=True)
    host.answer = nvidia_smi
    async with samples(host, interval_seconds=2, clock=lambda: AT) as feed:
        found = aiter(feed)
        await anext(found)
        await feed.set_interval(10)
        await anext(found)
    assert [argv[-1] for argv in host.asked if "-lms" in argv] == ["2000", "10000"]


async def test_a_missing_driver_is_a_sample_with_words(host: ScriptedHost) -> None:
    host.answer = lambda argv: (
        (0, b"", b"") if "-L" in argv else (9, b"couldn't communicate with the NVIDIA driver", b"")
    )
    async with samples(host, interval_seconds=2) as feed:
        (sample,) = await taken(feed, 1)
    assert (sample.gpu_problem_kind, sample.gpus) == (GpuProblem.NO_DRIVER, None)


def test_grep_gives_lines_by_pid_and_keeps_line_breaks_inside_arguments() -> None:
    found = parse_grep(b"/proc/7/cmdline:sh\0/proc/7/cmdline:-c\0/proc/7/cmdline:a\nb\0/proc/9/cmdline:x\0", "\0")
    assert found == {7: ["sh", "-c", "a\nb"], 9: ["x"]}
    assert parse_grep(b"grep: nothing\n", "\n") == {}
