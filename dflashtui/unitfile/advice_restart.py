"""Advice about what happens after a crash (inference-engine facts: loading takes minutes, a bad argument stays bad)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.unitfile.look import Advice, at
from dflashtui.unitfile.spans import span_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look

DEFAULT_DELAY_SECONDS = 0.1
DEFAULT_INTERVAL_SECONDS = 10.0
DEFAULT_BURST = 5
SHORTEST_DELAY_SECONDS = 5.0
LOADING_SECONDS = 60.0
"""What an engine needs at least until it fails late: weights, graphs, then the import that breaks."""
KILLED = frozenset({"SIGKILL", "KILL", "9"})
BAD_ARGUMENTS = "2"


def policy(look: Look) -> Iterator[Advice]:
    """Whether it comes back at all."""
    entry = look.unit.last("Service", "Restart")
    if look.type == "oneshot" or not look.starts:
        return
    if entry is None:
        message = "no Restart=: after its first crash it stays down"
        yield at(None, "no-restart", "warning", message, "Restart=on-failure with RestartSec=20")
    elif entry.value == "no":
        yield at(
            entry, "no-restart", "note", "Restart=no: after its first crash it stays down", "right while it is new"
        )
    elif look.engine == "vllm" and entry.value != "always":
        message = "vLLM ends with status 0 after its engine died: Restart=on-failure does not bring it back"
        yield at(entry, "restart-after-success", "warning", message, "Restart=always; systemctl stop still stops it")


def pace(look: Look) -> Iterator[Advice]:
    """How fast it comes back, and whether that ever ends."""
    if look.unit.value("Service", "Restart", "no") == "no":
        return
    delay = span_seconds(look.unit.value("Service", "RestartSec")) or DEFAULT_DELAY_SECONDS
    entry = look.unit.last("Service", "RestartSec") or look.unit.last("Service", "Restart")
    if delay < SHORTEST_DELAY_SECONDS:
        message = f"restarts after {delay:g} s: the GPU's memory may not be free yet, and a crash loop floods the log"
        yield at(entry, "restart-too-soon", "warning", message, "RestartSec=20")
    yield from _limit(look, delay)


def _limit(look: Look, delay: float) -> Iterator[Advice]:
    written = look.unit.last("Unit", "StartLimitIntervalSec") or look.unit.last("Unit", "StartLimitInterval")
    interval = span_seconds(written.value) if written else DEFAULT_INTERVAL_SECONDS
    burst = _burst(look)
    if interval == 0 or (interval is not None and interval < burst * delay + LOADING_SECONDS):
        told = "is switched off" if interval == 0 else f"is {burst} starts in {interval:g} s"
        message = f"the start limit {told}: a service that fails after minutes of loading starts again for ever"
        remedy = "[Unit] StartLimitIntervalSec=900 and StartLimitBurst=3"
        yield at(
            written or look.unit.last("Service", "Restart"), "start-limit-out-of-reach", "warning", message, remedy
        )


def _burst(look: Look) -> int:
    entry = look.unit.last("Unit", "StartLimitBurst") or look.unit.last("Service", "StartLimitBurst")
    return int(entry.value) if entry and entry.value.isdecimal() else DEFAULT_BURST


def statuses(look: Look) -> Iterator[Advice]:
    """Exit statuses that do not mean what they say."""
    restarts = look.unit.value("Service", "Restart", "no") != "no"
    prevented = look.unit.value("Service", "RestartPreventExitStatus").split()
    if restarts and look.engine and BAD_ARGUMENTS not in prevented:
        message = "a bad argument (exit 2) is tried again and again, and does not heal"
        yield at(None, "restart-bad-arguments", "note", message, "RestartPreventExitStatus=2")
    entry = look.unit.last("Service", "SuccessExitStatus")
    forced = set(look.unit.value("Service", "RestartForceExitStatus").split())
    if entry and KILLED & set(entry.value.split()) and not KILLED & forced:
        message = "SIGKILL counts as success here: SGLang kills itself so after a crash, which then is no failure"
        yield at(entry, "crash-as-success", "warning", message, "RestartForceExitStatus=SIGKILL, or leave it out")


RULES = (policy, pace, statuses)
