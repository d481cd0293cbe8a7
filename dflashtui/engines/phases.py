"""How far an engine's start has come, by what it prints (inference-engines, part 2). Pure and streaming.

Markers are literal parts of log lines of SGLang 0.5.9 to 0.5.23 and vLLM 0.20 to 0.33. A new line of an engine is one
more `Marker`. They are searched, not anchored: journald glues progress bars in front of lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dflashtui.model.probe import Phase

PERCENT = re.compile(r"(?<!\d)(\d{1,3})%(?: Completed)?\s*\|")
LINE_LIMIT = 4096
"""`server_args=` is longer, and its marker stands in front."""
PREFIX_LIMIT = 120
OTHER_RANK = re.compile(r"(?<![A-Za-z])[TDP]P[1-9]\d{0,4}\b")
"""Of several ranks that all say the same, the first speaks."""
HAS_DRAFT = re.compile(r"speculative_draft_model_path='|speculative_config'?[=:] ?\{")
DRAFT = 2
READY = "ready"


class Marker(NamedTuple):
    """A literal part of a line, and the phase that it begins."""

    text: str
    name: str
    words: str
    begins_model: bool = False
    """Seen once more, it begins the same steps for the draft model."""


SGLANG = (
    Marker("The server is fired up and ready to roll!", READY, "ready"),
    Marker("Uvicorn running on ", "warm-up", "self test"),
    Marker("Started server process [", "http", "opening its port"),
    Marker("max_total_num_tokens=", "finishing", "last imports"),
    Marker("Init torch distributed begin", "distributed", "setting up torch.distributed"),
    Marker("Load weight begin", "weights", "loading weights", begins_model=True),
    Marker("Multi-thread loading shards:", "weights", "loading weights"),
    Marker("Loading safetensors checkpoint shards:", "weights", "loading weights"),
    Marker("Load weight end", "kv-cache", "allocating the KV cache"),
    Marker("cuda graph begin", "graphs", "capturing CUDA graphs"),
    Marker("CUDA graph begin", "graphs", "capturing CUDA graphs"),
    Marker("Capturing batches", "graphs", "capturing CUDA graphs"),
    Marker("server_args=", "arguments", "checking arguments"),
)
VLLM = (
    Marker("Application startup complete", READY, "ready"),
    Marker("Starting vLLM server on ", "http", "opening its port"),
    Marker("Starting vLLM API server", "http", "opening its port"),
    Marker("Started server process [", "http", "opening its port"),
    Marker("init engine (profile", "finishing", "last steps"),
    Marker("Capturing CUDA graph", "graphs", "capturing CUDA graphs"),
    Marker("GPU KV cache size:", "graphs", "capturing CUDA graphs"),
    Marker("Available KV cache memory:", "kv-cache", "allocating the KV cache"),
    Marker("Dynamo bytecode transform", "compile", "compiling"),
    Marker("Compiling a graph", "compile", "compiling"),
    Marker("Directly load the compiled graph", "compile", "compiling"),
    Marker("torch.compile took", "kv-cache", "allocating the KV cache"),
    Marker("Model loading took", "compile", "compiling"),
    Marker("Starting to load model", "weights", "loading weights", begins_model=True),
    Marker("Loading drafter model", "weights", "loading weights", begins_model=True),
    Marker("Loading safetensors checkpoint shards:", "weights", "loading weights"),
    Marker("Resolved architecture:", "arguments", "checking arguments"),
    Marker("vLLM server version", "arguments", "checking arguments"),
)
OTHER = (
    Marker("Application startup complete", "http", "HTTP is up"),
    Marker("Uvicorn running on ", "http", "HTTP is up"),
)
MARKERS = {"sglang": SGLANG, "vllm": VLLM}
FIRST = Phase(name="import", words="importing")
ORDER = (
    "import",
    "arguments",
    "distributed",
    "weights",
    "compile",
    "kv-cache",
    "graphs",
    "finishing",
    "http",
    "warm-up",
    READY,
)
BEFORE = frozenset(ORDER[:3])
OF_A_MODEL = frozenset(ORDER[3:7])
LAST = 99
"""Comes after the steps of every model."""


class PhaseReader:
    """The phase of one run. Feed it the service's own lines, in order."""

    def __init__(self, engine: str | None = None) -> None:
        """`engine` as in the inventory; of another one only the words of uvicorn are known."""
        self.current = FIRST
        self._markers = MARKERS.get(engine or "", OTHER)
        self._has_draft = False
        self._models = 0
        self._place = (0, 0)

    @property
    def is_ready(self) -> bool:
        """The engine has said so itself."""
        return self.current.name == READY

    def feed(self, text: str) -> Phase | None:
        """The phase, if this line changed it."""
        if self.is_ready or OTHER_RANK.search(text, 0, PREFIX_LIMIT):
            return None
        before = self.current
        for piece in text.split("\r")[-2:]:
            self._read(piece)
        return None if self.current == before else self.current

    def _read(self, piece: str) -> None:
        self._has_draft = self._has_draft or HAS_DRAFT.search(piece) is not None
        # a line that is glued behind a bar's last state tells what came after the bar
        cut = piece[:LINE_LIMIT]
        found = [(cut.find(marker.text), marker) for marker in self._markers if marker.text in cut]
        for _, marker in sorted(found, key=lambda one: one[0]):
            self._enter(marker)
            self._progress(cut)

    def _enter(self, marker: Marker) -> None:
        models = self._models + 1 if marker.begins_model else self._models
        entered = Phase(name=marker.name, words=marker.words, part=self._part(marker.name, models))
        place = (
            models if marker.name in OF_A_MODEL else 0 if marker.name in BEFORE else LAST,
            ORDER.index(marker.name),
        )
        if place < self._place:
            return
        self._models, self._place = models, place
        if entered.key != self.current.key:
            self.current = entered

    def _part(self, name: str, models: int) -> str | None:
        """Which model a step belongs to, where there are two; one that is not announced is known by coming second."""
        if name not in OF_A_MODEL or (models < DRAFT and not self._has_draft):
            return None
        return "draft" if models >= DRAFT else "target"

    def _progress(self, piece: str) -> None:
        percents = PERCENT.findall(piece)
        if not percents or self.current.name not in OF_A_MODEL or int(percents[-1]) > 100:  # noqa: PLR2004 - percent
            return
        percent = max(int(percents[-1]), self.current.percent or 0)
        self.current = self.current.model_copy(update={"percent": percent})


def _turn(name: str, models: int) -> int:
    """Steps of the first model come before all steps of the second."""
    if name in OF_A_MODEL:
        return models
    return 0 if name in BEFORE else LAST
