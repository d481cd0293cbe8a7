"""Orders that arrive cut short, and changes for a whole fleet at once."""

from __future__ import annotations

import base64
import json
import tracemalloc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from dflashtui.config.model import Host
from dflashtui.model.push import Outcome
from dflashtui.ops import pushing
from dflashtui.ops.audit import Audit
from dflashtui.ops.push import Terms, wanted_text
from dflashtui.ops.pushing import PushJob, push_all
from dflashtui.pusher.files import sha256
from dflashtui.pusher.main import Orders, answered
from dflashtui.pusher.places import Places
from dflashtui.source.pusher import Prepared
from tests.faults.marks import fault
from tests.support.pusher_root import PusherRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflashtui.model.push import UnitLook
    from dflashtui.source.pusher import Pusher

UNIT = "a.service"
OLD = "[Service]\nType=exec\nExecStart=/bin/sleep 1\n"
NEW = "[Service]\nType=exec\nExecStart=/bin/sleep 2\n"
MIB = 2**20


@fault(
    "E1",
    how="text and order cut after each byte",
    result="refused by its hash, or as no order",
)
def test_no_part_of_a_unit_is_taken_for_the_unit(tmp_path: Path) -> None:
    host = PusherRoot(tmp_path)
    target = host.write(UNIT, OLD)
    orders = Orders(Places({"manager": "system", "root": str(tmp_path)}), "me", lambda _step: None)

    def order(text: bytes) -> bytes:
        sent = {"text": base64.b64encode(text).decode(), "sha256": sha256(NEW.encode())}
        return json.dumps({"do": "prepare", "unit": UNIT, "before": sha256(OLD.encode()), **sent}).encode()

    whole = order(NEW.encode())
    cut = [*(order(NEW.encode()[:size]) for size in range(len(NEW))), *(whole[:size] for size in range(len(whole)))]
    said = [answered(orders, line) for line in cut]
    kinds = [one.get("refused") for one in said]
    assert set(kinds) == {"damaged", "bad-order"}
    assert kinds.count("damaged") == len(NEW)
    assert target.read_text() == OLD
    assert not [name for name in host.leftovers if name.endswith(UNIT)]
    orders.close()
    assert host.leftovers == []


class QuickPusher:
    """Answers as a host would that has the old text."""

    def __init__(self, look: UnitLook, counted: list[str]) -> None:
        self._look = look
        self._counted = counted

    async def look(self, unit: str) -> UnitLook:
        self._counted.append(unit)
        return self._look

    async def try_text(self, _unit: str, _text: str) -> Prepared:
        return Prepared(None, (), ())


async def dry_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, hosts: int, units: int) -> None:
    """Results come one by one, and what they took is given back."""
    root = PusherRoot(tmp_path)
    root.write(UNIT, OLD)
    async with root.open() as opened:
        look = await opened.look(UNIT)
    asked: list[str] = []

    @asynccontextmanager
    async def quick(_fleet: object, _host: Host) -> AsyncIterator[Pusher]:
        yield cast("Pusher", QuickPusher(look, asked))

    monkeypatch.setattr(pushing, "open_pusher", quick)
    jobs = [
        PushJob(Host(name=f"h{host}"), wanted_text(f"h{host}", f"u{unit}.service", NEW, "x"), Terms(dry_run=True))
        for host in range(hosts)
        for unit in range(units)
    ]
    tracemalloc.start()
    came: dict[str, int] = {}
    first = 0
    results = push_all(jobs, cast("Any", object()), Audit(tmp_path), lambda _host, _step: None, read_only=True)
    async for result in results:
        first = first or len(asked)
        assert (result.outcome, result.is_dry_run) == (Outcome.DONE, True)
        came[result.host] = came.get(result.host, 0) + 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert came == {f"h{host}": units for host in range(hosts)}
    assert first <= units + pushing.LOOKS_AT_ONCE, "results wait for more than the first host"
    assert peak < 40 * MIB
    assert root.reloads == 0
    assert not (tmp_path / "audit.jsonl").exists()


@fault(
    "E13",
    how="a dry run of 500 hosts",
    result="results as they come; memory stays small",
    stand_in="20 units each: the long test",
)
async def test_a_dry_run_of_a_large_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await dry_run(tmp_path, monkeypatch, hosts=500, units=1)


@pytest.mark.long
@fault("E13", how="a dry run of 500 hosts × 20 units", result="results as they come; below 40 MiB")
async def test_a_dry_run_of_twenty_units_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await dry_run(tmp_path, monkeypatch, hosts=500, units=20)
