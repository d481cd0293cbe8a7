"""Actions on simulated services, with the answers that systemd would give."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.demo.service import Service
from dflashtui.demo.statuses import can_reload
from dflashtui.errors import ActionDenied, CommandFailed, SourceUnavailable
from dflashtui.model.action import Verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.demo.host import DemoHost
    from dflashtui.model.action import UnitAction

FILE_SECONDS = 0.12


JOBS: dict[Verb, Callable[[Service, float], float]] = {
    Verb.START: Service.start,
    Verb.STOP: Service.stop,
    Verb.RESTART: Service.restart,
    Verb.RELOAD: Service.reload,
    Verb.RESET_FAILED: Service.reset_failed,
}


class Job(NamedTuple):
    """What was begun: when it is done (seconds since the epoch), and its result."""

    done_at: float
    result: str


def begin(host: DemoHost, action: UnitAction, now: float) -> Job:
    """Begin an action. Raises what a refusal of the host would be."""
    if host.plan.read_only:
        raise ActionDenied(f"{action.host}: the group is read-only; no action leaves this console")
    if not host.answers(now):
        raise SourceUnavailable(action.host, "units", "no connection to the host; nothing was sent")
    service = host.services.get(action.unit)
    if service is None:
        raise CommandFailed(action.host, action.argv, 5, f"Unit {action.unit} not found.")
    return _begin(service, action, now)


def _begin(service: Service, action: UnitAction, now: float) -> Job:
    if refusal := _refusal(service, action):
        raise CommandFailed(action.host, action.argv, 1, refusal)
    match action.verb:
        case Verb.KILL:
            return Job(service.kill(now, Signals[action.signal or "SIGTERM"]), "done")
        case Verb.ENABLE | Verb.DISABLE | Verb.MASK | Verb.UNMASK:
            return Job(_change_files(service, action.verb, now), "done")
        case verb:
            return Job(JOBS[verb](service, now), "done")


def _refusal(service: Service, action: UnitAction) -> str | None:
    """Systemctl's words, where it would refuse."""
    match action.verb:
        case Verb.START | Verb.RESTART if service.state.is_masked:
            return f"Unit {action.unit} is masked."
        case Verb.ENABLE if service.state.is_masked:
            return f"Unit file {action.unit} is masked."
        case Verb.RELOAD if not can_reload(service.plan):
            return f"Job type reload is not applicable for unit {action.unit}."
        case Verb.RELOAD if service.run is None:
            return f"Unit {action.unit} is not active, cannot reload."
        case _:
            return None


def _change_files(service: Service, verb: Verb, now: float) -> float:
    if verb in {Verb.MASK, Verb.UNMASK}:
        service.state.is_masked = verb is Verb.MASK
    else:
        service.state.unit_file_state = f"{verb.value}d"
    return now + FILE_SECONDS
