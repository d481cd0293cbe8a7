"""What the engines print while they start, in order (inference-engines, part 2). A line that ends in `\\r` is a bar."""

from __future__ import annotations

_MODEL = (
    "Load weight begin. avail mem=139.10 GB",
    "Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:00<00:01,  2.32it/s]\r",
    "Loading safetensors checkpoint shards: 100% Completed | 2/2 [00:01<00:00,  2.32it/s]\r",
    "Load weight end. elapsed=12.3 s, type=Qwen3_5ForCausalLM, avail mem=86.20 GB, mem usage=52.90 GB.",
    "KV Cache is allocated. #tokens: 402144, K size: 24.50 GB, V size: 24.50 GB",
    "Memory pool end. avail mem=36.10 GB",
    "Capture cuda graph begin. This can take up to several minutes. avail mem=35.90 GB",
    "Capturing batches (bs=8 avail_mem=10.00 GB):  50%|#####     | 1/2 [00:01<00:01]\r",
    "Capture cuda graph end. Time elapsed: 8.9 s. mem usage=1.20 GB. avail mem=34.70 GB.",
)
SGLANG = (
    "server_args=ServerArgs(model_path='MODEL', speculative_draft_model_path='/models/draft', api_key='secret')",
    "Init torch distributed begin.",
    "Init torch distributed ends. elapsed=0.52 s, mem usage=0.10 GB",
    *_MODEL,
    "Initialized DFLASH draft runner. attention_backend=fa3, block_size=16, draft_window_size=4096",
    *_MODEL,
    "max_total_num_tokens=402144, chunked_prefill_size=8192, context_len=32768, available_gpu_mem=34.70 GB",
)
VLLM = (
    "vLLM server version 0.20.2, serving model MODEL",
    "non-default args: {'model': 'MODEL'}",
    "Resolved architecture: Qwen3_5ForCausalLM",
    "Using max model len 32768",
    "Starting to load model MODEL...",
    "Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:00<00:01,  2.32it/s]",
    "Loading weights took 12.30 seconds",
    "Model loading took 52.90 GiB memory and 13.1 seconds",
    "torch.compile took 21.3 s in total",
    "Available KV cache memory: 49.0 GiB",
    "GPU KV cache size: 402,144 tokens",
    "Graph capturing finished in 9 secs, took 1.20 GiB",
    "init engine (profile, create kv cache, warmup model) took 40.1 s",
    "Starting vLLM server on http://127.0.0.1:8000",
)
