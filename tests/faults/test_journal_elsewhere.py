"""Lines that are not where one looks: files, namespaces, memory, nowhere, damaged files; on real hosts."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.journal import JournalGap
from dflashtui.ops.logs import logs
from dflashtui.ops.logs_tail import LogOptions, LogSource
from dflashtui.source.journal_where import NOTHING_KEPT, VOLATILE
from tests.faults.marks import fault
from tests.fleet.journal_reader import way_to
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-c"
JOURNALD = "systemd-journald.service"


def service(fleet: TestFleet, *settings: str) -> str:
    """A running service that prints a line."""
    unit = f"elsewhere-{uuid.uuid4().hex[:8]}.service"
    text = "\n".join(("[Service]", *settings, "ExecStart=/bin/sh -c 'echo said; exec sleep 60'", ""))
    fleet.write_file(HOST, f"/run/systemd/system/{unit}", text)
    fleet.check(HOST, "systemctl", "daemon-reload")
    fleet.start(HOST, unit)
    return unit


async def told_by_logs(fleet: TestFleet, unit: str) -> tuple[list[str], list[str]]:
    """What `dflashtui logs` prints and warns of."""
    lines: list[str] = []
    warnings: list[str] = []
    await logs([LogSource(HOST, lambda: way_to(fleet, HOST))], unit, LogOptions(), lines.append, warnings.append)
    return lines, warnings


async def told_by_the_console(fleet: TestFleet, unit: str) -> list[str]:
    """The first gap lines in the unit's log."""
    inventory = load(fleet.config_path)
    only = inventory.model_copy(update={"hosts": tuple(host for host in inventory.hosts if host.name == HOST)})
    async with RealFleet(only, opener(), sources=frozenset({"journal"})) as real, real.follow(HOST, unit) as batches:
        async for batch in batches:
            if gaps := [item.text for item in batch if isinstance(item, JournalGap)]:
                return gaps
    raise AssertionError("a log that is followed goes on")


@contextmanager
def storage(fleet: TestFleet, word: str) -> Iterator[None]:
    """journald with another storage."""
    path = "/run/systemd/journald.conf.d/storage.conf"
    fleet.check(HOST, "mkdir", "-p", "/run/systemd/journald.conf.d")
    fleet.hosts[HOST].write_file(path, f"[Journal]\nStorage={word}\n".encode())
    _restart(fleet)
    try:
        yield
    finally:
        fleet.hosts[HOST].restore_file(path, None)
        _restart(fleet)
        fleet.check(HOST, "rm", "-rf", "/run/log/journal")


def _restart(fleet: TestFleet) -> None:
    fleet.exec(HOST, "systemctl", "reset-failed", JOURNALD)
    fleet.check(HOST, "systemctl", "restart", JOURNALD)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("StandardOutput=append:/run/elsewhere.log", "StandardOutput=append"),
        ("StandardOutput=null", "StandardOutput=null"),
        ("LogNamespace=apart", "journalctl --namespace=apart"),
    ],
)
@fault("D15", how="output to a file, to nowhere, to another namespace", result="the log says where it goes")
async def test_output_that_goes_elsewhere_is_told(fleet: TestFleet, setting: str, words: str) -> None:
    unit = service(fleet, setting)
    (top,) = await told_by_the_console(fleet, unit)
    assert words in top
    lines, warnings = await told_by_logs(fleet, unit)
    assert "said" not in "".join(lines)
    assert any(words in warning and unit in warning for warning in warnings)


async def test_output_that_goes_to_the_journal_has_no_such_line(fleet: TestFleet) -> None:
    unit = service(fleet)
    await until(lambda: "said" in str(fleet.journal(HOST, unit)))
    lines, warnings = await told_by_logs(fleet, unit)
    assert ("said" in "".join(lines), warnings) == (True, [])


@fault("D16", how="Storage=volatile, Storage=none", result="told at the top of the log")
async def test_a_journal_that_is_not_kept_is_told(fleet: TestFleet) -> None:
    with storage(fleet, "volatile"):
        assert VOLATILE in await told_by_the_console(fleet, service(fleet))
    with storage(fleet, "none"):
        unit = service(fleet)
        assert NOTHING_KEPT in await told_by_the_console(fleet, unit)
        assert NOTHING_KEPT in "".join((await told_by_logs(fleet, unit))[1])


@fault("D13", how="the head of an archived journal file is overwritten", result="the rest is read; said")
async def test_a_damaged_journal_file_is_told_and_the_rest_is_read(fleet: TestFleet) -> None:
    unit = service(fleet)
    await until(lambda: "said" in str(fleet.journal(HOST, unit)))
    fleet.check(HOST, "journalctl", "--rotate")
    archived = fleet.check(HOST, "sh", "-c", "ls -t /var/log/journal/*/system@*.journal").decode().split()
    fleet.check(HOST, "dd", "if=/dev/zero", f"of={archived[0]}", "bs=1", "count=64", "conv=notrunc")
    try:
        fleet.check(HOST, "systemctl", "restart", unit)
        await until(lambda: "Started" in str(fleet.journal(HOST, unit)))
        lines, _ = await told_by_logs(fleet, unit)
        first, _, rest = "".join(lines).partition("\n")
        assert re.search("journal files? of this host cannot be read", first)
        assert "Started" in rest
        assert "cannot be read" in (await told_by_the_console(fleet, unit))[0]
    finally:
        fleet.check(HOST, "rm", "--", archived[0])
