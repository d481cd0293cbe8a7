"""How far a start has come, by the engine's own lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.engines.phases import PhaseReader

SGLANG = """\
[2026-12-01 02:29:36] server_args=ServerArgs(model_path='/m', speculative_draft_model_path=None)
[2026-12-01 02:29:37] Init torch distributed begin.
[2026-12-01 02:29:38] Init torch distributed ends. elapsed=0.52 s, mem usage=0.10 GB
[2026-12-01 02:29:38] Load weight begin. avail mem=139.10 GB
[2026-12-01 02:29:50] Load weight end. elapsed=12.3 s, type=Qwen3_5, avail mem=86 GB, mem usage=52 GB.
[2026-12-01 02:29:51] KV Cache is allocated. #tokens: 402144, K size: 24.50 GB, V size: 24.50 GB
[2026-12-01 02:29:51] Memory pool end. avail mem=36.10 GB
[2026-12-01 02:29:52] Capture cuda graph begin. This can take up to several minutes. avail mem=35.90 GB
[2026-12-01 02:30:01] Capture cuda graph end. Time elapsed: 8.9 s. mem usage=1.20 GB. avail mem=34.70 GB.
[2026-12-01 02:30:02] max_total_num_tokens=402144, chunked_prefill_size=8192, available_gpu_mem=34.70 GB
INFO:     Started server process [12]
INFO:     Application startup complete.
INFO:     Uvicorn running on http://127.0.0.1:30001 (Press CTRL+C to quit)
[2026-12-01 02:30:05] The server is fired up and ready to roll!
""".splitlines()
VLLM = """\
(APIServer pid=1) INFO 05-12 01:48:42 [api_server.py:1772] vLLM server version 0.20.2, serving model /m
(APIServer pid=1) INFO 05-12 01:48:43 [model.py:549] Resolved architecture: Qwen3
(EngineCore pid=9) INFO 05-12 01:48:44 [gpu_model_runner.py:4732] Starting to load model /m...
(EngineCore pid=9) Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:02<00:06,  1.97s/it]
(EngineCore pid=9) INFO 05-12 01:48:55 [default_loader.py:384] Loading weights took 11.02 seconds
(EngineCore pid=9) INFO 05-12 01:48:56 [gpu_model_runner.py:4850] Model loading took 50.74 GiB and 12.91 seconds
(EngineCore pid=9) INFO 05-12 01:49:16 [monitor.py:34] torch.compile took 21.4 s in total
(EngineCore pid=9) INFO 05-12 01:49:17 [gpu_worker.py:1] Available KV cache memory: 60.1 GiB
(EngineCore pid=9) INFO 05-12 01:49:18 [kv_cache_utils.py:1319] GPU KV cache size: 148,304 tokens
(EngineCore pid=9) INFO 05-12 01:49:30 [core.py:1] init engine (profile, create kv cache, warmup model) took 30 s
(APIServer pid=1) INFO 05-12 01:49:31 [api_server.py:2022] Starting vLLM server on http://0.0.0.0:8000
(APIServer pid=1) INFO:     Waiting for application startup.
(APIServer pid=1) INFO:     Application startup complete.
""".splitlines()


def keys(reader: PhaseReader, lines: list[str]) -> list[str]:
    found = [phase.key for line in lines if (phase := reader.feed(line))]
    return list(dict.fromkeys(found))


def test_sglang_passes_its_phases_in_order() -> None:
    assert keys(PhaseReader("sglang"), SGLANG) == [
        "arguments", "distributed", "weights", "kv-cache", "graphs", "finishing", "http", "warm-up", "ready",
    ]  # fmt: skip


def test_vllm_passes_its_phases_in_order_and_uvicorn_has_the_last_word() -> None:
    reader = PhaseReader("vllm")
    assert keys(reader, VLLM) == ["arguments", "weights", "compile", "kv-cache", "graphs", "finishing", "http", "ready"]
    assert reader.is_ready


def test_a_draft_model_repeats_the_steps_under_its_own_name() -> None:
    draft = [SGLANG[0].replace("=None", "='/root/draft'"), *SGLANG[1:9], *SGLANG[3:9], *SGLANG[9:]]
    found = keys(PhaseReader("sglang"), draft)
    assert found[2:8] == [
        "weights:target", "kv-cache:target", "graphs:target", "weights:draft", "kv-cache:draft", "graphs:draft",
    ]  # fmt: skip


def test_a_draft_that_nothing_announced_is_known_by_coming_second() -> None:
    found = keys(PhaseReader("sglang"), [*SGLANG[:5], *SGLANG[3:5]])
    assert found[2:] == ["weights", "kv-cache", "weights:draft", "kv-cache:draft"]


def test_other_ranks_do_not_begin_a_second_model() -> None:
    ranked = [line.replace("] ", f" TP{rank}] ", 1) for line in SGLANG[3:5] for rank in (0, 1, 2)]
    found = keys(PhaseReader("sglang"), ranked)
    assert found == ["weights", "kv-cache"]


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_the_percentage_of_a_bar_is_its_last_state_and_never_falls(engine: str) -> None:
    reader = PhaseReader(engine)
    bar = "\r".join(f"Loading safetensors checkpoint shards: {done}% Completed | 1/4 [00:01<?]" for done in (0, 25, 50))
    first = reader.feed(bar)
    assert first is not None
    assert first.percent == 50
    assert reader.feed("Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<?]") is None
    assert reader.current.percent == 50


def test_a_line_glued_behind_a_bar_counts() -> None:
    reader = PhaseReader("sglang")
    glued = "Capturing batches (bs=1):  96%|## | 22/23 [00:09<00:00][2025-03-12 08:52:40] max_total_num_tokens=402144"
    for line in SGLANG[:8]:
        reader.feed(line)
    reader.feed(glued)
    assert reader.current.name == "finishing"


def test_after_ready_nothing_changes() -> None:
    reader = PhaseReader("sglang")
    for line in SGLANG:
        reader.feed(line)
    assert reader.feed("[x] Load weight begin. avail mem=1 GB") is None
    assert reader.is_ready


def test_an_engine_without_a_table_knows_only_that_http_is_up() -> None:
    reader = PhaseReader("none")
    assert keys(reader, ["loading model", "INFO:     Application startup complete."]) == ["http"]
    assert not reader.is_ready


def test_an_ordinary_line_changes_nothing() -> None:
    assert PhaseReader("sglang").feed("100%|####| 4/4 [00:00<00:00]") is None


@given(st.text(), st.sampled_from(["sglang", "vllm", "openai", None]))
def test_no_text_breaks_it(text: str, engine: str | None) -> None:
    reader = PhaseReader(engine)
    reader.feed(text)
    reader.feed(f"Load weight begin {text}")
