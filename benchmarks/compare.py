"""The environments of two hosts with 400 packages each, against `diff` of two `pip freeze`."""

from __future__ import annotations

import asyncio
import subprocess
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.engines.packages import BINARY_TOPS
from dflashtui.ops.compare import compare
from dflashtui.ops.environment import read_environment
from dflashtui.ops.survey import Where
from tests.fleet import environments
from tests.support.site_files import distribution, site, torch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting
    from dflashtui.transport.base import Transport

PACKAGES = 400
TARGET_SECONDS, TIMES_BETTER = 0.5, 2
VERSIONS = {"gpu-a": ("2.11.0+cu130", "13.0"), "gpu-b": ("2.9.1+cu128", "12.8")}
DIFFERENT = "2.9.1"


def measure(setting: Setting) -> tuple[Row, ...]:
    found = inventory.real(setting.fleet, setting.folder / "compare")
    for host, (version, cuda) in VERSIONS.items():
        say(f"compare: an environment of {PACKAGES} packages on {host}")
        many = (distribution(f"package-{number:03}", "1.0") for number in range(PACKAGES - 3))
        # two of the 400 are pip and setuptools
        environments.lay_out(setting.fleet, host, site(torch(version, cuda), *many), wheels={"none": b""})
    try:
        return _measured(setting, found)
    finally:
        environments.clear(setting.fleet, *VERSIONS)


def _measured(setting: Setting, found: Inventory) -> tuple[Row, ...]:
    whole, theirs = [], []
    for turn in range(setting.runs(9) + 1):
        say(f"compare: {turn or 'warming up'}")
        setting.wait_for_quiet()
        once = _ours(setting.command, found, setting.environment), _freeze(found)
        if turn:
            whole.append(once[0])
            theirs.append(once[1])
    kept = asyncio.run(_kept(setting, found))
    freeze = Figure("diff of two ssh … pip freeze", tuple(theirs))
    what = f"compare, 2 hosts × {PACKAGES} packages"
    return (
        Row(
            f"{what}: reading",
            "s",
            Figure("", kept),
            "over connections that are open, as in the console: from asking to the sorted differences",
            TARGET_SECONDS,
            freeze,
            TIMES_BETTER,
        ),
        Row(
            "  … the whole command",
            "s",
            Figure("", tuple(whole)),
            "from exec to exit, two logins included",
            None,
            freeze,
        ),
    )


def _ours(command: tuple[str, ...], found: Inventory, environment: Mapping[str, str]) -> float:
    argv = (*command, "compare", *VERSIONS, "--python", environments.PYTHON, "-c", str(found.hosts_toml))
    began = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, check=False, env=dict(environment), text=True)
    seconds = time.perf_counter() - began
    if DIFFERENT not in done.stdout:
        raise RuntimeError(f"the difference was not found: {done.stdout}{done.stderr}")
    return seconds


def _freeze(found: Inventory) -> float:
    """What a person types, both at the same time."""
    asked = (f"<(ssh -F {found.ssh_config} {host} {environments.PYTHON} -m pip freeze)" for host in VERSIONS)
    began = time.perf_counter()
    done = subprocess.run(("bash", "-c", f"diff {' '.join(asked)}"), capture_output=True, check=False, text=True)
    seconds = time.perf_counter() - began
    if "torch==" not in done.stdout:
        raise RuntimeError(f"the difference was not found: {done.stdout}{done.stderr}")
    return seconds


async def _kept(setting: Setting, found: Inventory) -> tuple[float, ...]:
    config, open_transport = load(found.hosts_toml), opener()
    taken = []
    async with AsyncExitStack() as stack:
        hosts = [config.host(name) for name in VERSIONS]
        links = [await stack.enter_async_context(open_transport(host, lambda _: None)) for host in hosts]
        await _read(links)
        for turn in range(setting.runs(9)):
            say(f"compare: reading, {turn + 1}")
            setting.wait_for_quiet()
            taken.append(await _read(links))
    return tuple(taken)


async def _read(links: Sequence[Transport]) -> float:
    where = Where(python=environments.PYTHON)
    began = time.perf_counter()
    asked = (read_environment(link, where, requires=False, binaries=BINARY_TOPS) for link in links)
    comparison = compare(await asyncio.gather(*asked))
    seconds = time.perf_counter() - began
    if not comparison.differences:
        raise RuntimeError("the difference was not found")
    return seconds
