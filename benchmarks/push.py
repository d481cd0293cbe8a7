"""`dflashtui push`: nothing to do on 50 entries against scp and ssh; and cut at 200 moments over SSH."""

from __future__ import annotations

import asyncio
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import NeverSeenError
from dflashtui.ops.push import Push, Terms, resolve, wanted_text
from tests.fleet.push_hosts import on, through
from tests.support.tcp_proxy import tcp_proxy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting
    from dflashtui.config.model import Host
    from dflashtui.model.push import PushResult

ENTRIES, TARGET_SECONDS = 50, 2.0
CUTS = 200
UNIT = "bench-push.service"
TARGET = f"/etc/systemd/system/{UNIT}"
OLD, NEW = (f"[Service]\nType=exec\nExecStart=/bin/sleep {seconds}\n" for seconds in (1000, 2000))
BY_HAND = 'scp -q -F "$1" "$2" "$0:/etc/systemd/system/" && ssh -F "$1" "$0" systemctl daemon-reload && echo done'
CLEAN = f"rm -rf {TARGET} /var/lib/dflashtui; systemctl daemon-reload"


def measure(setting: Setting) -> tuple[Row, ...]:
    try:
        return (_nothing_to_do(setting), asyncio.run(_cut(setting)))
    finally:
        for host in setting.fleet.hosts:
            setting.fleet.check(host, "sh", "-c", CLEAN)


def _nothing_to_do(setting: Setting) -> Row:
    found = inventory.many(setting.fleet, setting.folder / "push", ENTRIES)
    names = ", ".join(f'"{name}"' for name in found.names)
    with found.hosts_toml.open("a") as file:
        file.write(f'\n[units."{UNIT}"]\nhosts = [{names}]\nfile = "{UNIT}"\n')
    text = found.hosts_toml.with_name(UNIT)
    text.write_text(NEW)
    for host in setting.fleet.hosts:
        setting.fleet.hosts[host].write_file(TARGET, NEW.encode())
        setting.fleet.check(host, "systemctl", "daemon-reload")
    ours, theirs = [], []
    for turn in range(setting.runs(5) + 1):
        say(f"push: {turn or 'warming up'}")
        setting.wait_for_quiet()
        both = _ours(setting, found), _by_hand(found, text, setting.environment)
        if turn:
            ours.append(both[0])
            theirs.append(both[1])
    return Row(
        what=f"push, nothing to do, {ENTRIES} entries",
        unit="s",
        ours=Figure("", tuple(ours)),
        other=Figure("xargs -P16 scp + ssh daemon-reload", tuple(theirs)),
        target=TARGET_SECONDS,
        how=f"{ENTRIES} names, 3 real hosts; wall time from exec to exit; disk and manager compared, nothing written",
    )


def _ours(setting: Setting, found: Inventory) -> float:
    began = time.perf_counter()
    argv = (*setting.command, "push", UNIT, "-y", "-c", str(found.hosts_toml))
    done = subprocess.run(argv, capture_output=True, check=True, env=setting.environment)
    seconds = time.perf_counter() - began
    if done.stdout.count(b": unchanged: ") != ENTRIES:
        raise NeverSeenError(f"not every entry was unchanged: {done.stdout[-300:]!r}")
    return seconds


def _by_hand(found: Inventory, text: Path, environment: Mapping[str, str]) -> float:
    argv = ("xargs", "-P16", "-I{}", "sh", "-c", BY_HAND, "{}", str(found.ssh_config), str(text))
    began = time.perf_counter()
    names = "\n".join(found.names).encode()
    subprocess.run(argv, input=names, capture_output=True, check=False, env=dict(environment))
    return time.perf_counter() - began


async def _cut(setting: Setting) -> Row:
    """Each push is cut after another time, or number of bytes; then the host is asked, and looked at."""
    fleet, host = setting.fleet, next(iter(setting.fleet.hosts))
    wrong, outcomes = 0, {"done": 0, "failed": 0}
    async with tcp_proxy(22, fleet.hosts[host].address) as proxy:
        entry = through(fleet, host, proxy.port, setting.folder)
        here = fleet.read_file(host, TARGET).decode()
        proxy.passed_bytes = 0
        seconds = (await _push(entry, OLD if here == NEW else NEW)).duration_seconds
        whole = proxy.passed_bytes
        for number in range(CUTS):
            if number % 50 == 0:
                say(f"push: cut {number} of {CUTS}")
            here = fleet.read_file(host, TARGET).decode()
            wanted = OLD if here == NEW else NEW
            proxy.passed_bytes, proxy.cut_after_bytes = 0, whole * (number + 1) // (CUTS + 1) if number % 2 else None
            by_time = asyncio.get_running_loop().call_later(seconds * (number + 1) / CUTS, proxy.cut)
            if number % 2:
                by_time.cancel()
            result = await _push(entry, wanted)
            by_time.cancel()
            proxy.cut_after_bytes = None
            if result.ok is None:
                result = await resolve(partial(on, entry), result)
            there = fleet.read_file(host, TARGET).decode()
            outcomes[result.outcome.value] = outcomes.get(result.outcome.value, 0) + 1
            wrong += there not in {OLD, NEW} or (there == wanted) is not (result.ok is True)
    return Row(
        what=f"push cut at {CUTS} moments: half files, untrue words",
        unit="",
        ours=Figure("", (float(wrong),)),
        target=0,
        how="the connection is reset after other parts of its time and of its bytes; the word against the file",
        notes=(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()),),
    )


async def _push(entry: Host, text: str) -> PushResult:
    return await Push(wanted_text(entry.name, UNIT, text, "a benchmark"), Terms(force=True)).run(partial(on, entry))
