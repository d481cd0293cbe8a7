"""Active is not ready: what answers prove, and what they do not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx
import pytest

from dflashtui.engines.answers import Answer, Asked, judged, without_asking
from dflashtui.engines.readiness import endpoint, rule
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.source.http import ThroughHost
from dflashtui.source.readiness import ask
from tests.faults.marks import fault

if TYPE_CHECKING:
    from dflashtui.transport.base import Transport

OK = Answer("http://127.0.0.1:1/health", 200)
WARMING = Answer("http://127.0.0.1:1/health", 503)
REFUSED = Answer("http://127.0.0.1:1/health", error="connection refused")


@pytest.mark.parametrize(
    ("listen", "engine", "expected"),
    [
        ("0.0.0.0:30001", "sglang", "http://127.0.0.1:30001"),
        ("[::]:8000", "vllm", "http://[::1]:8000"),
        ("10.0.0.7:9", "openai", "http://10.0.0.7:9"),
        (None, "vllm", "http://127.0.0.1:8000"),
        (None, "sglang", "http://127.0.0.1:30000"),
    ],
)
def test_a_wildcard_address_is_asked_on_loopback(listen: str | None, engine: str, expected: str) -> None:
    assert endpoint(listen, engine) == expected


def test_sglang_health_generates_a_token_so_it_only_confirms() -> None:
    found = rule("sglang", "0.0.0.0:30001", None)
    assert found is not None
    assert (found.poll, found.confirm) == ("http://127.0.0.1:30001/model_info", "http://127.0.0.1:30001/health")


def test_a_unit_without_an_engine_is_not_asked() -> None:
    assert rule("none", None, None) is None


def test_a_wrapper_that_lists_models_is_ready_but_not_proven() -> None:
    found = rule("openai", "127.0.0.1:30000", None)
    assert found is not None
    assert "not proven" in str(judged(Asked("i"), OK, proof=found.is_proof).detail)


@fault("F1", how="refused, 503, never", result="loading")
def test_refused_while_loading_stays_loading() -> None:
    asked = Asked("i")
    for _ in range(50):
        asked = judged(asked, REFUSED, proof=True)
    assert (asked.readiness, asked.detail) == (Readiness.LOADING, "GET /health: connection refused")


@fault("F1", how="200, then 503, by turns", result="sick after two failures in a row, ready again after a success")
def test_sick_needs_an_earlier_success_and_two_failures_in_a_row() -> None:
    ready = judged(Asked("i"), OK, proof=True)
    once = judged(ready, WARMING, proof=True)
    assert (ready.readiness, once.readiness) == (Readiness.READY, Readiness.READY)
    assert judged(once, WARMING, proof=True).readiness is Readiness.SICK
    assert judged(judged(once, OK, proof=True), WARMING, proof=True).readiness is Readiness.READY


def test_an_api_key_is_a_state_of_its_own() -> None:
    locked = judged(Asked("i"), Answer("http://h/v1/models", 401), proof=True)
    assert locked.readiness is Readiness.UNKNOWN
    assert "API key" in str(locked.detail)


@pytest.mark.parametrize(
    ("active_state", "sub_state", "has_rule", "expected"),
    [
        (ActiveState.ACTIVE, "running", True, None),
        (ActiveState.ACTIVE, "running", False, Readiness.NONE),
        (ActiveState.FAILED, "failed", True, Readiness.FAILED),
        (ActiveState.ACTIVATING, "auto-restart", True, Readiness.FAILED),
        (ActiveState.ACTIVATING, "start", True, Readiness.LOADING),
        (ActiveState.INACTIVE, "dead", True, Readiness.NONE),
        (ActiveState.UNKNOWN, "?", True, Readiness.UNKNOWN),
    ],
)
def test_what_the_manager_alone_settles(
    active_state: ActiveState, sub_state: str, *, has_rule: bool, expected: Readiness | None
) -> None:
    unit = UnitStatus(name="a.service", load_state=LoadState.LOADED, active_state=active_state, sub_state=sub_state)
    assert without_asking(unit, has_rule=has_rule) is expected


class Loopback:
    """The one method of a Transport that HTTP needs."""

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(address, port)


@asynccontextmanager
async def server(*replies: bytes) -> AsyncIterator[tuple[str, list[str]]]:
    """Answers connections in turn; gives its address and the request lines it saw."""
    seen: list[str] = []
    waiting = list(replies)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode())
        writer.write(waiting.pop(0))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", seen


def transport() -> ThroughHost:
    return ThroughHost(cast("Transport", Loopback()))


async def test_health_is_asked_once_a_run_through_the_host() -> None:
    yes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    async with server(yes, yes, yes) as (address, seen), httpx.AsyncClient(transport=transport()) as client:
        found = rule("sglang", address, None)
        assert found is not None
        asked = await ask(client, found, Asked("i"))
        asked = await ask(client, found, asked)
    assert asked.readiness is Readiness.READY
    assert seen == ["GET /model_info HTTP/1.1", "GET /health HTTP/1.1", "GET /model_info HTTP/1.1"]


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"rubbish\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
        b"HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_nonsense_is_no_answer(reply: bytes) -> None:
    async with server(reply) as (address, _), httpx.AsyncClient(transport=transport()) as client:
        found = rule("vllm", address, None)
        assert found is not None
        assert (await ask(client, found, Asked("i"))).readiness is Readiness.LOADING


async def test_a_closed_port_is_said() -> None:
    async with httpx.AsyncClient(transport=transport()) as client:
        found = rule("vllm", "127.0.0.1:1", None)
        assert found is not None
        assert "GET /health: " in str((await ask(client, found, Asked("i"))).detail)
