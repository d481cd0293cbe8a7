"""Services that end in odd ways, leave processes behind, or meet a busy manager; on real hosts."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import opener
from dflashtui.config.model import Unit
from dflashtui.config.read import load
from dflashtui.fleet.causes import cause_of
from dflashtui.model.unit import ActiveState
from dflashtui.ops import preflight_manager, preflight_port
from dflashtui.ops.preflight_asked import asked
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_argv import JournalAccess
from dflashtui.source.systemd import open_units
from dflashtui.source.systemd_bus import connected
from tests.faults.marks import fault
from tests.fleet.journal_reader import way_to
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from dflashtui.model.finding import Cause
    from dflashtui.ops.preflight_question import Question
    from dflashtui.source.systemd_bus import Bus
    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-a"
PORT = 30556
CHILD = (
    f'import socket,time; s=socket.create_server(("127.0.0.1",{PORT})); print("holds the port",flush=True); '
    "time.sleep(60)"
)
MANY_LINES = """
for number in range(30000):
    print("line", number)
import soundfile_of_nobody
"""


def written(fleet: TestFleet, *settings: str) -> str:
    """A unit that the manager has loaded."""
    unit = f"odd-{uuid.uuid4().hex[:8]}.service"
    fleet.write_file(HOST, f"/run/systemd/system/{unit}", "\n".join(("[Service]", *settings, "")))
    fleet.check(HOST, "systemctl", "daemon-reload")
    return unit


def until_failed(fleet: TestFleet, unit: str) -> dict[str, str]:
    """Start it, wait for its end; what the manager says of it."""
    fleet.exec(HOST, "systemctl", "start", "--", unit)
    fleet.check(
        HOST, "timeout", "20", "sh", "-c",
        f"while [ $(systemctl show -P ActiveState -- {unit}) != failed ]; do sleep 0.05; done",
    )  # fmt: skip
    return fleet.show(HOST, unit)


async def cause(fleet: TestFleet, unit: str) -> Cause | None:
    """What the console would say of the end of the unit's last run."""
    async with way_to(fleet, HOST) as transport, open_units(transport, manager="system", become="none") as units:
        async with aclosing(units.watch([unit])) as feed:
            (status,) = await anext(feed)
        reader = JournalReader(transport, JournalAccess())
        await reader.sync()
        items = await reader.history(unit, lines=2000, invocation_id=status.invocation_id)
        return cause_of(HOST, status, items)


@fault("C7", how="watchdog, segmentation fault, SIGKILL by hand", result="told apart", stand_in="cores that are kept")
async def test_ends_by_signals_are_told_apart(fleet: TestFleet) -> None:
    watchdog = written(fleet, "Type=notify", "NotifyAccess=all", "WatchdogSec=1",
                       "ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep 60'")  # fmt: skip
    fault_ = written(fleet, "ExecStart=/bin/sh -c 'kill -SEGV $$$$'")
    by_hand = written(fleet, "ExecStart=/bin/sleep 60")
    fleet.start(HOST, by_hand)
    fleet.check(HOST, "systemctl", "kill", "--signal=KILL", by_hand)
    shown = [until_failed(fleet, unit)["Result"] for unit in (watchdog, fault_)]
    assert [*shown, fleet.show(HOST, by_hand)["Result"]][::2] == ["watchdog", "signal"]
    kinds = {unit: found.kind for unit in (watchdog, fault_, by_hand) if (found := await cause(fleet, unit))}
    assert (kinds[watchdog], kinds[fault_]) == ("timeout", "segfault")
    assert kinds.get(by_hand) not in {"timeout", "segfault", "host-oom"}


