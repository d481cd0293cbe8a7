"""The words of the engines: start-up scripts and lines in service (inference-engines, part 2). Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.demo.crashes import missing_module, out_of_memory
from dflashtui.demo.noise import between, moving, noise
from dflashtui.demo.plan import Behaviour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.demo.plan import ServicePlan

Script = list[tuple[float, str]]
"""Share of the time from the start to ready (or to the end), and a line."""

PHASES = {
    "sglang": (
        (0.10, "importing"),
        (0.16, "setting up torch distributed"),
        (0.46, "target weights {percent} %"),
        (0.52, "KV cache"),
        (0.72, "capturing CUDA graphs {percent} %"),
        (0.84, "draft weights {percent} %"),
        (0.94, "capturing draft CUDA graphs"),
        (1.00, "warm-up request"),
    ),
    "vllm": (
        (0.12, "importing"),
        (0.50, "weights {percent} %"),
        (0.70, "torch.compile"),
        (0.92, "capturing CUDA graphs {percent} %"),
        (1.00, "warm-up"),
    ),
}
PLAIN_PHASES = ((0.3, "importing"), (1.0, "weights {percent} %"))


def phase(engine: str, share: float) -> str:
    """What a service does when `share` of its loading time has passed."""
    began = 0.0
    for ends, words in PHASES.get(engine, PLAIN_PHASES):
        if share < ends:
            return words.format(percent=int(100 * (share - began) / (ends - began)))
        began = ends
    return "ready"


def script(plan: ServicePlan, behaviour: Behaviour, pid: int, started: float, span: float) -> Script:
    """All lines of a start, in order."""
    if behaviour is Behaviour.LOOPS:
        return [(0.12, "INFO: loading configuration"), *((0.98, text) for text in missing_module(plan))]
    written = {"sglang": _sglang, "vllm": _vllm}.get(plan.engine, _openai)(plan, pid)
    dated = [(share, text.replace("{t}", _stamp(plan.engine, started + share * span))) for share, text in written]
    if behaviour is Behaviour.RUNS_OUT_OF_MEMORY:
        return [
            *((share / 0.9, text) for share, text in dated if share < 0.5),
            *((0.99, text) for text in out_of_memory(plan)),
        ]  # noqa: PLR2004, E501
    return dated


def _stamp(engine: str, at: float) -> str:
    form = "%m-%d %H:%M:%S" if engine == "vllm" else "%Y-%m-%d %H:%M:%S"
    return datetime.fromtimestamp(at, UTC).strftime(form)


def _bar(title: str, total: int, unit: str = "it/s") -> str:
    """A progress bar as journald keeps it: one record with carriage returns."""
    steps = [
        f"{title}: {100 * done // total:3d}%|{'█' * (done * 10 // total):10}| {done}/{total} [00:{done:02d}<00:{total - done:02d},  1.21{unit}]"
        for done in range(total + 1)
    ]  # noqa: E501
    return "\r".join(steps)


def _sglang(plan: ServicePlan, pid: int) -> Script:
    return [
        (
            0.08,
            f"[{{t}}] server_args=ServerArgs(model_path='{plan.model}', host='0.0.0.0', port={plan.port}, tp_size={len(plan.gpus)}, mem_fraction_static=0.75, speculative_algorithm='DFLASH', trust_remote_code=True)",
        ),  # noqa: E501
        (0.11, "[{t}] Init torch distributed begin."),
        (0.15, "[{t}] Init torch distributed ends. elapsed=0.52 s, mem usage=0.10 GB"),
        (0.16, "[{t}] Load weight begin. avail mem=94.31 GB"),
        *(
            (
                0.2 + 0.065 * done,
                f"Loading safetensors checkpoint shards: {25 * done:3d}% Completed | {done}/4 [00:0{3 * done}<00:0{12 - 3 * done},  1.31it/s]",
            )
            for done in range(5)
        ),  # noqa: E501
        (
            0.47,
            "[{t}] Load weight end. elapsed=12.3 s, type=Qwen3_5ForConditionalGeneration, avail mem=41.02 GB, mem usage=53.29 GB.",
        ),  # noqa: E501
        (
            0.50,
            "[{t}] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 241807, K size: 11.06 GB, V size: 11.06 GB",
        ),  # noqa: E501
        (0.51, "[{t}] Memory pool end. avail mem=18.61 GB"),
        (0.52, "[{t}] Capture target verify CUDA graph begin. backend=triton, num_tokens_per_req=16"),
        (0.71, _bar("Capturing batches (bs=1 avail_mem=16.90 GB)", 23)),
        (0.72, "[{t}] Capture target verify CUDA graph end. elapsed=8.9 s, mem usage=1.71 GB, avail mem=16.90 GB."),
        (0.73, "[{t}] Load weight begin. avail mem=16.88 GB"),
        (0.83, "[{t}] Load weight end. elapsed=2.1 s, type=DFlashDraftModel, avail mem=13.40 GB, mem usage=3.48 GB."),
        (
            0.84,
            "[{t}] Initialized DFLASH draft runner. attention_backend=flashinfer, block_size=16, draft_window_size=4096",
        ),  # noqa: E501
        (
            0.93,
            "[{t}] max_total_num_tokens=241807, chunked_prefill_size=8192, max_running_requests=48, context_len=262144, available_gpu_mem=12.71 GB",
        ),  # noqa: E501
        (0.94, f"INFO:     Started server process [{pid}]"),
        (0.94, "INFO:     Waiting for application startup."),
        (0.95, "INFO:     Application startup complete."),
        (0.95, f"INFO:     Uvicorn running on http://0.0.0.0:{plan.port} (Press CTRL+C to quit)"),
        (0.96, 'INFO:     127.0.0.1:41822 - "GET /model_info HTTP/1.1" 200 OK'),
        (0.98, "[{t}] Prefill batch, #new-seq: 1, #new-token: 6, #cached-token: 0, #running-req: 0, #queue-req: 0"),
        (0.99, 'INFO:     127.0.0.1:41836 - "POST /generate HTTP/1.1" 200 OK'),
        (1.00, "[{t}] The server is fired up and ready to roll!"),
    ]


def _vllm(plan: ServicePlan, pid: int) -> Script:
    api, core = f"(APIServer pid={pid}) INFO {{t}}", f"(EngineCore pid={pid + 41}) INFO {{t}}"
    return [
        (0.10, f"{api} [api_server.py:1772] vLLM server version 0.20.2, serving model {plan.model}"),
        (0.12, f"{api} [model.py:549] Resolved architecture: LlamaForCausalLM"),
        (0.13, f"{api} [model.py:1678] Using max model len 131072"),
        (0.14, f"{core} [gpu_model_runner.py:4732] Starting to load model {plan.model}..."),
        *(
            (
                0.16 + 0.08 * done,
                f"(EngineCore pid={pid + 41}) Loading safetensors checkpoint shards: {25 * done:3d}% Completed | {done}/4 [00:0{2 * done}<00:0{8 - 2 * done},  1.97s/it]",
            )
            for done in range(5)
        ),  # noqa: E501
        (0.49, f"{core} [default_loader.py:384] Loading weights took 11.02 seconds"),
        (0.50, f"{core} [gpu_model_runner.py:4850] Model loading took 65.74 GiB memory and 12.91 seconds"),
        (0.68, f"{core} [monitor.py:34] torch.compile took 21.4 s in total"),
        (0.70, f"{core} [kv_cache_utils.py:1319] GPU KV cache size: 148,304 tokens"),
        (0.91, _bar("Capturing CUDA graphs (decode, FULL)", 35)),
        (0.92, f"{core} [gpu_model_runner.py:5926] Graph capturing finished in 11 secs, took 1.02 GiB"),
        (0.97, f"{api} [api_server.py:2022] Starting vLLM server on http://0.0.0.0:{plan.port}"),
        (0.98, f"(APIServer pid={pid}) INFO:     Started server process [{pid}]"),
        (0.99, f"(APIServer pid={pid}) INFO:     Waiting for application startup."),
        (1.00, f"(APIServer pid={pid}) INFO:     Application startup complete."),
    ]


def _openai(plan: ServicePlan, pid: int) -> Script:
    return [
        (0.30, f"loading {plan.model}"),
        (0.95, f"INFO:     Started server process [{pid}]"),
        (0.96, "INFO:     Waiting for application startup."),
        (1.00, "INFO:     Application startup complete."),
        (1.00, f"INFO:     Uvicorn running on http://0.0.0.0:{plan.port} (Press CTRL+C to quit)"),
    ]


def load(plan: ServicePlan, now: float) -> float:
    """0 to 1: how busy a ready service is; moves over minutes, with idle times."""
    return max(0.0, min(1.0, 1.5 * moving(now, 47, plan.host, plan.unit, "load") - 0.25))


def steady(plan: ServicePlan, pid: int, second: int) -> Iterator[str]:
    """The lines that a ready service writes in one second."""
    key = (plan.host, plan.unit, second)
    busy = load(plan, second)
    stamp = _stamp(plan.engine, second)
    if busy and plan.engine == "sglang" and noise(*key) < 0.2 + 0.5 * busy:
        yield from _sglang_batches(key, busy, stamp)
    if plan.engine == "vllm" and second % 10 == 0 and busy:
        yield _vllm_batch(key, busy, pid, stamp)
    if second % 5 == 0:
        yield f'INFO:     127.0.0.1:{40000 + pid % 9999} - "GET /health HTTP/1.1" 200 OK'
    if noise(*key, "request") < busy:
        port = int(between(32768, 60999, *key, "port"))
        yield f'INFO:     10.1.2.{int(between(2, 9, *key, "client"))}:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    if noise(*key, "warning") < 0.004:  # noqa: PLR2004 - rare
        yield f"[{stamp}] WARNING: the tokenizer of {plan.model} has no chat template for role 'developer'"


def _sglang_batches(key: tuple[str, str, int], busy: float, stamp: str) -> Iterator[str]:
    running = 1 + int(busy * 24)
    tokens = int(running * between(900, 4200, *key, "tokens"))
    if noise(*key, "prefill") < 0.4:  # noqa: PLR2004 - share of seconds
        new = int(between(40, 8192, *key, "new"))
        yield f"[{stamp}] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {new // 3}, token usage: {tokens / 241807:.2f}, #running-req: {running}, #queue-req: 0"  # noqa: E501
    accepted = between(3.4, 6.1, *key, "accept")
    speed = running * between(95, 180, *key, "speed")
    yield f"[{stamp}] Decode batch, #running-req: {running}, #token: {tokens}, token usage: {tokens / 241807:.2f}, accept len: {accepted:.2f}, accept rate: {accepted / 16:.2f}, cuda graph: True, gen throughput (token/s): {speed:.2f}, #queue-req: {max(0, running - 20)}"  # noqa: E501


def _vllm_batch(key: tuple[str, str, int], busy: float, pid: int, stamp: str) -> str:
    running = 1 + int(busy * 30)
    return (
        f"(APIServer pid={pid}) INFO {stamp} [loggers.py:271] Engine 000: Avg prompt throughput: {between(200, 2600, *key):.1f} tokens/s, "  # noqa: E501
        f"Avg generation throughput: {running * between(38, 61, *key, 'speed'):.1f} tokens/s, Running: {running} reqs, Waiting: 0 reqs, "  # noqa: E501
        f"GPU KV cache usage: {busy * 61:.1f}%, Prefix cache hit rate: {between(30, 60, *key, 'hit'):.1f}%"
    )
