"""Opt-in: a real model server. Set DFLASHTUI_MODEL_PYTHON to a Python that has `transformers[serving]` and torch.

A tiny random model is made on the spot, served by `transformers serve` on this machine, and asked by smoke and bench.
"""

from __future__ import annotations

import fnmatch
import os
import socket
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Host, Unit
from dflashtui.model.unit import ActiveState
from dflashtui.ops.bench import Bench
from dflashtui.ops.bench_load import Plan
from dflashtui.ops.endpoint import Endpoint
from dflashtui.ops.smoke import smoke
from dflashtui.source.asking import fetch
from dflashtui.source.exchange import dial_directly
from tests.tui.fake import console
from tests.tui.serving_keys import begin_bench
from tests.tui.serving_keys import smoke as smoke_by_keys
from tests.tui.stage import READY, config_of, host
from tests.unit.service_fleet import HOST, ServiceFleet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.model.host import HostSnapshot

PYTHON = os.environ.get("DFLASHTUI_MODEL_PYTHON")
DEVICE = os.environ.get("DFLASHTUI_MODEL_DEVICE", "cpu")
START_SECONDS = 300.0
TEMPLATE = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
MAKE = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
folder, template = sys.argv[1:]
vocabulary = {token: number for number, token in enumerate(["<end>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
tokenizer = Tokenizer(models.BPE(vocabulary, []))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")
fast.chat_template = template
fast.save_pretrained(folder)
config = Qwen2Config(vocab_size=len(vocabulary), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, eos_token_id=0, max_position_embeddings=2048)
Qwen2ForCausalLM(config).save_pretrained(folder)
"""

pytestmark = [
    pytest.mark.skipif(PYTHON is None, reason="opt-in: DFLASHTUI_MODEL_PYTHON names no Python with a model server"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """`http://HOST:PORT` of a server, and the folder of its model."""
    folder = tmp_path_factory.mktemp("model")
    python = PYTHON or ""
    subprocess.run((python, "-c", MAKE, str(folder), TEMPLATE), check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = (
        python,
        "-m",
        "transformers.cli.transformers",
        "serve",
        str(folder),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    running = subprocess.Popen((*command, "--device", DEVICE), env=environment)
    try:
        _wait_for(port, running)
        yield f"http://127.0.0.1:{port}", folder
    finally:
        running.terminate()
        running.wait(30)


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and running.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"transformers serve did not open its port; exit {running.poll()}")


async def test_a_real_server_answers_smoke(server: tuple[str, Path]) -> None:
    base, model = server
    service = Endpoint(
        host=HOST, unit="real.service", engine="openai", base=base, dial=dial_directly, models=(str(model),)
    )
    assert (await fetch(dial_directly, f"{base}/v1/models")).status is not None
    found = await smoke(service, lambda _: None, max_tokens=24)
    assert found.generation.is_ok, found
    assert found.generation.text
    assert found.generation.ttft_seconds is None or found.generation.ttft_seconds > 0


async def test_a_real_server_is_measured(server: tuple[str, Path]) -> None:
    base, model = server
    port = int(base.rpartition(":")[2])
    unit = Unit(name="real.service", hosts=(HOST,), engine="openai", listen=f"127.0.0.1:{port}", model=str(model))
    plan = Plan(levels=(1, 2), turns=1, max_tokens=24, requests=4)
    config = Config(hosts=(Host(name=HOST),), units=(unit,))
    found = await Bench(_Real(), config, [(HOST, "real.service")], plan).run()
    assert not found.is_partial, found
    assert [level.failures for level in found.sides[0].levels] == [0, 0]
    assert all(level.ttft_ms.p50 for level in found.sides[0].levels)


async def test_the_console_asks_and_measures_it(
    server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    base, model = server
    there = host("h-live", units=(READY,))
    listen = base.removeprefix("http://")
    unit = Unit(name=READY.name, hosts=("h-live",), engine="openai", listen=listen, model=str(model))
    config = config_of(there).model_copy(update={"units": (unit,)})
    async with console(there, config=config) as c:
        await smoke_by_keys(c)
        await c.press("escape")
        await begin_bench(c)
        await c.sees("turn 1/3")
        await c.press("escape")
        await c.sees("PARTIAL", "record: ", "escape closes")
    assert len(fnmatch.filter(os.listdir(tmp_path / "dflashtui" / "bench"), "*.html")) == 1  # noqa: PTH208


class _Real(ServiceFleet):
    """One unit that is always there, on this machine."""

    def __init__(self) -> None:
        super().__init__({}, active=(), share_gpu=True)
        self.open_tcp = partial(_direct)  # type: ignore[method-assign,assignment]

    def snapshot(self, host: str) -> HostSnapshot:
        from dflashtui.model.unit import UnitStatus  # noqa: PLC0415 - opt-in

        unit = UnitStatus(name="real.service", active_state=ActiveState.ACTIVE, main_pid=1, invocation_id="a" * 32)
        return super().snapshot(host).model_copy(update={"units": (unit,)})


async def _direct(_host: str, address: str, port: int) -> object:
    return await dial_directly(address, port)
