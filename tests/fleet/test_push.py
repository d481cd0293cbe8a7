"""Pushes, roll-backs and the host's own undo on real hosts: real systemd, sudo, user managers, lost links."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.exit_code import ExitCode
from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.diff import Layer, LayerState, unit_diff
from dflashtui.ops.overlay import OverlayFiles
from dflashtui.ops.push import Push, Terms, Wanted, new_change, resolve, wanted_text
from dflashtui.ops.render import Rendered
from tests.faults.marks import fault
from tests.support.tcp_proxy import tcp_proxy

from .journal_reader import until
from .push_hosts import entry, on, through

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.config.model import Host
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(120)
HOST = "gpu-b"
UNIT = "pushed.service"
CUTS = 6
RAN_AS = "/tmp/ran-as"  # noqa: S108 - on a host of our own
PATH = f"/etc/systemd/system/{UNIT}"
STATE = "/var/lib/dflashtui"
OLD = "[Unit]\nDescription=old\n[Service]\nType=exec\nExecStart=/bin/sleep 1000\n"
NEW = "[Unit]\nDescription=new\n[Service]\nType=exec\nExecStart=/bin/sleep 2000\n"


@pytest.fixture
def bare(fleet: TestFleet) -> Iterator[TestFleet]:
    """Nothing of ours is on the hosts, before and after."""
    yield fleet
    for host in ("gpu-a", HOST):
        fleet.exec(host, "systemctl", "stop", UNIT)
        fleet.exec(host, "systemctl", "reset-failed", UNIT)
        fleet.exec(host, "sh", "-c", f"rm -rf {STATE} {PATH} {PATH}.d; systemctl daemon-reload")


async def push(host: Host, text: str = NEW, unit: str = UNIT, terms: Terms | None = None) -> PushResult:
    return await Push(wanted_text(host.name, unit, text, "a test"), terms or Terms()).run(partial(on, host))


def inventory(fleet: TestFleet, tmp_path: Path, text: str) -> Path:
    path = tmp_path / "hosts.toml"
    path.write_text(
        f'{fleet.config_path.read_text()}\n[units."{UNIT}"]\nhosts = ["gpu-a", "{HOST}"]\nfile = "{UNIT}"\n'
    )
    (tmp_path / UNIT).write_text(text)
    return path


@fault("E12", how="a secret in Environment= of a pushed unit", result="masked in difference, output and audit")
@fault("E6", how="rollback of a first push, twice", result="removed; then nothing to undo, exit 2")
@fault("E5", how="push twice on the command line", result="unchanged, exit 0")
def test_edit_diff_push_diff_roll_back_on_the_command_line(
    bare: TestFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    secret = NEW + "Environment=HF_TOKEN=hf_0123456789abcdef\n"
    given = ("-c", str(inventory(bare, tmp_path, secret)), UNIT)
    assert main(["diff", *given]) == ExitCode.WARNING
    shown = capsys.readouterr().out
    assert f"# {UNIT} on gpu-a, {HOST} (2 hosts)" in shown
    assert "+Environment=HF_TOKEN=***" in shown
    assert main(["push", *given]) == ExitCode.FAILED  # two hosts need a word, and there is no terminal
    assert main(["push", "--read-only", "-y", *given]) == ExitCode.FAILED
    assert not bare.hosts[HOST].find_file(PATH)
    capsys.readouterr()
    assert main(["push", "--json", "-y", *given]) == ExitCode.OK
    done = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["host"], one["outcome"], one["number"]) for one in done] == [("gpu-a", "done", 1), (HOST, "done", 1)]
    assert bare.read_file(HOST, PATH).decode() == secret
    assert main(["diff", *given]) == ExitCode.OK
    assert main(["push", "-y", *given]) == ExitCode.OK
    assert "unchanged" in capsys.readouterr().out
    assert main(["rollback", "-y", *given]) == ExitCode.OK
    assert main(["rollback", "-y", *given]) == ExitCode.FAILED
    assert "nothing to undo" in capsys.readouterr().err
    assert bare.show(HOST, UNIT)["LoadState"] == "not-found"
    audit = (tmp_path / "state/dflashtui/audit.jsonl").read_text()
    assert [json.loads(line)["result"] for line in audit.splitlines()] == ["done"] * 4
    assert "hf_0123456789abcdef" not in audit + shown


@fault("B7", how="the file is edited by hand after our push", result="refused until --force")
@fault("B8", how="a drop-in that is not loaded yet", result="each layer says what is so")
async def test_each_layer_is_told_and_a_change_by_hand_needs_a_word(bare: TestFleet) -> None:
    host = entry(bare, HOST)
    assert (await push(host, OLD)).outcome is Outcome.DONE
    bare.check(HOST, "systemctl", "start", UNIT)
    bare.check(HOST, "sh", "-c", f"echo '# by hand' >>{PATH}; mkdir {PATH}.d; echo '[Service]' >{PATH}.d/more.conf")
    async with on(host) as opened:
        look = await opened.look(UNIT)
    diff = unit_diff(Rendered(host=HOST, unit=UNIT, text=NEW, origin="a test"), look)
    states = [(one.layer, one.state) for one in diff.layers]
    layers = (Layer.DISK, Layer.DISK, Layer.LOADED, Layer.RUNNING)
    assert states == [(layer, LayerState.DIFFERS) for layer in layers]
    disk, drop_in, loaded, running = diff.layers
    assert "changed on the host since push 1 by a test" in disk.words
    assert f"{PATH}.d/more.conf adds to the unit; it is not loaded yet" == drop_in.words
    assert "+# by hand" in loaded.lines
    assert "+# by hand" in running.lines
    refused = await push(host)
    assert refused.outcome is Outcome.REFUSED
    forced = await push(host, terms=Terms(force=True))
    assert forced.outcome is Outcome.DONE
    assert "it runs on with the old text until it is restarted" in forced.notes
    assert bare.show(HOST, UNIT)["ActiveState"] == "active"


@fault("B9", how="another unit was touched", result="named before the reload")
@fault("E2", how="a program that is not there, a line without =", result="refused in systemd's own words")
async def test_what_systemd_says_of_a_text_refuses_it_and_others_are_named_before_the_reload(bare: TestFleet) -> None:
    host = entry(bare, HOST)
    tried = await push(host, NEW.replace("/bin/sleep", "/nonexistent"), terms=Terms(dry_run=True))
    assert tried.outcome is Outcome.REFUSED
    assert "Command /nonexistent is not executable" in tried.message
    assert bare.exec(HOST, "test", "-e", STATE).returncode == 1
    real = await push(host, f"{NEW}Environment\n", terms=Terms(force=True))
    assert real.outcome is Outcome.REFUSED
    assert f"{UNIT}:6: Missing '='" in real.message
    assert bare.exec(HOST, "test", "-e", PATH).returncode == 1
    bare.check(HOST, "systemctl", "start", "counter.service")
    bare.check(HOST, "touch", "/etc/systemd/system/counter.service")
    done = await push(host)
    bare.check(HOST, "systemctl", "stop", "counter.service")
    assert (done.outcome, done.reload_also) == (Outcome.DONE, ("counter.service",))


@fault("B1", how="a full tmpfs as /etc/systemd/system", result="no space (0 B free); nothing is changed")
@fault("B2", how="a full tmpfs as our folder", result="refused before anything is replaced")
@fault("B5", how="a read-only /etc/systemd/system", result="refused by name")
async def test_what_stands_in_the_way_on_a_real_host(bare: TestFleet) -> None:
    host = entry(bare, HOST)
    bare.check(HOST, "systemd-run", f"--unit={UNIT}", "sleep", "1000")
    transient = await push(host)
    bare.check(HOST, "systemctl", "stop", UNIT)
    assert "a unit of this name is there, made by a program" in transient.message
    bare.check(HOST, "systemctl", "mask", UNIT)
    masked = await push(host)
    bare.check(HOST, "systemctl", "unmask", UNIT)
    assert f"the unit is masked: dflashtui unmask {UNIT}" in masked.message
    covering = await push(host, unit="ssh.service")
    assert "ssh.service: a package's own unit of that name would be covered" in covering.message
    bare.check(HOST, "mount", "--bind", "-o", "ro", "/etc/systemd/system", "/etc/systemd/system")
    read_only = await push(host)
    bare.check(HOST, "umount", "/etc/systemd/system")
    assert "/etc/systemd/system: the file system is read-only" in read_only.message
    fill = "mkdir -p {0}; mount -t tmpfs -o size=8k none {0}; head -c 8192 /dev/zero >{0}/x; true"
    bare.check(HOST, "sh", "-c", fill.format(STATE))
    full = await push(host)
    bare.check(HOST, "umount", STATE)
    assert "No space left on device (0 B free)" in full.message
    bare.check(HOST, "sh", "-c", fill.format("/etc/systemd/system"))
    no_room = await push(host)
    bare.check(HOST, "umount", "/etc/systemd/system")
    assert "/etc/systemd/system: No space left on device (0 B free); nothing is changed" in no_room.message
    found = (transient, masked, covering, read_only, full, no_room)
    assert {one.outcome for one in found} == {Outcome.REFUSED}
    assert bare.exec(HOST, "test", "-e", PATH).returncode == 1


@fault("B16", how="sudo -n without and with the rule", result="the missing rule is named; with it, pushed")
async def test_sudo_with_and_without_the_rule_and_a_plain_user(bare: TestFleet) -> None:
    denied = await push(entry(bare, HOST, "sud", become="sudo"))
    assert denied.outcome is Outcome.REFUSED
    assert "NOPASSWD: /usr/bin/python3" in denied.message
    bare.write_file(HOST, "/etc/sudoers.d/push", "sud ALL=(root) NOPASSWD: /usr/bin/python3\n", mode=0o440)
    assert (await push(entry(bare, HOST, "sud", become="sudo"))).outcome is Outcome.DONE
    assert bare.check(HOST, "stat", "-c", "%U:%G %a", PATH) == b"root:root 644\n"
    plain = await push(entry(bare, HOST, "ops"), OLD)
    assert "only root may write there" in plain.message


async def test_a_users_own_manager(bare: TestFleet) -> None:
    home = "/home/ops"
    host = entry(bare, HOST, "ops", manager="user")
    try:
        assert (await push(host)).outcome is Outcome.DONE
        folder = f"{home}/.config/systemd/user"
        assert bare.check(HOST, "stat", "-c", "%U:%G %a", f"{folder}/{UNIT}") == b"ops:ops 644\n"
        async with on(host) as opened:
            look = await opened.look(UNIT)
        assert (look.load_state, look.fragment_path) == ("loaded", f"{folder}/{UNIT}")
        assert bare.exec(HOST, "test", "-d", f"{home}/.local/state/dflashtui/units/{UNIT}").returncode == 0
    finally:
        bare.check(HOST, "rm", "-rf", f"{home}/.config/systemd/user/{UNIT}", f"{home}/.local/state/dflashtui")


@fault(
    "A6",
    how="nobody confirms before the timer fires",
    result="the host puts back the old file; the console learns that it did",
)
async def test_the_host_undoes_by_itself_unless_it_is_told_that_all_is_well(bare: TestFleet) -> None:
    host = entry(bare, HOST)
    await push(host, OLD)
    bare.check(HOST, "systemctl", "start", UNIT)
    kept, fired = new_change(), new_change()
    async with on(host) as opened:
        timer = await opened.arm_undo(kept, 60.0, restart=UNIT)
        assert timer.encode() in bare.check(HOST, "systemctl", "list-timers", "--all", "--no-legend")
    assert (await push(host, NEW, terms=Terms(change=kept))).outcome is Outcome.DONE
    async with on(host) as opened:
        assert await opened.disarm_undo(kept) is True
    assert b"dflashtui-undo" not in bare.check(HOST, "systemctl", "list-timers", "--all", "--no-legend")
    assert bare.read_file(HOST, PATH).decode() == NEW
    async with on(host) as opened:
        await opened.arm_undo(fired, 1.0, restart=UNIT)
    old_run = bare.show(HOST, UNIT)["InvocationID"]
    assert (await push(host, OLD + "# worse\n", terms=Terms(change=fired))).outcome is Outcome.DONE
    await until(lambda: bare.read_file(HOST, PATH).decode() == NEW)
    await until(lambda: bare.show(HOST, UNIT)["InvocationID"] not in {"", old_run})
    assert bare.show(HOST, UNIT)["Description"] == "new"
    async with on(host) as opened:
        assert await opened.disarm_undo(fired) is False
        look = await opened.look(UNIT)
    assert [record.action for record in look.records or ()] == ["push", "push", "push", "undo"]
    assert bare.exec(HOST, "sh", "-c", f"ls {STATE}/undo-*").returncode != 0


async def test_an_overlay_of_a_users_own_environment_is_laid_by_that_users_rights(bare: TestFleet) -> None:
    venv = "/home/ops/venv"
    package = f"{venv}/lib/python3.11/site-packages/sglang"
    bare.check(HOST, "python3", "-m", "venv", "--without-pip", venv)
    bare.check(HOST, "mkdir", package)
    told = f"import os; os.system('id -un >{RAN_AS}')"
    bare.check(HOST, "sh", "-c", f'echo own >{package}/__init__.py; echo "{told}" >{package}.pth')
    bare.check(HOST, "chown", "-R", "ops:ops", venv)
    files = {"__init__.py": b"laid\n", "more/new.py": b"new\n"}
    overlay = OverlayFiles(unit=UNIT, source="patches", python=f"{venv}/bin/python", package="sglang", files=files)
    wanted = Wanted(host=HOST, unit=UNIT, action="overlay push", has_file=False)
    try:
        done = await Push(wanted, Terms(), (overlay,)).run(partial(on, entry(bare, HOST)))
        assert done.outcome is Outcome.DONE, done.message
        found = bare.check(HOST, "stat", "-c", "%U %a", f"{package}/__init__.py", f"{package}/more/new.py")
        assert found == b"ops 644\nops 644\n"
        assert bare.check(HOST, "cat", RAN_AS) == b"ops\n"
        back = wanted.model_copy(update={"action": "overlay restore", "restores": True})
        assert (await Push(back, Terms(), (overlay,)).run(partial(on, entry(bare, HOST)))).outcome is Outcome.DONE
        assert bare.check(HOST, "cat", f"{package}/__init__.py") == b"own\n"
    finally:
        bare.check(HOST, "rm", "-rf", venv, RAN_AS)


@fault("A4", how="cut at six moments of real pushes", result="old or new, whole; the host says which")
async def test_cut_anywhere_the_host_says_what_became_of_it(bare: TestFleet, tmp_path: Path) -> None:
    direct = entry(bare, HOST)
    await push(direct, OLD)
    async with tcp_proxy(22, bare.hosts[HOST].address) as proxy:
        proxied, outcomes = through(bare, HOST, proxy.port, tmp_path), set[Outcome]()
        there = NEW
        whole = await push(proxied, there)
        assert whole.outcome is Outcome.DONE
        for step in range(CUTS):
            wanted = OLD if there == NEW else NEW
            moment = whole.duration_seconds * (step + 2) / (CUTS + 2)
            cut = asyncio.get_running_loop().call_later(moment, proxy.cut)
            result = await push(proxied, wanted)
            cut.cancel()
            if result.outcome is Outcome.UNKNOWN:
                result = await resolve(partial(on, direct), result)
            outcomes.add(result.outcome)
            there = bare.read_file(HOST, PATH).decode()
            assert there in {OLD, NEW}
            assert (there == wanted) is (result.outcome is Outcome.DONE), result.message
    assert Outcome.UNKNOWN not in outcomes
    assert (await push(direct, OLD)).ok
    assert (await push(direct, NEW)).ok
    left = bare.check(HOST, "sh", "-c", f"find /etc/systemd/system {STATE} -name '*.dflash-*' -o -name 'staged-*'")
    assert left == b""
    await until(lambda: not bare.exec(HOST, "pgrep", "-f", "python3 -I -S -u").stdout)
