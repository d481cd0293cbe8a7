"""One completion from a stand-in engine: its text, its times, and a name for every way to go wrong."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dflashtui.engines.openai import EventReader, Piece, Prompt, event, model_names
from dflashtui.model.generation import Generation, Outcome
from dflashtui.source.completion import Limits, complete
from dflashtui.source.exchange import dial_directly
from dflashtui.source.first_token import FirstToken
from tests.engine.server import running
from tests.engine.settings import settings
from tests.engine.speech import answer
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT = Prompt("Name three colours.", model="stand-in", max_tokens=32)
FAST = ("prefill_seconds=0.02", "verify_seconds=0.002", "accept=3,5")
PATIENT = Limits(seconds=2.0, silent_seconds=0.3)


async def asked(
    *words: str, prompt: Prompt = PROMPT, key: str | None = None, **more: Callable[[Piece], None]
) -> Generation:
    async with running(settings((*FAST, *words))) as engine:
        return await complete(dial_directly, f"http://127.0.0.1:{engine.port}", prompt, key=key, limits=PATIENT, **more)


async def test_text_usage_and_times_are_those_of_the_server() -> None:
    pieces: list[Piece] = []
    found = await asked("kind=vllm", hear=pieces.append)
    expected, finish = answer(settings(()), '[{"role": "user", "content": "Name three colours."}]', 32)
    assert (found.outcome, found.text, found.finish_reason) == (Outcome.OK, "".join(expected), finish)
    assert "".join(piece.text for piece in pieces) == found.text
    assert (found.model, found.output_tokens, found.is_streamed) == ("stand-in", len(expected), True)
    assert found.chunks == 1 + len(expected) // 4
    assert found.ttft_seconds is not None
    assert found.latency_seconds is not None
    assert 0.02 <= found.ttft_seconds < found.latency_seconds
    assert found.tpot_seconds is not None


async def test_chunks_that_end_inside_of_characters_change_nothing() -> None:
    assert (await asked("faults=split")).text == (await asked()).text


async def test_thoughts_count_for_the_first_token_and_stand_apart() -> None:
    found = await asked("reasoning=9")
    assert found.reasoning
    assert found.text
    assert found.reasoning + found.text == (await asked()).text


async def test_the_first_token_is_not_the_prompt_that_a_server_sends_back() -> None:
    found = await asked("faults=echo", "prefill_seconds=0.2")
    assert found.repeats_prompt
    assert found.text.startswith("Name three colours.\n")
    assert found.ttft_seconds is not None
    assert found.ttft_seconds >= 0.2


def test_an_answer_that_only_begins_like_the_prompt_is_counted_from_its_first_piece() -> None:
    first = FirstToken("Name three colours.")
    for at, text in enumerate(("Name", " three", " is a name")):
        first.take(text, float(at))
    assert (first.is_echoed, first.seconds) == (False, 0.0)


async def test_an_answer_in_one_piece_has_no_time_to_first_token() -> None:
    found = await asked("faults=no-stream")
    assert (found.outcome, found.is_streamed, found.ttft_seconds) == (Outcome.OK, False, None)
    assert found.text == (await asked()).text
    assert found.output_tokens


async def test_without_usage_tokens_are_unknown_and_not_counted_from_chunks() -> None:
    found = await asked("faults=no-usage")
    assert (found.outcome, found.output_tokens, found.tokens_per_second, found.tpot_seconds) == (
        Outcome.OK,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("fault", "outcome", "words"),
    [
        ("401", Outcome.UNAUTHORISED, "API key"),
        ("429", Outcome.BUSY, "Rate limit"),
        ("500", Outcome.HTTP_ERROR, "EngineDeadError"),
        ("html", Outcome.NOT_OPENAI, "web page"),
        ("error-body", Outcome.ERROR_ANSWER, "illegal memory access"),
        ("error-in-stream", Outcome.ERROR_ANSWER, "Internal server error"),
        ("broken", Outcome.BROKEN, "in the middle"),
        ("endless", Outcome.ENDLESS, "cut off"),
        ("silent", Outcome.SILENT, "nothing came"),
        ("slow-start", Outcome.SILENT, "nothing came"),
        ("rubbish", Outcome.NOT_OPENAI, "SSH-2.0"),
        ("empty", Outcome.EMPTY, "said nothing"),
    ],
)
@fault("F3", how="endless, broken, silent, rubbish answers", result="a name for each; nothing hangs")
async def test_every_way_to_go_wrong_has_a_name(fault: str, outcome: Outcome, words: str) -> None:
    found = await asked(f"faults={fault}")
    assert found.outcome is outcome, found
    assert words in found.words


async def test_what_came_before_the_break_is_kept() -> None:
    assert (await asked("faults=error-in-stream")).text
    assert (await asked("faults=broken")).outcome is Outcome.BROKEN


async def test_nobody_listens() -> None:
    found = await complete(dial_directly, "http://127.0.0.1:1", PROMPT, limits=PATIENT)
    assert found.outcome is Outcome.REFUSED


async def test_a_key_opens_what_is_locked_and_is_told_to_nobody() -> None:
    assert (await asked("api_key=hush-hush-1", key="hush-hush-1")).outcome is Outcome.OK
    locked = await asked("api_key=hush-hush-1", key="wrong-key-2")
    assert locked.outcome is Outcome.UNAUTHORISED
    assert "wrong-key-2" not in locked.model_dump_json()


async def test_an_answer_that_goes_on_is_ended_by_the_whole_limit() -> None:
    async with running(settings(("verify_seconds=0.05", "tokens=500"))) as engine:
        slow = Limits(seconds=0.3, silent_seconds=0.2)
        base = f"http://127.0.0.1:{engine.port}"
        found = await complete(dial_directly, base, Prompt("x", max_tokens=400), limits=slow)
        assert found.outcome is Outcome.TOO_SLOW
        await asyncio.sleep(0)
    assert found.text


def test_events_are_read_at_every_cut() -> None:
    stream = 'data: {"a": "ü→🚀"}\r\n\r\n: comment\ndata:[DONE]\n\n'.encode()
    for cut in range(len(stream)):
        reader = EventReader()
        payloads = [*reader.feed(stream[:cut]), *reader.feed(stream[cut:])]
        assert payloads == ['{"a": "ü→🚀"}'.encode(), b"[DONE]"]


@pytest.mark.parametrize("payload", [b"", b"[1]", b"null", b'{"choices": [{"delta": 7}]}', b"{", b"\xff", b"[" * 9999])
def test_what_is_no_event_is_refused(payload: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        event(payload)


def test_odd_but_lawful_events_say_nothing() -> None:
    assert event(b'{"choices": [], "usage": null}') == Piece()
    assert event(b'{"choices": [{"delta": {"content": null, "role": "assistant"}}]}') == Piece()
    assert event(b'{"choices": [], "usage": {"completion_tokens": -3, "prompt_tokens": true}}') == Piece()
    assert model_names(b'{"data": [{"id": "a"}, {"x": 1}, 7]}') == ["a"]
