"""A changed unit on one host: from the confirmation to the cause of its crash, against the chain that people type."""

from __future__ import annotations

import asyncio
import subprocess
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.deploy import Outcome
from dflashtui.ops.audit import Audit
from dflashtui.ops.deploy import Deploy, Plan
from dflashtui.ops.deploy_means import RealMeans
from dflashtui.ops.deploy_means import Setting as DeploySetting
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.pushing import look_everywhere
from dflashtui.ops.render import rendered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from benchmarks.setting import Setting
    from dflashtui.config.model import Config
    from dflashtui.model.deploy import HostDeploy
    from tests.fleet.harness.fleet import TestFleet

UNIT = "sglang-bench.service"
PATH = f"/etc/systemd/system/{UNIT}"
TARGET_MS = 200
SCRIPT = f"systemctl daemon-reload && systemctl restart {UNIT}; sleep 3; systemctl is-active {UNIT}"
DEFINED = """
[units."{unit}"]
hosts = ["{host}"]
template = "python"
engine = "sglang"
python = "/usr/bin/python3"
extra_args = ["-u", "-m", "sglang.launch_server"]
listen = "127.0.0.1:30198"
environment = {{ PYTHONPATH = "/opt/fleet", TURN = "{turn}" }}
"""
TIMES = ("ExecMainStartTimestampMonotonic", "ExecMainExitTimestampMonotonic")
HOW = "console open; render, push, verify, reload, restart, probe; less the service's own time (systemd's stamps)"


def measure(setting: Setting) -> tuple[Row, ...]:
    found = inventory.real(setting.fleet, setting.folder / "deploy", (UNIT,))
    host = next(iter(setting.fleet.hosts))
    try:
        ours, whole = asyncio.run(_deployed(setting, found.hosts_toml, found.hosts_toml.read_text(), host))
        script = Figure("scp + ssh … sleep 3", _scripted(setting, str(found.ssh_config), host))
    finally:
        setting.fleet.exec(host, "rm", "-rf", PATH, "/var/lib/dflashtui")
        setting.fleet.exec(host, "systemctl", "daemon-reload")
    return (
        Row("deploy → cause, beyond the service's own", "ms", ours, HOW, TARGET_MS),
        Row("  … the whole of it", "ms", whole, "the same, the service's own time with it", None, script, 5),
    )


async def _deployed(setting: Setting, path: Path, text: str, host: str) -> tuple[Figure, Figure]:
    beyond, whole = [], []
    async with _connected(path, text, host) as (real, _):
        for turn in range(setting.runs(8) + 1):
            say(f"deploy: {turn or 'warming up'}")
            setting.wait_for_quiet()
            setting.fleet.exec(host, "systemctl", "reset-failed", UNIT)
            config = _config(path, text, host, turn)
            taken = await _one(setting, real, config, host)
            if turn:
                whole.append(taken)
                beyond.append(taken - _own_ms(setting.fleet, host))
    return Figure("", tuple(beyond)), Figure("", tuple(whole))


def _config(path: Path, text: str, host: str, turn: int) -> Config:
    path.write_text(text + DEFINED.format(unit=UNIT, host=host, turn=turn))
    config = load(path)
    return config.model_copy(update={"hosts": tuple(one for one in config.hosts if one.name == host)})


@asynccontextmanager
async def _connected(path: Path, text: str, host: str) -> AsyncIterator[tuple[RealFleet, Config]]:
    config = _config(path, text, host, 0)
    async with RealFleet(config, opener()) as real, real.subscribe() as changes:
        async for change in changes:
            if change.snapshot.units is not None:
                break
        yield real, config


async def _one(setting: Setting, real: RealFleet, config: Config, host: str) -> float:
    """Milliseconds from the confirmation (the difference was shown) to the verdict with its cause."""
    seen = await look_everywhere(real, [config.host(host)], UNIT)
    folder = setting.folder / "state"
    means = RealMeans(
        DeploySetting(
            fleet=real,
            config=config,
            audit=Audit(folder),
            evidence=Evidence(None),
            unit=UNIT,
            texts={host: rendered(config, UNIT, host)},
            seen={host: one for host, one in seen.items() if not isinstance(one, Exception)},
        )
    )
    causes: list[float] = []
    began = time.perf_counter()

    def changed(row: HostDeploy) -> None:
        if any("soundfile" in news.words for news in row.steps):
            causes.append((time.perf_counter() - began) * 1000)

    deploy = Deploy(Plan(unit=UNIT, hosts=(host,), preflights=False), means, changed)
    (row,) = await deploy.run()
    if row.outcome is not Outcome.FAILED or row.probe is None or row.probe.cause is None:
        raise RuntimeError(f"it did not crash as it should: {row}")
    if not causes:
        raise RuntimeError(f"another cause than the one that was expected: {row.probe.cause}")
    return causes[0]


def _own_ms(fleet: TestFleet, host: str) -> float:
    shown = fleet.show(host, UNIT)
    began, ended = (int(shown[name]) for name in TIMES)
    return (ended - began) / 1000


def _scripted(setting: Setting, ssh_config: str, host: str) -> tuple[float, ...]:
    unit = setting.folder / UNIT
    unit.write_bytes(setting.fleet.check(host, "cat", PATH))
    taken = []
    for turn in range(setting.runs(3)):
        say(f"deploy: the script, {turn + 1}")
        setting.wait_for_quiet()
        began = time.perf_counter()
        subprocess.run(("scp", "-q", "-F", ssh_config, unit, f"{host}:{PATH}"), check=True)
        subprocess.run(("ssh", "-F", ssh_config, host, SCRIPT), check=False, capture_output=True)
        taken.append((time.perf_counter() - began) * 1000)
    return tuple(taken)
