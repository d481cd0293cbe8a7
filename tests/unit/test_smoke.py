"""One real completion: what it proves, what it does not, and keys that nobody sees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Host
from dflashtui.engines.command_line import process_environment, process_words, serves
from dflashtui.errors import OperationError
from dflashtui.ops.endpoint import find_endpoint
from dflashtui.ops.smoke import smoke
from dflashtui.ops.smoke_report import document, lines
from dflashtui.source.completion import Limits
from tests.unit.service_fleet import HOST, services

if TYPE_CHECKING:
    from dflashtui.engines.openai import Piece
    from dflashtui.model.smoke import SmokeResult

FAST = "prefill_seconds=0.01 verify_seconds=0.001 accept=4"
KEY = "hush-hush-key-1"
LIMITS = Limits(seconds=2.0, silent_seconds=0.3)
SGLANG = f"python3\0-m\0sglang.launch_server\0--model-path\0stand-in\0--api-key\0{KEY}\0--port\x0030001\0".encode()


async def smoked(words: str = "", *, cmdline: bytes | None = None, environ: bytes | None = None) -> SmokeResult:
    heard: list[Piece] = []
    async with services(a=f"{FAST} {words}") as (fleet, config):
        fleet.commands = {"/proc/11/cmdline": cmdline or b"", "/proc/11/environ": environ or b""}
        service = await find_endpoint(fleet, config, HOST, "a.service")
        assert KEY not in repr(service)
        found = await smoke(service, heard.append, limits=LIMITS)
    assert "".join(piece.text for piece in heard) == found.generation.text
    return found


async def test_an_answer_of_the_right_model_is_proof() -> None:
    found = await smoked()
    assert (found.verdict, found.served, found.expected) == ("proven", ("stand-in",), ("stand-in",))
    told = document(found)
    assert (told["verdict"], told["model"], told["finish_reason"]) == ("proven", "stand-in", "stop")
    assert told["ttft_ms"] >= 10
    assert told["tokens_per_second"] > 100
    first, figures, model = lines(found)
    assert first.startswith("gpu-a: a.service: proven")
    assert "tokens/s" in figures
    assert "expected stand-in" in model


@pytest.mark.parametrize(("words", "said"), [("faults=other-model", "another-model"), ("model=Llama", "Llama")])
async def test_another_model_is_no_proof(words: str, said: str) -> None:
    found = await smoked(words)
    assert found.verdict == "wrong-model"
    assert said in found.words


async def test_a_revision_after_the_name_is_the_same_model() -> None:
    assert (await smoked("model=stand-in@main")).verdict == "proven"


@pytest.mark.parametrize(
    ("cmdline", "environ"),
    [(SGLANG, b""), (b"vllm\0serve\0stand-in\0", f"A=b\0VLLM_API_KEY={KEY}\0".encode())],
)
async def test_the_key_is_the_one_of_the_process_and_is_never_shown(cmdline: bytes, environ: bytes) -> None:
    found = await smoked(f"api_key={KEY}", cmdline=cmdline, environ=environ)
    assert found.verdict == "proven"
    assert KEY not in json.dumps(document(found)) + "".join(lines(found))


async def test_without_the_key_it_is_up_and_locked() -> None:
    found = await smoked(f"api_key={KEY}")
    assert (found.verdict, found.is_locked) == ("unauthorised", True)


async def test_a_model_without_a_chat_template_is_asked_plainly() -> None:
    assert (await smoked("faults=no-chat")).verdict == "proven"


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        ("no-usage", "proven"),
        ("no-stream", "proven"),
        ("error-body", "error-answer"),
        ("hang", "silent"),
        ("html", "not-openai"),
    ],
)
async def test_what_is_missing_is_said_and_not_made_up(fault: str, verdict: str) -> None:
    found = await smoked(f"faults={fault}")
    assert found.verdict == verdict, found.words
    if fault == "no-usage":
        assert document(found)["tokens_per_second"] is None
        assert "n/a tokens/s" in "".join(lines(found))


async def test_a_service_that_is_not_there_is_refused() -> None:
    async with services(active=(), a="") as (fleet, config):
        service = await find_endpoint(fleet, config, HOST, "a.service")
        assert (await smoke(service, lambda _: None)).verdict == "refused"


async def test_a_unit_of_a_glob_is_found_by_its_own_command() -> None:
    async with services(a=f"{FAST} kind=sglang") as (fleet, _):
        fleet.commands = {"/proc/11/cmdline": SGLANG}
        bare = Config(hosts=(Host(name=HOST, units=("a*",)),))
        service = await find_endpoint(fleet, bare, HOST, "a.service")
        assert (service.engine, service.base, service.models) == ("sglang", "http://127.0.0.1:30001", ("stand-in",))
        assert service.argv == (
            *[
                "python3",
                "-m",
                "sglang.launch_server",
                "--model-path",
                "stand-in",
                "--api-key",
                "***",
                "--port",
                "30001",
            ],
        )
        fleet.commands = {}
        with pytest.raises(OperationError, match="nothing tells its port"):
            await find_endpoint(fleet, bare, HOST, "a.service")


def test_what_commands_tell() -> None:
    found = serves(("/v/bin/vllm", "serve", "org/model", "--port=8001", "--served-model-name", "m"), {})
    assert (found.engine, found.listen, found.models) == ("vllm", "127.0.0.1:8001", ("m", "org/model"))
    assert serves((), {}).listen is None
    assert serves(("sh", "serve"), {}).models == ()
    assert process_words(b"a\0b c\0\0") == ("a", "b c", "")
    assert process_environment(b"A=1\0B\0C=x=y\0") == {"A": "1", "C": "x=y"}
