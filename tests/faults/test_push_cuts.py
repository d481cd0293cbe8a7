"""Pushes and deployments that are cut: at every byte of their orders, and a thousand times over a real sshd."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.push import Push, Terms, resolve, wanted_text
from tests.faults import starts
from tests.faults.cut_orders import Cut, opened
from tests.faults.marks import fault
from tests.faults.seed import SEED, seeded
from tests.faults.watcher import watched
from tests.fleet.push_hosts import entry, on, through
from tests.support.pusher_root import PusherRoot
from tests.support.tcp_proxy import TcpProxy, tcp_proxy
from tests.support.until import until

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from dflashtui.config.model import Host
    from dflashtui.ops.push import OpenPusher
    from tests.fleet.harness.fleet import TestFleet

CUTS = int(os.environ.get("DFLASHTUI_CUTS") or 1000)
DEPLOYS_PERCENT = 3
NOT_BEGUN = "not begun"
UNIT, HOST = "a.service", "gpu-c"
OLD, NEW = (f"[Service]\nType=exec\nExecStart=/bin/sleep {seconds}\n" for seconds in (1000, 2000))


async def push(host: str, text: str, by: OpenPusher, unit: str = UNIT) -> PushResult:
    return await Push(wanted_text(host, unit, text, "a test"), Terms(force=True)).run(by)


@pytest.mark.parametrize(("way", "step"), [("there", 97), ("back", 701)])
@fault("A4", how="cut after some bytes of the orders, of the answers", result="old or new; the word is true")
async def test_a_push_cut_at_some_bytes(tmp_path: Path, way: str, step: int) -> None:
    await cut_everywhere(PusherRoot(tmp_path), way, step=step)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", ["there", "back"])
@fault("A4", how="cut after every byte of the orders, of the answers", result="old or new; the word is true")
@fault("E1", how="the same", result="never half a file")
async def test_a_push_cut_at_every_byte(tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = await cut_everywhere(PusherRoot(tmp_path), way, step=1)
    with capsys.disabled():
        sys.stdout.write(f"\ncut at every byte, {way}: {outcomes.total()} cuts; {dict(outcomes)}\n")


async def cut_everywhere(root: PusherRoot, way: str, *, step: int) -> Counter[str]:
    """Push old and new by turns, each cut a little later, until one passes whole."""
    target = root.write(UNIT, OLD)
    outcomes, limit = Counter[str](), 0
    while True:
        wanted = NEW if target.read_text() == OLD else OLD
        cut = Cut(**{way: limit})
        result = await push("here", wanted, partial(opened, root, cut))
        if result.outcome is Outcome.UNKNOWN:
            result = await resolve(root.opened, result)
        there = target.read_text()
        assert there in {OLD, NEW}, f"{way} {limit}: half a file"
        assert (there == wanted) is (result.outcome is Outcome.DONE), f"{way} {limit}: {result.message}"
        assert root.leftovers == []
        if not cut.is_cut:
            return outcomes
        outcomes[result.outcome.value] += 1
        limit += step


class Trial:
    """A unit on a real host behind the proxy, and what came of everything that was cut."""

    def __init__(self, fleet: TestFleet, proxy: TcpProxy, folder: Path) -> None:
        self.fleet, self._proxy, self._folder = fleet, proxy, folder
        self.behind: Host = through(fleet, HOST, proxy.port, folder)
        self._direct = partial(on, entry(fleet, HOST))
        self._whole: dict[str, dict[str, int]] = {}
        self.wrong: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self._environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}

    @property
    def there(self) -> str:
        return self.fleet.read_file(HOST, starts.PATH).decode()

    def other(self) -> str:
        """The text that is not there."""
        return NEW_TEXT if self.there == OLD_TEXT else OLD_TEXT

    async def measure(self) -> None:
        """How many bytes a push and a deployment are, each way."""
        self._begin()
        assert (await push(HOST, self.other(), partial(on, self.behind), starts.UNIT)).ok
        self._whole["push"] = self._passed()
        self._begin()
        assert (await self._deployed(self.other()))["outcome"] == "ready"
        self._whole["deploy"] = self._passed()

    def _begin(self) -> None:
        for way in (self._proxy.there, self._proxy.back):
            way.passed_bytes, way.cut_after_bytes = 0, None

    def _passed(self) -> dict[str, int]:
        return {"there": self._proxy.there.passed_bytes, "back": self._proxy.back.passed_bytes}

    def _cut_somewhere(self, what: str, chances: Random) -> str:
        """Arm a cut after some byte of one direction, more often near its end: there it all happens."""
        self._begin()
        name = chances.choice(("there", "back"))
        limit = int(self._whole[what][name] * (1 - chances.random() ** 2))
        getattr(self._proxy, name).cut_after_bytes = limit
        return f"{what} cut after {limit} bytes {name}"

    async def push(self, chances: Random) -> None:
        wanted, where = self.other(), self._cut_somewhere("push", chances)
        result = await push(HOST, wanted, partial(on, self.behind), starts.UNIT)
        self._begin()
        if result.outcome is Outcome.UNKNOWN:
            result = await resolve(self._direct, result)
        self.outcomes[f"push {result.outcome.value}"] += 1
        if (self.there == wanted) is not (result.outcome is Outcome.DONE):
            self.wrong.append(f"{where}: {result.message}")

    async def deploy(self, chances: Random, log: starts.Starts) -> None:
        before, wanted, old = log.count, self.other(), self.there
        where = self._cut_somewhere("deploy", chances)
        document = await self._deployed(wanted, is_cut=True)
        begun = log.count - before
        self.outcomes[f"deploy {document['outcome']}"] += 1
        if begun > 1:
            self.wrong.append(f"{where}: {begun} starts: {document}")
        if document["outcome"] == "ready" and (self.there != wanted or begun != 1):
            self.wrong.append(f"{where}: said to be ready, with {begun} starts: {document}")
        if document["outcome"] == NOT_BEGUN and (self.there != old or begun):
            self.wrong.append(f"{where}: said to have changed nothing, with {begun} starts")

    async def _deployed(self, text: str, *, is_cut: bool = False) -> dict[str, Any]:
        """By the command line; the link is there again after its one cut."""
        (self._folder / starts.UNIT).write_text(text)
        argv = (sys.executable, "-m", "dflashtui", "-c", str(self._inventory()), "deploy", starts.UNIT)
        running = await asyncio.create_subprocess_exec(
            *(*argv, "--json", "--yes", "--no-preflight"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )
        mending = asyncio.create_task(self._mended()) if is_cut else None
        output, errors = await running.communicate()
        if mending:
            mending.cancel()
        if b"nothing was changed" in errors:
            return {"outcome": NOT_BEGUN}
        assert output, errors.decode()
        found: dict[str, Any] = json.loads(output.splitlines()[0])
        return found

    async def _mended(self) -> None:
        """Once the cut has been made."""
        ways = (self._proxy.there, self._proxy.back)
        await until(lambda: any(way.cut_after_bytes == way.passed_bytes for way in ways))
        await asyncio.sleep(0.02)
        self._begin()

    def _inventory(self) -> Path:
        path = self._folder / "hosts.toml"
        host = self.behind
        path.write_text(
            f'[hosts.{HOST}]\naddress = "127.0.0.1"\nport = {host.port}\nuser = "root"\n'
            f'identity_file = "{host.identity_file}"\nknown_hosts = "{host.known_hosts}"\n'
            f'[units."{starts.UNIT}"]\nhosts = ["{HOST}"]\nfile = "{starts.UNIT}"\n'
        )
        return path


OLD_TEXT, NEW_TEXT = starts.text("old"), starts.text("new")


@pytest.mark.long
@pytest.mark.timeout(2400)
@fault("A4", how="1 000 cuts after seeded bytes of pushes and deployments over sshd", result="whole files, true words")
@fault("A5", how="the same", result="no start is made twice")
async def test_a_thousand_cuts(fleet: TestFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chances = seeded("push cuts")
    async with tcp_proxy(22, fleet.hosts[HOST].address) as proxy:
        trial = Trial(fleet, proxy, tmp_path)
        with starts.counted(fleet, HOST, OLD_TEXT) as log, watched(fleet.hosts[HOST], starts.PATH) as watch:
            await trial.measure()
            for _ in range(CUTS):
                if chances.randrange(100) < DEPLOYS_PERCENT:
                    await trial.deploy(chances, log)
                else:
                    await trial.push(chances)
            begun = log.count
        left = fleet.check(HOST, "sh", "-c", "find /etc/systemd/system /var/lib -name '*.dflash-*' -o -name 'staged-*'")
    with capsys.disabled():
        sys.stdout.write(
            f"\n{CUTS} cuts, seed {SEED}: {dict(sorted(trial.outcomes.items()))}; {begun} starts; {watch.looks} looks"
            f" at the file, {len(set(watch.hashes(starts.PATH)))} texts seen; wrong: {trial.wrong}\n"
        )
    watch.require_whole(starts.PATH, OLD_TEXT, NEW_TEXT)
    assert trial.wrong == []
    assert left == b""
