"""What stands against a push on a real host: file systems, other files, bare tools, sudo, polkit, clocks."""

from __future__ import annotations

import asyncio
import inspect
import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.errors import ActionDenied, OutcomeUnknown
from dflashtui.exit_code import ExitCode
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.diff import unit_diff
from dflashtui.ops.push import Push, Terms, wanted_text
from dflashtui.ops.render import Rendered
from dflashtui.source import systemd_bus
from tests.faults.marks import fault
from tests.faults.starts import PATH, UNIT, counted, text
from tests.faults.watcher import watched
from tests.fleet.push_hosts import entry, on
from tests.fleet.test_systemd import source

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.config.model import Host
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(120)
HOST = "gpu-b"
FOLDER = "/etc/systemd/system"
STATE = "/var/lib/dflashtui"
FEW_INODES = f"rm -rf {STATE}; mkdir {STATE}; mount -t tmpfs -o nr_inodes=2 none {STATE}; touch {STATE}/x"
TALKING_SHELL = """\
echo hello
export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 HOME=/nonexistent TZ=Asia/Kathmandu
unset PATH
"""
FAULTY_LINES = ("Nonsens=1\n", "Restart=perhaps\n", "ExecStart=/bin/true\n")
OLD, NEW = text("old"), text("new")


async def push(host: Host, written: str = NEW, *, force: bool = False) -> PushResult:
    return await Push(wanted_text(host.name, UNIT, written, "a test"), Terms(force=force)).run(partial(on, host))


@fault("B3", how="a tmpfs without inodes as our folder", result="says inodes, not bytes; the old file stands")
@fault("B5", how="an immutable file, a file mounted in its place", result="refused by name; never written through")
async def test_a_file_that_cannot_be_replaced(fleet: TestFleet) -> None:
    host = entry(fleet, HOST)
    with counted(fleet, HOST, OLD), watched(fleet.hosts[HOST], PATH) as watch:
        fleet.check(HOST, "chattr", "+i", PATH)
        immutable = await push(host)
        fleet.check(HOST, "chattr", "-i", PATH)
        fleet.check(HOST, "mount", "--bind", PATH, PATH)
        mounted = await push(host)
        fleet.check(HOST, "umount", PATH)
        fleet.check(
            HOST,
            "sh",
            "-c",
            f"rm -rf {STATE}; mkdir {STATE}; mount -t tmpfs -o nr_inodes=2 none {STATE}; touch {STATE}/x",
        )
        full = await push(host)
        fleet.check(HOST, "umount", STATE)
        assert fleet.read_file(HOST, PATH).decode() == OLD
    assert "Operation not permitted; immutable, or not yours" in immutable.message
    assert "something is mounted there: unmount it first" in mounted.message
    assert "no inodes left (0 of 2 free)" in full.message
    assert {one.outcome for one in (immutable, mounted, full)} == {Outcome.REFUSED}
    watch.require_whole(PATH, OLD)


@fault(
    "B8",
    how="drop-ins at three levels, the same name under /run and /usr/lib",
    result="each is shown; what wins over ours refuses the push",
)
async def test_what_overrides_ours_is_told(fleet: TestFleet) -> None:
    host = entry(fleet, HOST)
    folders = (f"/etc/systemd/system/{UNIT}.d", f"/run/systemd/system/{UNIT}.d", "/etc/systemd/system/service.d")
    drop_ins = [f"{folder}/{number}.conf" for number, folder in enumerate(folders)]
    package, control = f"/usr/lib/systemd/system/{UNIT}", f"/etc/systemd/system.control/{UNIT}"
    with counted(fleet, HOST, OLD):
        for path in (package, *drop_ins):
            fleet.check(HOST, "sh", "-c", f"mkdir -p $(dirname {path}); printf '[Service]\nNice=1\n' >{path}")
        try:
            covering = await push(host, force=True)
            async with on(host) as opened:
                look = await opened.look(UNIT)
            fleet.check(HOST, "sh", "-c", f"install -D {PATH} {control}; systemctl daemon-reload")
            hidden = await push(host, OLD, force=True)
        finally:
            fleet.check(HOST, "sh", "-c", f"rm -rf {' '.join((*folders, package, control))}; systemctl daemon-reload")
    diff = unit_diff(Rendered(host=HOST, unit=UNIT, text=NEW, origin="x"), look)
    shown = " ".join((*(one.words for one in diff.layers), *diff.notes))
    assert {one.file.path for one in look.drop_ins} >= set(drop_ins)
    assert [path for path in drop_ins if path not in shown] == []
    assert f"{package}: a package's own unit of that name would be covered" in covering.notes
    assert hidden.outcome is not Outcome.DONE
    assert control in hidden.message


@fault(
    "E2",
    how="unknown key, bad value, two ExecStart to a real systemd",
    result="refused in its own words; the old file stands",
)
async def test_what_only_systemd_knows_is_refused_by_it(fleet: TestFleet) -> None:
    host = entry(fleet, HOST)
    with counted(fleet, HOST, OLD), watched(fleet.hosts[HOST], PATH) as watch:
        said = [await push(host, NEW + more, force=True) for more in FAULTY_LINES]
    assert {one.outcome for one in said} == {Outcome.REFUSED}
    assert "Unknown key 'Nonsens'" in said[0].message
    assert "perhaps" in said[1].message
    assert "more than one ExecStart" in said[2].message
    watch.require_whole(PATH, OLD)


