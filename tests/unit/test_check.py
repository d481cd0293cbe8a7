"""The headless check says what it saw, in words, in JSON and in its exit code."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from dflashtui.check.run import CheckOptions, check
from dflashtui.check.schema import schema
from dflashtui.exit_code import ExitCode, worst
from dflashtui.model.gpu import Gpu
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus

SCHEMA = Path(__file__).parents[2] / "docs" / "check.schema.json"
UP = Link(state=LinkState.UP, since=datetime(2031, 1, 2, tzinfo=UTC))
WELL = UnitStatus(
    name="a.service", load_state=LoadState.LOADED, active_state=ActiveState.ACTIVE, readiness=Readiness.READY
)
FAILED = WELL.model_copy(
    update={"name": "b.service", "active_state": ActiveState.FAILED, "readiness": Readiness.FAILED}
)
RELOAD = WELL.model_copy(update={"needs_reload": True})
HOSTILE = "[/x]\x1b]0;x\x07\x9b2J\u202e漢\udcff"


class Looked:
    """A look that ends at once, or never."""

    is_demo = False

    def __init__(self, *snapshots: HostSnapshot, ends: bool = True) -> None:
        self._snapshots = {snapshot.name: snapshot for snapshot in snapshots}
        self._ends = ends

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._snapshots)

    def snapshot(self, host: str) -> HostSnapshot:
        return self._snapshots[host]

    async def run(self) -> None:
        if not self._ends:
            await asyncio.Event().wait()


def host(*units: UnitStatus, name: str = "h", link: Link = UP) -> HostSnapshot:
    return HostSnapshot(name=name, link=link, units=units, gpus=(Gpu(index=0),))


async def report(*snapshots: HostSnapshot, ends: bool = True, **options: object) -> tuple[ExitCode, str]:
    written: list[str] = []
    wanted = CheckOptions(limit_seconds=0.01, **options)  # type: ignore[arg-type] # options of one test each
    code = await check(Looked(*snapshots, ends=ends), wanted, written.append)
    return code, "".join(written)


GONE = host(name="gone", link=Link(state=LinkState.UNREACHABLE, error="connection refused"))


@pytest.mark.parametrize(
    ("snapshots", "code"),
    [
        ((host(WELL),), ExitCode.OK),
        ((host(RELOAD),), ExitCode.WARNING),
        ((host(FAILED),), ExitCode.FAILED),
        ((host(WELL), GONE), ExitCode.UNKNOWN),
        ((host(FAILED), GONE), ExitCode.FAILED),
        ((host(RELOAD), GONE), ExitCode.UNKNOWN),
    ],
)
async def test_the_exit_code_is_the_worst(snapshots: tuple[HostSnapshot, ...], code: ExitCode) -> None:
    assert (await report(*snapshots))[0] is code


async def test_the_text_says_the_worst_first_and_counts_at_the_end() -> None:
    _, text = await report(host(RELOAD, FAILED), GONE)
    first, second, third, last = text.splitlines()
    assert first.startswith("bad   h     b.service")
    assert second.startswith("look  gone")
    assert third.startswith("warn  h     a.service")
    assert last == "bad   1 of 2 hosts up · 2 units · 1 ready · 1 failed · 2 GPUs"


async def test_a_host_that_gives_no_answer_in_time_is_named() -> None:
    silent = HostSnapshot(name="silent", link=Link(state=LinkState.CONNECTING, step="login"))
    code, text = await report(host(WELL), silent, ends=False)
    assert code is ExitCode.UNKNOWN
    assert "silent    no answer yet (login)" in text


async def test_only_the_units_asked_for_are_judged() -> None:
    code, text = await report(host(WELL, FAILED), units=("a*",))
    assert code is ExitCode.OK
    assert "b.service" not in text


async def test_json_is_valid_against_the_schema_in_the_repository() -> None:
    _, text = await report(host(RELOAD, FAILED), GONE, as_json=True)
    document = json.loads(text)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()), format_checker=jsonschema.FormatChecker())
    assert (document["schema"], document["verdict"], document["hosts"][1]["state"]) == (1, "failed", "unreachable")
    assert document["hosts"][0]["gpus"][0]["memory_used_bytes"] is None
    assert document["hosts"][0]["units"][1]["cause"] is None


def test_the_schema_in_the_repository_is_the_one_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text()) == schema()


async def test_hostile_text_stays_text() -> None:
    hostile = FAILED.model_copy(update={"name": HOSTILE, "result": HOSTILE})
    _, text = await report(host(hostile, name="h"))
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "[/x]" in text
    _, as_json = await report(host(hostile, name="h"), as_json=True)
    assert as_json.isascii()
    assert json.loads(as_json)["hosts"][0]["units"][0]["name"] == HOSTILE


async def test_colour_is_only_given_when_asked_for() -> None:
    assert "\x1b" not in (await report(host(FAILED)))[1]
    assert "\x1b[31mbad" in (await report(host(FAILED), colour=True))[1]


def test_the_worst_code_wins_in_the_contracts_order() -> None:
    assert worst(ExitCode.OK, ExitCode.WARNING, ExitCode.UNKNOWN) is ExitCode.UNKNOWN
    assert worst(ExitCode.UNKNOWN, ExitCode.FAILED) is ExitCode.FAILED
    assert worst(ExitCode.FAILED, ExitCode.USAGE) is ExitCode.USAGE
    assert worst() is ExitCode.OK