@fault("D12", how="30 000 lines, then an exception", result="its cause is found")
async def test_the_cause_behind_very_many_lines_is_found(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/opt/fleet/many_lines.py", MANY_LINES)
    unit = written(
        fleet,
        "LogRateLimitIntervalSec=1s",
        "LogRateLimitBurst=10000000",
        "ExecStart=/usr/bin/python3 /opt/fleet/many_lines.py",
    )
    until_failed(fleet, unit)
    found = await cause(fleet, unit)
    assert found is not None
    assert (found.kind, found.exception) == ("missing-module", "ModuleNotFoundError")


@asynccontextmanager
async def question_about(fleet: TestFleet, unit: str) -> AsyncIterator[Question]:
    config = load(fleet.config_path)
    entry = Unit(name=unit, hosts=(HOST,), engine="openai", listen=f"127.0.0.1:{PORT}")
    config = config.model_copy(update={"units": (*config.units, entry)})
    async with opener()(config.host(HOST), lambda _: None) as transport:
        yield await asked(config, unit, config.host(HOST), transport)


@fault("C8", how="KillMode=process, a child keeps the port", result="named before the next start, with what ends it")
async def test_processes_that_outlive_a_stop_are_named(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/opt/fleet/holds_port.py", CHILD)
    unit = written(fleet, "KillMode=process", "ExecStart=/bin/sh -c 'python3 /opt/fleet/holds_port.py & exec sleep 60'")
    fleet.start(HOST, unit)
    try:
        await until(lambda: "holds the port" in str(fleet.journal(HOST, unit)))
        async with question_about(fleet, unit) as question:
            assert await preflight_port.check(question) == []
            fleet.stop(HOST, unit)
            (port,) = await preflight_port.check(question)
            assert (port.level, port.id) == ("fatal", f"port:{PORT}")
            assert "left behind" in port.message
            (left,) = [one for one in await preflight_manager.check(question) if one.id == "manager:leftovers"]
            assert "(python3)" in left.evidence[0]
            assert left.command is not None
            fleet.check(HOST, *left.command)
            await until(lambda: fleet.exec(HOST, "pgrep", "-f", "holds_port").returncode == 1)
            assert await preflight_port.check(question) == []
    finally:
        fleet.exec(HOST, "pkill", "-KILL", "-f", "holds_port")


@contextmanager
def slow_generator(fleet: TestFleet, seconds: int) -> Iterator[None]:
    """Reading the unit files takes so long."""
    path = "/run/systemd/system-generators/slow"
    fleet.check(HOST, "mkdir", "-p", "/run/systemd/system-generators")
    fleet.hosts[HOST].write_file(path, f"#!/bin/sh\nexec sleep {seconds}\n".encode(), mode=0o755)
    try:
        yield
    finally:
        fleet.hosts[HOST].restore_file(path, None)


@fault(
    "C11",
    how="daemon-reload takes longer than the limit for an answer",
    result="an action waits for it, other hosts go on",
)
async def test_a_busy_manager_is_waited_for(fleet: TestFleet) -> None:
    unit = written(fleet, "ExecStart=/bin/sleep 60")
    async with AsyncExitStack() as stack:
        busy, other = [await stack.enter_async_context(bus_of(fleet, host)) for host in (HOST, "gpu-b")]
        stack.enter_context(slow_generator(fleet, 2))
        argv = fleet.hosts[HOST].command("systemctl", "daemon-reload")
        reloading = await asyncio.create_subprocess_exec(*argv)
        await until(lambda: busy.is_reloading)
        starting = asyncio.ensure_future(busy.call("StartUnit", "ss", unit, "replace"))
        assert await other.call("ListUnitsByNames", "as", ["counter.service"])
        assert not starting.done(), "the other host did not wait"
        assert await starting
        assert await reloading.wait() == 0
    assert fleet.show(HOST, unit)["ActiveState"] == ActiveState.ACTIVE


@asynccontextmanager
async def bus_of(fleet: TestFleet, host: str) -> AsyncIterator[Bus]:
    """A bus that must answer within a second."""
    async with (
        way_to(fleet, host) as transport,
        transport.local_socket("/run/dbus/system_bus_socket") as socket,
        connected(transport, socket, limit_seconds=1.0) as bus,
    ):
        yield bus
