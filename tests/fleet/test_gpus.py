"""GPUs of real hosts: the shipped sampler with the real pynvml, through the real transport."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from dflashtui.config.model import Host
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.model.journal import JournalEntry
from dflashtui.model.sample import GpuProblem, HostSample, cpu_percent
from dflashtui.sampler import pack
from dflashtui.source.gpus import Samples, samples
from dflashtui.source.kernel import xid
from dflashtui.transport.base import Transport
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate

from .harness.fleet import TestFleet
from .harness.shell import wait_until

GIB = 2**30
FOREVER = 3600.0
MARKER = "/run/before-the-sampler"
FOLDERS = ("/root", "/home", "/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - looked into, not written to


@asynccontextmanager
async def linked(fleet: TestFleet, name: str) -> AsyncIterator[Transport]:
    host = Host(
        name=name,
        address=fleet.hosts[name].address,
        user="root",
        identity_file=fleet.identity_file,
        known_hosts=fleet.known_hosts,
    )
    async with open_transport(host, gate=HandshakeGate(), report_step=lambda _: None) as transport:
        yield transport


@asynccontextmanager
async def sampled(fleet: TestFleet, name: str, interval_seconds: float = FOREVER) -> AsyncIterator[Samples]:
    async with linked(fleet, name) as transport, samples(transport, interval_seconds=interval_seconds) as feed:
        yield feed


async def until(feed: Samples, is_wanted: Callable[[HostSample], object]) -> HostSample:
    async for sample in feed:
        if is_wanted(sample):
            return sample
    raise AssertionError("the feed ended")


async def one_sample(fleet: TestFleet, name: str) -> HostSample:
    async with sampled(fleet, name) as feed:
        return await until(feed, lambda sample: sample.gpus or sample.gpu_problem)


def gpus(sample: HostSample) -> tuple[Gpu, ...]:
    assert sample.gpus is not None
    return sample.gpus


async def test_eight_gpus_and_the_hosts_own_facts(fleet: TestFleet) -> None:
    sample = await one_sample(fleet, "gpu-a")
    assert [gpu.index for gpu in gpus(sample)] == list(range(8))
    assert len({gpu.uuid for gpu in gpus(sample)} | {gpu.pci_bus_id for gpu in gpus(sample)}) == 16
    first = gpus(sample)[0]
    assert (first.name, first.memory_total_bytes, first.power_watts) == ("NVIDIA H200", 150754820096, 78.159)
    assert (first.temperature_celsius, first.fan_percent, first.processes) == (35, None, ())
    assert (sample.driver_version, sample.cuda_driver_version) == ("580.159.04", "13.0")
    assert sample.boot_id == fleet.read_file("gpu-a", "/proc/sys/kernel/random/boot_id").decode().strip().replace(
        "-", ""
    )
    assert sample.clock_skew_seconds is not None
    assert abs(sample.clock_skew_seconds) < 10
    assert sample.shm_total_bytes


async def test_a_change_is_seen_when_it_is_asked_for(fleet: TestFleet) -> None:
    async with sampled(fleet, "gpu-a") as feed:
        await until(feed, lambda sample: sample.gpus)
        fleet.set_gpu("gpu-a", 3, utilization_gpu_percent=99, clocks_event_reasons=4)
        await feed.sample_now()
        sample = await until(feed, lambda sample: gpus(sample)[3].utilization_percent)
    assert gpus(sample)[3].clocks_event_reasons == ("sw_power_cap",)


async def test_a_gpu_is_lost_while_it_is_watched(fleet: TestFleet) -> None:
    async with sampled(fleet, "gpu-a", 0.1) as feed:
        await until(feed, lambda sample: sample.gpus)
        fleet.set_gpu("gpu-a", 2, lost=True)
        sample = await until(feed, lambda sample: gpus(sample)[2].lost)
    lost = gpus(sample)[2]
    assert (lost.lost, lost.name, lost.power_watts) == ("GPU is lost", "NVIDIA H200", None)
    assert [gpu.index for gpu in gpus(sample) if gpu.lost is None and gpu.power_watts] == [0, 1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("init", "kind", "words"),
    [
        (18, GpuProblem.MISMATCH, "(Driver/library version mismatch)"),
        (9, GpuProblem.NO_DRIVER, "(Driver Not Loaded)"),
        (999, GpuProblem.OTHER, "(Unknown Error)"),
    ],
)
async def test_a_driver_that_does_not_start(fleet: TestFleet, init: int, kind: GpuProblem, words: str) -> None:
    fleet.set_driver("gpu-b", init=init)
    sample = await one_sample(fleet, "gpu-b")
    assert (sample.gpus, sample.gpu_problem_kind) == (None, kind)
    assert sample.gpu_problem is not None
    assert sample.gpu_problem.endswith(words)


async def test_a_host_without_a_driver(fleet: TestFleet) -> None:
    sample = await one_sample(fleet, "gpu-c")
    assert (sample.gpus, sample.gpu_problem_kind) == (None, GpuProblem.NO_DRIVER)
    assert sample.shm_total_bytes


async def test_processes_belong_to_units_or_to_nobody(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "counter.service")
    fleet.put_on_gpu("gpu-a", 1, "counter.service", 54 * GIB)
    fleet.put_on_gpu("gpu-a", 1, 1, GIB)
    sample = await one_sample(fleet, "gpu-a")
    served, orphan = gpus(sample)[1].processes or ()
    main_pid = int(fleet.show("gpu-a", "counter.service")["MainPID"])
    assert (served.pid, served.unit, served.user) == (main_pid, "counter.service", "root")
    assert (served.memory_used_bytes, gpus(sample)[1].memory_used_bytes) == (54 * GIB, 55 * GIB)
    assert served.command
    assert (orphan.pid, orphan.unit, orphan.held_by) == (1, None, "init.scope")


async def test_a_call_that_hangs_in_the_driver(fleet: TestFleet) -> None:
    async with sampled(fleet, "gpu-b", 0.2) as feed:
        await until(feed, lambda sample: sample.gpus)
        fleet.set_gpu("gpu-b", 5, hang="nvmlDeviceGetPowerUsage")
        sample = await until(feed, lambda sample: sample.gpu_problem_kind is GpuProblem.NO_ANSWER)
        assert (sample.gpus, bool(sample.memory_total_bytes)) == (None, True)
        fleet.set_gpu("gpu-b", 5, hang=None)
        assert len(gpus(await until(feed, lambda sample: sample.gpus))) == 8


async def test_cpu_of_a_watched_unit(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "counter.service")
    group = fleet.show("gpu-a", "counter.service")["ControlGroup"]
    async with sampled(fleet, "gpu-a", 0.1) as feed:
        await feed.watch_units({"counter.service": group})
        before = await until(feed, lambda sample: sample.cgroups)
        after = await until(feed, lambda sample: cpu_percent(before, sample, "counter.service"))
    assert after.cgroups["counter.service"].cpu_usage_nsec


async def test_without_a_usable_python_nvidia_smi_says_the_same(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "counter.service")
    fleet.put_on_gpu("gpu-a", 1, "counter.service", 54 * GIB)
    fleet.set_gpu("gpu-a", 4, utilization_gpu_percent=77, clocks_event_reasons=0x44, ecc_uncorrected_volatile=3)
    shipped = await one_sample(fleet, "gpu-a")
    fleet.write_file("gpu-a", "/usr/local/bin/python3", "#!/bin/sh\necho too old >&2\nexit 1\n", mode=0o755)
    async with sampled(fleet, "gpu-a", 0.2) as feed:
        assert feed.via == "nvidia-smi"
        sample = await until(feed, lambda sample: sample.gpus)
    assert sample.driver_version == shipped.driver_version
    assert [comparable(gpu) for gpu in gpus(sample)] == [comparable(gpu) for gpu in gpus(shipped)]


def comparable(gpu: Gpu) -> Gpu:
    """Without what nvidia-smi rounds, and what it does not say of this host."""
    processes = [GpuProcess(pid=one.pid, unit=one.unit, command=one.command) for one in gpu.processes or ()]
    rounded = {"memory_used_bytes": (gpu.memory_used_bytes or 0) // GIB, "memory_reserved_bytes": None}
    unsaid = {f"remapped_rows_{name}": None for name in ("uncorrectable", "pending", "failed")}
    power = {"power_watts": round(gpu.power_watts or 0, 1)}
    return gpu.model_copy(update={**rounded, **unsaid, **power, "processes": tuple(processes)})


@pytest.mark.parametrize("hang", [None, "nvmlDeviceGetPowerUsage"])
async def test_nothing_is_left_on_the_host(fleet: TestFleet, hang: str | None) -> None:
    fleet.write_file("gpu-b", MARKER, "")
    async with sampled(fleet, "gpu-b", 0.1) as feed:
        await until(feed, lambda sample: sample.gpus)
        fleet.set_gpu("gpu-b", 0, hang=hang)
        await until(feed, lambda sample: (sample.gpus is None) is bool(hang))
        assert running(fleet) == 1
    wait_until(lambda: running(fleet) == 0, "the end of the sampler", seconds=5)
    assert fleet.check("gpu-b", "find", *FOLDERS, "-newer", MARKER, "-type", "f") == b""


def running(fleet: TestFleet) -> int:
    return len(fleet.exec("gpu-b", "pgrep", "-f", "-x", f"python3 .*{pack.BOOTSTRAP[:20]}.*").stdout.split())


async def test_an_xid_of_the_kernel_log_meets_its_gpu(fleet: TestFleet) -> None:
    sample = await one_sample(fleet, "gpu-a")
    domain, bus, device = (gpus(sample)[3].pci_bus_id or "").lower().split(":")
    pci = f"{domain[-4:]}:{bus}:{device.partition('.')[0]}"
    fleet.log_kernel(
        "gpu-a", f"NVRM: Xid (PCI:{pci}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    )
    fleet.check("gpu-a", "journalctl", "--sync")
    entry = json.loads(fleet.check("gpu-a", "journalctl", "-k", "-n", "1", "-o", "json"))
    at = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1e6, UTC)
    told = xid(JournalEntry(cursor="c", at=at, message=entry["MESSAGE"], transport=entry["_TRANSPORT"]))
    assert told is not None
    assert (told.xid, told.pci_bus_id, told.pid) == (79, gpus(sample)[3].pci_bus_id, None)
