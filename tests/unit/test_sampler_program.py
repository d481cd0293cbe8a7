import ast
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from dflashtui.errors import SourceUnavailable
from dflashtui.sampler import pack
from dflashtui.source.gpus import samples
from dflashtui.transport.base import Stream, lines
from dflashtui.transport.local import LocalTransport

OLDEST_PYTHON = (3, 8)
FOREVER = 3600.0
SLOW_PYNVML = (Path(__file__).parent.parent / "data/nvml/slow_pynvml.py").read_text()
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")


async def until(items: AsyncIterator[Any], is_wanted: Callable[[Any], bool]) -> Any:  # noqa: ANN401 - samples or ticks
    async for item in items:
        if is_wanted(item):
            return item
    raise AssertionError("the sampler ended")


@asynccontextmanager
async def running(bindings: str, interval: float = FOREVER) -> AsyncIterator[tuple[Stream, AsyncIterator[Any]]]:
    """A sampler with another pynvml: its stream, and its ticks as JSON says them."""

    async def ticks(stream: Stream) -> AsyncIterator[Any]:
        async with aclosing(lines(stream)) as printed:
            async for line in printed:
                yield json.loads(line)

    async with LocalTransport("here").stream(pack.ARGV) as stream:
        await stream.write(pack.payload(interval_seconds=interval, bindings=bindings))
        async with aclosing(ticks(stream)) as found:  # type: ignore[type-var]  # an async generator
            yield stream, found


@pytest.mark.parametrize("module", pack.MODULES)
def test_what_is_shipped_parses_on_the_oldest_python(module: str) -> None:
    text = files(pack.PACKAGE).joinpath(f"{module}.py").read_text()
    ast.parse(text, feature_version=OLDEST_PYTHON)


def test_the_bindings_parse_on_the_oldest_python() -> None:
    spec = find_spec("pynvml")
    assert spec is not None
    assert spec.origin is not None
    ast.parse(Path(spec.origin).read_text(), feature_version=OLDEST_PYTHON)


def test_what_is_shipped_imports_the_standard_library_pynvml_and_itself_alone() -> None:
    for name in pack.MODULES:
        tree = ast.parse(files(pack.PACKAGE).joinpath(f"{name}.py").read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        foreign = {module for module in imported if module.split(".")[0] not in sys.stdlib_module_names}
        assert foreign <= {"pynvml", *(f"{pack.PACKAGE}.{module}" for module in pack.MODULES)}


async def test_this_machine_is_sampled_at_once() -> None:
    async with samples(LocalTransport("here"), interval_seconds=FOREVER) as feed:
        sample = await anext(aiter(feed))
    assert feed.via == "sampler"
    assert sample.clock_skew_seconds is not None
    assert abs(sample.clock_skew_seconds) < 60
    assert sample.boot_id == BOOT_ID
    assert sample.memory_total_bytes is not None
    assert sample.memory_total_bytes > 2**20


async def test_orders_are_obeyed_without_waiting_for_the_interval() -> None:
    async with samples(LocalTransport("here"), interval_seconds=FOREVER) as feed:
        ticks = aiter(feed)
        await anext(ticks)
        await feed.watch_units({"no-such.service": "/no/such.service"})
        await feed.sample_now()
        sample = await until(ticks, lambda one: one.cgroups)
        assert sample.cgroups["no-such.service"].memory_bytes is None
        await feed.watch_units({})
        await feed.set_interval(0.01)
        for _ in range(3):
            assert (await anext(ticks)).cgroups == {}


async def test_it_ends_when_its_stdin_closes() -> None:
    async with LocalTransport("here").stream(pack.ARGV) as stream:
        await stream.write(pack.payload(interval_seconds=FOREVER))
        await stream.write_eof()
        async for _ in stream:
            pass
        assert stream.exit_status == 0


async def test_it_ends_when_nobody_reads() -> None:
    child = await asyncio.create_subprocess_exec(
        *pack.ARGV, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(pack.payload(interval_seconds=0.01))
    await child.stdout.readline()
    child.stdout._transport.close()  # type: ignore[attr-defined]  # asyncio offers no other way to close a reading end
    assert await child.wait() == 0
    child.stdin.close()


async def test_a_call_that_hangs_in_the_driver_hangs_nothing_else(tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    hang.touch()
    async with running(SLOW_PYNVML.replace("@HANG@", str(hang)), interval=0.05) as (_, ticks):
        first = await until(ticks, lambda tick: "pending_seconds" in tick)
        later = await until(ticks, lambda tick: tick.get("pending_seconds", 0) > first["pending_seconds"])
        assert "gpus" not in later
        assert later["memory"][1] > 0
        hang.unlink()
        recovered = await until(ticks, lambda tick: "gpus" in tick)
        assert recovered["gpus"] == [{"index": 0, "power_watts": 1.0}]


async def test_an_answer_that_comes_late_is_told_at_once(tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    hang.touch()
    async with running(SLOW_PYNVML.replace("@HANG@", str(hang)), interval=FOREVER) as (_, ticks):
        await until(ticks, lambda tick: "pending_seconds" in tick)
        hang.unlink()
        assert await until(ticks, lambda tick: "gpus" in tick)


async def test_a_fault_of_its_own_ends_it_with_its_words() -> None:
    broken = SLOW_PYNVML + "\ndef nvmlDeviceGetCount():\n    raise RuntimeError('no such thing')\n"
    async with running(broken) as (stream, ticks):
        async for _ in ticks:
            pass
        assert stream.exit_status == 1
        assert b"RuntimeError: no such thing" in stream.stderr


async def test_an_order_that_is_none_ends_it() -> None:
    async with running(SLOW_PYNVML) as (stream, ticks):
        await until(ticks, lambda tick: "time" in tick)
        await stream.write(b"what?\n")
        async for _ in ticks:
            pass
        assert stream.exit_status == 1


async def test_without_the_c_types_of_python_the_reason_is_told() -> None:
    broken = "raise ImportError('No module named _ctypes')"
    async with running(broken) as (stream, ticks):
        assert [tick async for tick in ticks] == []
        assert b"ImportError: No module named _ctypes" in stream.stderr


async def test_a_python_that_is_missing_is_no_transport_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceUnavailable, match="python3"):
        async with samples(LocalTransport("here"), interval_seconds=1):
            pass