@fault(
    "B11",
    how="no home, PATH empty, another language, a shell that talks, then no python3",
    result="pushed all the same; without python3 told as that",
)
async def test_a_bare_host(fleet: TestFleet) -> None:
    host = entry(fleet, HOST)
    with counted(fleet, HOST, OLD):
        fleet.write_file(HOST, "/root/.bashrc", TALKING_SHELL)
        done = await push(host)
        fleet.check(HOST, "sh", "-c", "mv /usr/bin/python3 /usr/bin/python3-away")
        try:
            without = await push(host, OLD)
        finally:
            fleet.check(HOST, "sh", "-c", "mv /usr/bin/python3-away /usr/bin/python3")
        assert fleet.read_file(HOST, PATH).decode() == NEW
    assert done.outcome is Outcome.DONE, done.message
    assert without.outcome is Outcome.REFUSED
    assert "python3 (3.8 or newer) cannot run there" in without.message


@fault(
    "B16",
    how="sudo lectures, cannot resolve its own host, writes a log that is full",
    result="noise is no data: pushed, started",
)
async def test_what_sudo_says_besides_is_no_data(fleet: TestFleet) -> None:
    host = entry(fleet, HOST, "sud", become="sudo")
    rules = "Defaults lecture=always, logfile=/dev/full\nsud ALL=(root) NOPASSWD: /usr/bin/python3\n"
    with counted(fleet, HOST, OLD) as starts:
        fleet.write_file(HOST, "/etc/sudoers.d/noise", rules, mode=0o440)
        fleet.write_file(HOST, "/etc/hosts", "127.0.0.1 localhost\n")
        assert (
            b"unable to resolve host"
            in fleet.exec(HOST, "su", "sud", "-c", "sudo -n /usr/bin/systemctl --version").stderr
        )
        done = await push(host)
        async with source(fleet, user="sud", become="sudo") as units:
            assert await units.perform(UnitAction(verb=Verb.START, host=HOST, unit=UNIT)) == ("done", "sudo")
        assert starts.count == 1
    assert done.outcome is Outcome.DONE, done.message


@pytest.mark.long
@fault(
    "B17",
    how="polkitd and the bus stand still (SIGSTOP)",
    result="own time limit; unknown, not failed; goes on afterwards",
)
async def test_a_polkit_that_hangs(fleet: TestFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect.unwrap(systemd_bus.connected), "__kwdefaults__", {"limit_seconds": 1.5})
    start = UnitAction(verb=Verb.START, host=HOST, unit=UNIT)
    with counted(fleet, HOST, OLD) as starts:
        async with source(fleet, user="ops") as units:
            with pytest.raises(ActionDenied):
                await units.perform(start)
            for program in ("polkitd", "dbus-daemon"):
                fleet.check(HOST, "pkill", "-STOP", "-f", f"{program} .*-")
                try:
                    async with asyncio.timeout(5):
                        with pytest.raises(OutcomeUnknown, match="no answer to"):
                            await units.perform(start)
                finally:
                    fleet.check(HOST, "pkill", "-CONT", "-f", f"{program} .*-")
        assert starts.count == 0


@fault(
    "B14",
    how="the zone Asia/Kathmandu and another language on the host",
    result="the same moments in UTC; no negative ages",
)
@fault(
    "B15",
    how="process 1 is not systemd",
    result="the check says no-systemd, exit 3",
    stand_in="a container without systemd",
)
def test_zones_and_hosts_without_systemd(fleet: TestFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["-c", str(fleet.config_path), "--host", HOST, "--unit", "counter.service", "--check", "--json"]
    fleet.start(HOST, "counter.service")
    main(given)
    plain = json.loads(capsys.readouterr().out)
    fleet.write_file(HOST, "/etc/default/locale", "LANG=de_DE.UTF-8\n")
    fleet.check(HOST, "cp", "-P", "--remove-destination", "/usr/share/zoneinfo/Asia/Kathmandu", "/etc/localtime")
    try:
        main(given)
        there = json.loads(capsys.readouterr().out)
    finally:
        fleet.check(HOST, "ln", "-sf", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime")
    since = [one["hosts"][0]["units"][0]["since"] for one in (plain, there)]
    assert since[0] == since[1]
    assert since[0] <= there["at"]
    fleet.check(HOST, "mv", "/run/systemd/system", "/run/systemd/away")
    fleet.check(HOST, "mv", "/run/dbus/system_bus_socket", "/run/dbus/away")
    try:
        assert main(given) == ExitCode.UNKNOWN
    finally:
        fleet.check(HOST, "mv", "/run/systemd/away", "/run/systemd/system")
        fleet.check(HOST, "mv", "/run/dbus/away", "/run/dbus/system_bus_socket")
    (host,) = json.loads(capsys.readouterr().out)["hosts"]
    assert host["state"] == "no-systemd"
