"""Which distribution brings an import name, for what engines import. Pure.

No package index tells this, so the table is read off real files: an environment with sglang 0.5.9 and all that it wants
(`importlib.metadata.packages_distributions()`), and the wheels of what sglang 0.5.23 and vLLM 0.33.0 ask for (their
RECORD). An installed package's wants, and what the reference host has, count more: see `ops/import_wants.py`.
"""

from __future__ import annotations

OTHERWISE = {
    "PIL": "pillow",
    "attr": "attrs",
    "cpuinfo": "py-cpuinfo",
    "cudnn": "nvidia-cudnn-frontend",
    "cutlass": "nvidia-cutlass-dsl",
    "decord": "decord2",
    "grpc": "grpcio",
    "grpc_health": "grpcio-health-checking",
    "grpc_reflection": "grpcio-reflection",
    "lmformatenforcer": "lm-format-enforcer",
    "mooncake": "mooncake-transfer-engine",
    "opentelemetry": "opentelemetry-api",
    "pythonjsonlogger": "python-json-logger",
    "quack": "quack-kernels",
    "rpds": "rpds-py",
    "tvm_ffi": "apache-tvm-ffi",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Names that differ."""

ALIKE = frozenset(  # as a column of 60 lines it would be read by nobody
    """
    aiohttp anyio certifi click compressed_tensors dill distro einops fastapi filelock fsspec gguf h11 hf_xet
    httpcore httpx huggingface_hub idna IPython jinja2 jiter jsonschema llguidance loguru msgspec multidict networkx
    numpy openai openai_harmony orjson packaging partial_json_parser prometheus_client
    prometheus_fastapi_instrumentator psutil pybase64 pydantic pydantic_core regex requests safetensors
    sentencepiece setproctitle smg_grpc_proto sniffio soundfile starlette sympy tiktoken tokenizers torch
    torch_memory_saver torchaudio torchvision tqdm transformers triton typing_extensions urllib3 uvicorn uvloop
    xgrammar yarl
    """.split()  # noqa: SIM905
)
"""Names that are their distribution's, but for case and hyphens: written down, so that they are no guess."""


def known_distribution(module: str) -> str | None:
    """The distribution of a top-level import name; `None`: the table does not have it."""
    return OTHERWISE.get(module) or (module.replace("_", "-").lower() if module in ALIKE else None)
