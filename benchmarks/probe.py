"""A service that fails at import: from the start command to the cause, against a person's ways of finding out."""

from __future__ import annotations

import asyncio
import subprocess
import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.action import UnitAction, Verb
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting
    from dflashtui.model.action import ActionResult
    from dflashtui.model.probe import ProbeUpdate
    from tests.fleet.harness.fleet import TestFleet

FAILING, CHILD = "sglang-import-error.service", "sglang-child.service"
UNIT_FILE = f"/etc/systemd/system/{FAILING}"
TARGET_MS, TIMES_SCRIPT, TIMES_FOLLOWER = 80, 30, 5
SUSPECTED_SECONDS = 0.5
CHILD_ENVIRONMENT, CHILD_WAIT = "/etc/fleet/sglang-child.env", b"WAIT_SECONDS=5\n"
SCRIPT = f"systemctl daemon-reload && systemctl start {FAILING} && sleep 3 && systemctl is-active {FAILING}"
LAST_LINE, CHILDS_LAST_LINE = b"ModuleNotFoundError: No module named 'soundfile'", "RuntimeError: Not enough memory."
ENGINE = '\n[units."{unit}"]\nhosts = ["{host}"]\nengine = "sglang"\nlisten = "127.0.0.1:30199"\n'
"""A port that nobody opens: they die before."""
HOW = "over a kept connection, from StartUnit to the update that carries the cause"


def measure(setting: Setting) -> tuple[Row, ...]:
    found = inventory.real(setting.fleet, setting.folder / "probe", (FAILING, CHILD))
    host = next(iter(setting.fleet.hosts))
    with found.hosts_toml.open("a") as file:
        file.writelines(ENGINE.format(unit=unit, host=host) for unit in (FAILING, CHILD))
    ours, follower = asyncio.run(_failing(setting, found, host))
    script = Figure("scp + ssh … sleep 3", _scripted(setting, found, host))
    suspected = asyncio.run(_suspected(setting, found, host))
    return (
        Row("start → cause of a failing import", "ms", ours, HOW, TARGET_MS, script, TIMES_SCRIPT),
        Row("  … against following", "ms", ours, HOW, TARGET_MS, follower, TIMES_FOLLOWER),
        Row(
            "a child's last line → suspected",
            "s",
            suspected,
            "from journald's time of the traceback's last line to the update; the parent lives 5 s longer",
            SUSPECTED_SECONDS,
        ),
    )


async def _failing(setting: Setting, found: Inventory, host: str) -> tuple[Figure, Figure]:
    """Turn by turn: the probe, and a follower that runs already."""
    ours, follower = [], []
    async with _connected(found, host) as real:
        for turn in range(setting.runs(15) + 1):
            say(f"probe: {turn or 'warming up'}")
            setting.wait_for_quiet()
            probed = await _start_to_cause(setting.fleet, real, host)
            followed = await _start_to_line(setting.fleet, real, found, host)
            if turn:
                ours.append(probed)
                follower.append(followed)
    return Figure("", tuple(ours)), Figure("ssh journalctl -f", tuple(follower))


@asynccontextmanager
async def _connected(found: Inventory, host: str) -> AsyncIterator[RealFleet]:
    config = load(found.hosts_toml)
    only = config.model_copy(update={"hosts": tuple(one for one in config.hosts if one.name == host)})
    async with RealFleet(only, opener()) as real, real.follow(host, FAILING, lines=0) as batches:
        await anext(batches)  # the journal is followed and units are known: as in a console that is open
        async with real.subscribe() as changes:
            async for change in changes:
                if change.snapshot.units is not None:
                    break
        yield real


async def _start_to_cause(fleet: TestFleet, real: RealFleet, host: str) -> float:
    """Milliseconds."""
    fleet.exec(host, "systemctl", "reset-failed", FAILING)
    seen: list[float] = []
    began = time.perf_counter()
    await _probed(real, host, FAILING, partial(_note_cause, seen))
    return (seen[0] - began) * 1000


def _note_cause(seen: list[float], update: ProbeUpdate) -> None:
    if update.result and update.result.cause and update.result.cause.module == "soundfile":
        seen.append(time.perf_counter())


async def _probed(real: RealFleet, host: str, unit: str, tell: Callable[[ProbeUpdate], None]) -> None:
    wanted = Wanted(host=host, unit=unit, engine="sglang")
    probe = Probe(real, wanted, tell, Evidence(None), will_start=True)
    asked: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        group.create_task(probe.run(asked))
        await asyncio.sleep(0)  # the probe takes its place
        asked.set_result(await real.perform(UnitAction(verb=Verb.START, host=host, unit=unit)))


async def _start_to_line(fleet: TestFleet, real: RealFleet, found: Inventory, host: str) -> float:
    """Milliseconds until a follower over OpenSSH has printed the exception's line."""
    fleet.exec(host, "systemctl", "reset-failed", FAILING)
    argv = ("ssh", "-F", str(found.ssh_config), host, f"journalctl -f -n1 -o cat -u {FAILING}")
    following = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output = following.stdout
    if output is None:
        raise RuntimeError("a pipe was asked for")
    try:
        await output.readline()  # what was there before: now it follows
        await asyncio.sleep(1)
        began = time.perf_counter()
        await real.perform(UnitAction(verb=Verb.START, host=host, unit=FAILING))
        while LAST_LINE not in await output.readline():
            pass
        return (time.perf_counter() - began) * 1000
    finally:
        following.terminate()
        await following.wait()


def _scripted(setting: Setting, found: Inventory, host: str) -> tuple[float, ...]:
    """Milliseconds of the chain that a person types; it ends with one word."""
    unit = setting.folder / FAILING
    unit.write_bytes(setting.fleet.check(host, "cat", UNIT_FILE))
    config = str(found.ssh_config)
    taken = []
    for turn in range(setting.runs(3)):
        say(f"probe: the script, {turn + 1}")
        setting.wait_for_quiet()
        setting.fleet.exec(host, "systemctl", "reset-failed", FAILING)
        began = time.perf_counter()
        subprocess.run(("scp", "-q", "-F", config, unit, f"{host}:{UNIT_FILE}"), check=True)
        subprocess.run(("ssh", "-F", config, host, SCRIPT), check=False, capture_output=True)
        taken.append((time.perf_counter() - began) * 1000)
    return tuple(taken)


async def _suspected(setting: Setting, found: Inventory, host: str) -> Figure:
    """Seconds; the hosts' clock is this machine's."""
    setting.fleet.write_file(host, CHILD_ENVIRONMENT, CHILD_WAIT)
    delays = []
    async with _connected(found, host) as real:
        for turn in range(setting.runs(5)):
            say(f"probe: suspected, {turn + 1}")
            setting.fleet.exec(host, "systemctl", "reset-failed", CHILD)
            seen: list[float] = []
            await _probed(real, host, CHILD, partial(_note_suspicion, seen))
            entries = setting.fleet.journal(host, CHILD, "-n", "100")
            written = [entry for entry in entries if CHILDS_LAST_LINE in str(entry.get("MESSAGE"))]
            delays.append(seen[0] - int(written[-1]["__REALTIME_TIMESTAMP"]) / 1e6)
    return Figure("", tuple(delays))


def _note_suspicion(seen: list[float], update: ProbeUpdate) -> None:
    if update.suspected and update.suspected.exception == "RuntimeError":
        seen.append(time.time())
