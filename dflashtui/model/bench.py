"""A bench: what was asked of services, what came of it, and whether it may be compared (inference-engines, part 8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from dflashtui.model.base import Value


class RequestRecord(Value):
    """One request of a level. Failed ones are kept."""

    prompt: str
    """Name of the prompt in the packaged set."""
    outcome: str
    words: str = ""
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    latency_ms: float | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    text: str | None = None
    """Kept at the lowest level, where texts are compared."""

    @property
    def is_ok(self) -> bool:
        """Whether it counts."""
        return self.outcome == "ok"


class LevelRun(Value):
    """One level of one turn."""

    concurrency: int
    turn: int
    """0 for a unit's first turn; the same turn of two units had the same prompts."""
    wall_seconds: float
    """From the first request to the last piece of an answer."""
    requests: tuple[RequestRecord, ...] = ()
    accept_length: float | None = None
    accept_from: str | None = None
    """`counters`: of this run alone; `gauge`: the engine's own mean, which may hold earlier traffic."""
    kv_use_percent: float | None = None
    """The most that was seen."""
    is_whole: bool = True
    """False: interrupted."""

    @property
    def output_tokens(self) -> int | None:
        """Of all answers; `None` where the service does not count."""
        counted = [one.output_tokens for one in self.requests if one.is_ok]
        return None if not counted or None in counted else sum(filter(None, counted))

    @property
    def tokens_per_second(self) -> float | None:
        """All answers over the wall time."""
        tokens = self.output_tokens
        return tokens / self.wall_seconds if tokens is not None and self.wall_seconds > 0 else None


class Spread(Value):
    """A distribution with the number of its samples. No p99: too few samples for it."""

    count: int
    p5: float | None = None
    p50: float | None = None
    p95: float | None = None


class LevelFigures(Value):
    """All whole turns of one level of one unit."""

    concurrency: int
    turns: int
    requests: int
    failures: int
    failed_by: Mapping[str, int] = {}
    output_tokens: int | None = None
    tokens_per_second: Spread
    """Of the turns, whole service."""
    request_tokens_per_second: Spread
    ttft_ms: Spread
    tpot_ms: Spread
    wall_seconds: float
    accept_length: float | None = None
    accept_from: str | None = None
    kv_use_percent: float | None = None


class GpuFacts(Value):
    """A GPU as it was when a turn began."""

    index: int
    uuid: str | None = None
    name: str | None = None
    driver_version: str | None = None
    power_limit_watts: float | None = None
    sm_clock_mhz: int | None = None
    temperature_celsius: int | None = None


class SideFacts(Value):
    """Under which conditions a unit was measured."""

    engine: str
    engine_version: str | None = None
    packages: Mapping[str, str] = {}
    """Versions of what decides about speed, with the commit where it came from a repository."""
    argv: tuple[str, ...] = ()
    """Secrets masked."""
    model: str | None = None
    """The name that it serves."""
    model_path: str | None = None
    model_hash: str | None = None
    """Of its config and of the index of its weights, not of the weights themselves."""
    gpus: tuple[GpuFacts, ...] = ()
    invocations: tuple[str, ...] = ()
    """One for each start that was measured."""


class Side(Value):
    """One unit."""

    label: str
    """`A` or `B`."""
    host: str
    unit: str
    facts: SideFacts
    levels: tuple[LevelFigures, ...] = ()
    runs: tuple[LevelRun, ...] = ()
    trouble: str | None = None
    """Why it could not be measured, or not to the end."""


class Difference(Value):
    """Two answers to one prompt that are not the same."""

    prompt: str
    turn: int
    at_character: int
    at_word: int
    """Stands for the token: words are counted, since nobody here knows the model's tokens."""
    before: str
    """What both said just before."""
    first: str
    second: str


class Sameness(Value):
    """Whether speculation left the text as it was: greedy answers, one at a time, pair by pair."""

    pairs: int = 0
    identical: int = 0
    differences: tuple[Difference, ...] = ()
    """Earliest first."""
    broken: tuple[str, ...] = ()
    """Answers that are empty, or one word again and again, in words."""


class Speedup(Value):
    """B over A at one level."""

    concurrency: int
    throughput_ratio: float | None = None
    ttft_ratio: float | None = None
    tpot_ratio: float | None = None


class BenchResult(Value):
    """The whole record."""

    at: datetime
    prompts_version: int
    levels: tuple[int, ...]
    turns: int
    max_tokens: int
    order: tuple[str, ...]
    """Labels, as they took turns."""
    sides: tuple[Side, ...]
    sameness: Sameness | None = None
    speedups: tuple[Speedup, ...] = ()
    """Empty where the comparison is invalid."""
    invalid: tuple[str, ...] = ()
    """Why the two must not be compared."""
    notes: tuple[str, ...] = ()
    """What else differs, and what to know when reading."""
    is_partial: bool = False
    """It was interrupted, or a unit could not be measured to the end."""
