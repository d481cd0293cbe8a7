"""Actions on simulated services, with the answers that systemd would give."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.errors import ActionDenied, CommandFailed, SourceUnavailable
from dflashtui.model.action import Verb

if TYPE_CHECKING:
    from dflashtui.demo.host import DemoHost
    from dflashtui.demo.service import Service
    from dflashtui.model.action import UnitAction

FILE_SECONDS = 0.12


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
    match action.verb:
        case Verb.START | Verb.RESTART if service.state.is_masked:
            raise CommandFailed(action.host, action.argv, 1, f"Unit {action.unit} is masked.")
        case Verb.START:
            return Job(service.start(now), "done")
        case Verb.STOP:
            return Job(service.stop(now), "done")
        case Verb.RESTART:
            return Job(service.restart(now), "done")
        case Verb.RELOAD if service.run is None:
            raise CommandFailed(action.host, action.argv, 1, f"Unit {action.unit} is not active, cannot reload.")
        case Verb.RELOAD:
            return Job(service.reload(now), "done")
        case Verb.RESET_FAILED:
            return Job(service.reset_failed(now), "done")
        case Verb.KILL:
            return Job(service.kill(now, _signal(action.signal)), "done")
        case Verb.ENABLE | Verb.DISABLE | Verb.MASK | Verb.UNMASK:
            return _change_files(service, action, now)


def _change_files(service: Service, action: UnitAction, now: float) -> Job:
    match action.verb:
        case Verb.ENABLE if service.state.is_masked:
            raise CommandFailed(action.host, action.argv, 1, f"Unit file {action.unit} is masked.")
        case Verb.ENABLE | Verb.DISABLE:
            service.state.unit_file_state = f"{action.verb.value}d"
        case _:
            service.state.is_masked = action.verb is Verb.MASK
    return Job(now + FILE_SECONDS, "done")


def _signal(name: str | None) -> Signals:
    return Signals[name or "SIGTERM"]
