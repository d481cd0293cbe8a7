"""Readings of a service's metrics, one after another, become its load. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dflashtui.engines.metrics import Reading, quantile
from dflashtui.model.load import Load

if TYPE_CHECKING:
    from datetime import datetime

WINDOW_SECONDS = 60.0
"""What percentiles are about: requests end rarely."""


class Figures:
    """Takes each reading of one run of one service. A counter that fell begins a new epoch."""

    def __init__(self) -> None:
        self._readings: deque[Reading] = deque()
        self._last_token_seconds: float | None = None

    def take(self, now: Reading, at: datetime) -> Load:
        """The load, as this reading and those before it tell."""
        if self._readings and now.is_after_restart(self._readings[-1]):
            self._readings.clear()
            self._last_token_seconds = None
        before = self._readings[-1] if self._readings else None
        while len(self._readings) > 1 and self._readings[1].seconds <= now.seconds - WINDOW_SECONDS:
            self._readings.popleft()
        oldest = self._readings[0] if self._readings else None
        self._readings.append(now)
        return Load(
            at=at,
            interval_seconds=round(now.seconds - before.seconds, 3) if before else None,
            running=_count(now, "running"),
            queued=_count(now, "queued"),
            output_tokens_per_second=_rounded(_output_rate(before, now), 1),
            input_tokens_per_second=_rounded(_rate(before, now, "input_tokens"), 1),
            kv_use_percent=_percent(now.get("kv_use")),
            prefix_hit_percent=_percent(_hit_rate(oldest, now)),
            accept_length=_rounded(_accept_length(oldest, now), 2),
            accept_rate_percent=_percent(_accept_rate(oldest, now)),
            retracted_count=_count(now, "retracted"),
            cuda_graph=_flag(now.get("cuda_graph")),
            stalled_seconds=self._stalled(before, now),
            queue_grows=_queue_grows(oldest, now),
            **_percentiles(oldest, now),
        )

    def _stalled(self, before: Reading | None, now: Reading) -> float | None:
        """Requests run and no token comes: for how long."""
        if before is None or now.get("output_tokens") is None or now.get("running") is None:
            return None
        gained = now.values["output_tokens"] > before.values.get("output_tokens", 0.0)
        if gained or not now.get("running") or self._last_token_seconds is None:
            self._last_token_seconds = now.seconds
        return round(now.seconds - self._last_token_seconds, 1)


def _percentiles(before: Reading | None, now: Reading) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in ("ttft", "itl"):
        then = before.histograms.get(name, {}) if before else {}
        for percent in (50, 95):
            value = quantile(then, now.histograms.get(name, {}), percent / 100) if before else None
            found[f"{name}_p{percent}_ms"] = None if value is None else round(value * 1000, 1)
    return found


def _delta(before: Reading | None, now: Reading, name: str) -> float | None:
    was, is_now = before.get(name) if before else None, now.get(name)
    return None if was is None or is_now is None else is_now - was


def _rate(before: Reading | None, now: Reading, name: str) -> float | None:
    gained = _delta(before, now, name)
    span = now.seconds - before.seconds if before else 0.0
    return None if gained is None or span <= 0 else gained / span


def _output_rate(before: Reading | None, now: Reading) -> float | None:
    """From the counter; SGLang's gauge keeps its last value when nothing runs."""
    if now.get("output_tokens") is not None:
        return _rate(before, now, "output_tokens")
    return now.get("throughput") if now.get("running") else None


def _hit_rate(before: Reading | None, now: Reading) -> float | None:
    asked, hit = _delta(before, now, "queries"), _delta(before, now, "hits")
    return hit / asked if asked and hit is not None else now.get("hit_rate")


def _accept_length(before: Reading | None, now: Reading) -> float | None:
    """Over the window where something was drafted in it, else since the start; SGLang tells it as it is."""
    for drafts, accepted in (
        (_delta(before, now, "drafts"), _delta(before, now, "accepted")),
        (now.get("drafts"), now.get("accepted")),
    ):
        if drafts and accepted is not None:
            return 1 + accepted / drafts
    return now.get("accept_length") or None


def _accept_rate(before: Reading | None, now: Reading) -> float | None:
    for drafted, accepted in (
        (_delta(before, now, "draft_tokens"), _delta(before, now, "accepted")),
        (now.get("draft_tokens"), now.get("accepted")),
    ):
        if drafted and accepted is not None:
            return accepted / drafted
    return now.get("accept_rate") if now.get("accept_length") else None


def _queue_grows(before: Reading | None, now: Reading) -> bool:
    queued, gained = now.get("queued") or 0.0, _delta(before, now, "queued") or 0.0
    return gained > 0 and queued > (now.get("running") or 0.0)


def _count(now: Reading, name: str) -> int | None:
    value = now.get(name)
    return None if value is None else round(value)


def _flag(value: float | None) -> bool | None:
    return None if value is None else value > 0


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
