"""Real hosts that reboot, fall silent, freeze, cannot start processes, lose their users, or are far away."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.cli.fleets import opener
from dflashtui.config.model import Config
from dflashtui.errors import SourceUnavailable, TransportLost, Unreachable
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.host import LinkState
from dflashtui.model.push import Outcome
from dflashtui.ops.push import Push, Terms, wanted_text
from dflashtui.transport import ssh_config, ssh_dial, ssh_session
from tests.faults import starts
from tests.faults.leftovers import left
from tests.faults.marks import fault
from tests.fleet.push_hosts import entry, on, through
from tests.fleet.test_console import console
from tests.support.tcp_proxy import tcp_proxy
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from dflashtui.config.model import Host
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(120)
HOST = "gpu-a"
UNIT = "counter.service"


@asynccontextmanager
async def watching(host: Host, *units: str) -> AsyncIterator[RealFleet]:
    """The fleet of one host, connected."""
    config = Config(hosts=(host.model_copy(update={"units": units}),))
    async with RealFleet(config, opener()) as fleet:
        await until(lambda: fleet.snapshot(host.name).link.state is LinkState.UP and fleet.snapshot(host.name).units)
        yield fleet


def checked(fleet: TestFleet, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    """Exit status, state and error of one host, by `--check`."""
    given = ["-c", str(fleet.config_path), "--host", HOST, "--unit", UNIT, "--check", "--json", *more]
    status = main(given)
    (host,) = json.loads(capsys.readouterr().out)["hosts"]
    return status, host["state"], host["error"] or ""


@contextmanager
def stopped(fleet: TestFleet, *pattern: str) -> Iterator[None]:
    """Processes of the host that stand still."""
    fleet.check(HOST, "pkill", "-STOP", *pattern)
    try:
        yield
    finally:
        fleet.check(HOST, "pkill", "-CONT", *pattern)


@fault("A10", how="sshd stands still (SIGSTOP): the kernel accepts", result="no SSH answer, exit 3, within the limit")
def test_an_sshd_that_stands_still(
    fleet: TestFleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_dial, "CONNECT_SECONDS", 1.0)
    with stopped(fleet, "-o", "-x", "sshd"):
        began = time.monotonic()
        status, state, error = checked(fleet, capsys)
    assert time.monotonic() - began < 4
    assert (status, state) == (ExitCode.UNKNOWN, "unreachable")
    assert "accepts connections but gives no SSH answer within" in error


@fault("A12", how="the session's sshd stands still after the login", result="outcomes unknown; connected anew")
async def test_a_session_that_stands_still_is_given_up(fleet: TestFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ssh_config.OURS, "keepalive_interval", 0.5)
    async with watching(entry(fleet, HOST), UNIT) as watched:
        with stopped(fleet, "-f", "sshd: root@notty"):
            asking = [asyncio.create_task(asked(watched)) for _ in range(8)]
            await until(lambda: watched.snapshot(HOST).link.state is not LinkState.UP)
            assert "no sign of life" in (watched.snapshot(HOST).link.error or "")
            assert await asyncio.gather(*asking) == ["unknown"] * 8
            watched.refresh()
            await until(lambda: watched.snapshot(HOST).link.state is LinkState.UP)
            assert await asked(watched) == "0"


async def asked(watched: RealFleet) -> str:
    """What becomes of a small question."""
    try:
        return str((await watched.ask(HOST, ("true",))).check().exit_status)
    except TransportLost:
        return "unknown"


@fault("A8", how="sshd's session killed (-9), then sshd stopped, then there again", result="anew, refused, anew")
async def test_an_sshd_that_is_killed_and_stopped(fleet: TestFleet) -> None:
    async with watching(entry(fleet, HOST), UNIT) as watched:

        def state() -> LinkState:
            return watched.snapshot(HOST).link.state

        def is_served() -> bool:
            """Up, and its manager subscribed."""
            try:
                return bool(watched._services[HOST].units)
            except Unreachable:
                return False

        fleet.check(HOST, "pkill", "-KILL", "-f", "sshd: root")
        await until(lambda: state() is not LinkState.UP)
        watched.refresh()
        await until(is_served)
        fleet.check(HOST, "systemctl", "stop", "ssh")
        try:
            fleet.check(HOST, "pkill", "-KILL", "-f", "sshd: root")
            await until(lambda: state() is LinkState.UNREACHABLE)
            watched.refresh()
            await until(lambda: "refused the connection" in (watched.snapshot(HOST).link.error or ""))
        finally:
            fleet.check(HOST, "systemctl", "start", "ssh")
        watched.refresh()
        await until(is_served)


@fault("B18", how="a FIFO as .bashrc", result="the login shell is named, exit 3", stand_in="a home folder on dead NFS")
def test_a_home_that_does_not_answer(
    fleet: TestFleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_session, "BEGIN_SECONDS", 1.0)
    fleet.check(HOST, "sh", "-c", "mv /root/.bashrc /root/kept; mkfifo /root/.bashrc")
    try:
        status, state, error = checked(fleet, capsys)
    finally:
        fleet.check(
            HOST, "sh", "-c", ": <>/root/.bashrc; mv -f /root/kept /root/.bashrc; pkill -f '[b]ash -c exec' || :"
        )
    assert (status, state) == (ExitCode.UNKNOWN, "unreachable")
    assert "the login shell hangs" in error


@fault("B18", how="userdel in the middle", result="auth-failed, asked once; nothing is shown as up")
async def test_a_user_that_is_removed(fleet: TestFleet) -> None:
    keys = "/home/gone/.ssh"
    fleet.check(HOST, "sh", "-c", f"useradd -m gone; mkdir {keys}; cp /root/.ssh/authorized_keys {keys}/")
    fleet.check(HOST, "chown", "-R", "gone", keys)
    try:
        async with watching(entry(fleet, HOST, "gone"), UNIT) as watched:
            fleet.check(HOST, "userdel", "-f", "gone")
            fleet.exec(HOST, "pkill", "-f", "sshd: gone")
            await until(lambda: watched.snapshot(HOST).link.state is not LinkState.UP)
            watched.refresh()
            await until(lambda: watched.snapshot(HOST).link.state is LinkState.AUTH_FAILED)
            assert watched.snapshot(HOST).link.retry_at is None
            assert "refuses the login of gone" in (watched.snapshot(HOST).link.error or "")
    finally:
        fleet.exec(HOST, "sh", "-c", "userdel -f gone; rm -rf /home/gone")


@fault("B12", how="no process may be started (nproc of PAM)", result="told as that", stand_in="load, pids.max")
async def test_a_host_that_cannot_start_processes(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/etc/security/limits.d/none.conf", "ops hard nproc 2\nops soft nproc 2\n")
    async with opener()(entry(fleet, HOST, "ops"), lambda _: None) as transport:
        with pytest.raises(SourceUnavailable, match="the host cannot start processes for this user"):
            await transport.run(["true"])


@fault("A9", how="systemctl reboot", result="unreachable, then a new boot; no unit of the old one is shown as running")
async def test_a_reboot(fleet: TestFleet) -> None:
    fleet.start(HOST, UNIT)
    async with watching(entry(fleet, HOST), UNIT) as watched:
        await until(lambda: watched.snapshot(HOST).boot_id)
        before = watched.snapshot(HOST)
        seen: list[object] = []
        async with watched.follow(HOST, UNIT) as batches:
            reading = asyncio.create_task(_read(batches, seen))
            await until(lambda: len(seen) > 20)
            rebooting = asyncio.create_task(asyncio.to_thread(fleet.hosts[HOST].reboot))
            await until(lambda: watched.snapshot(HOST).link.state is not LinkState.UP)
            assert watched.snapshot(HOST).observed_at
            await rebooting
            kept = len(seen)
            watched.refresh()
            await until(lambda: watched.snapshot(HOST).boot_id not in {None, before.boot_id})
            await until(lambda: watched.snapshot(HOST).link.state is LinkState.UP)
            await until(lambda: (watched.snapshot(HOST).units or before.units or ())[0].active_state != "active")
            fleet.start(HOST, UNIT)
            await until(lambda: len(seen) > kept + 5)
            reading.cancel()
            await asyncio.wait([reading])
    boots = list(dict.fromkeys(getattr(item, "boot_id", None) for item in seen if hasattr(item, "boot_id")))
    assert len(boots) == 2


async def _read(batches: AsyncIterator[tuple[object, ...]], seen: list[object]) -> None:
    async for batch in batches:
        seen += batch


@pytest.mark.long
@fault("A19", how="2 s there and back, 8 KB a second", result="it works; nothing is called dead", stand_in="64 kbit/s")
async def test_a_slow_path(fleet: TestFleet, tmp_path: Path) -> None:
    async with tcp_proxy(22, fleet.hosts[HOST].address) as proxy:
        proxy.delay_seconds, proxy.bytes_per_second, proxy.most_bytes = 1.0, 8000, 800
        host = through(fleet, HOST, proxy.port, tmp_path)
        with starts.counted(fleet, HOST):
            push = Push(wanted_text(HOST, starts.UNIT, starts.text("slowly"), "a test"), Terms(force=True))
            done = await push.run(partial(on, host))
            assert done.outcome is Outcome.DONE, done.message
            assert fleet.read_file(HOST, starts.PATH).decode() == starts.text("slowly")
        assert proxy.connections == 1


@pytest.mark.long
@fault("A23", how="the console stands still (SIGSTOP) while a unit stops", result="seen at once afterwards; one login")
@fault("A3", how="the same, the path dead and back meanwhile", result="one login, one follower")
def test_a_suspended_console(fleet: TestFleet, tmp_path: Path) -> None:
    fleet.start(HOST, UNIT)
    with console(fleet, tmp_path, "--host", HOST, watched=f'["{UNIT}"]') as screen:
        screen.sees("hosts 1/1 up")
        screen.press("2")
        screen.sees("running")
        screen.child.send_signal(signal.SIGSTOP)
        fleet.cut(HOST)
        fleet.stop(HOST, UNIT)
        time.sleep(3)
        fleet.join(HOST)
        screen.child.send_signal(signal.SIGCONT)
        resumed = time.monotonic()
        screen.wait(lambda text: "running" not in text and "inactive" in text)
        assert time.monotonic() - resumed < 15
        deadline = time.monotonic() + 20
        while (now := left(fleet, HOST)).logins != 1 or now.followers != 1:
            assert time.monotonic() < deadline, now
            screen.read(0.2)
