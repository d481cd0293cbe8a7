"""The states of a service that are worth showing (inference-engines, part 3.6)."""

from __future__ import annotations

from enum import StrEnum


class ServiceState(StrEnum):
    """Finer than `readiness`; its evidence and age are the unit's `readiness_detail` and `readiness_at`."""

    NOT_INSTALLED = "not-installed"
    STOPPED = "stopped"
    LOADING = "loading"
    """See the unit's `phase`."""
    WARMING = "warming"
    """HTTP is up, the self test is not over."""
    READY = "ready"
    PROVEN = "proven"
    """Ready, and a real completion of this run came from the right model."""
    DEGRADED = "degraded"
    """It answers, but slower than it should: decoding without CUDA graphs, a queue that grows."""
    SICK = "sick"
    HUNG = "hung"
    """HTTP answers, requests run, and no token comes."""
    DRAINING = "draining"
    UNAUTHORISED = "unauthorised"
    """It is up, and asks for a key that this program has not."""
    WRONG_SERVICE = "wrong-service"
    """Somebody else listens on its port."""
    CRASH_LOOP = "crash-loop"
    FAILED = "failed"
    UNEXPECTED_EXIT = "unexpected-exit"
    """It ended with status 0 and nobody stopped it: how vLLM ends after its engine died."""
    UNKNOWN = "unknown"
