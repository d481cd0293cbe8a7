"""What the manager's word about one start means. Pure: statuses in, at most one decision out.

One start is one `InvocationID`; verdicts come from the evidence, never from "active" (org.freedesktop.systemd1(5)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflashtui.model.events import failure_in_words
from dflashtui.model.probe import Verdict
from dflashtui.model.unit import ActiveState, LoadState, Readiness
from dflashtui.ops.probe_words import (
    FORGOTTEN,
    NOTHING_TO_ASK,
    OVERTAKEN,
    SILENT_END,
    SKIPPED,
    START_REFUSED,
    STARTS_AGAIN,
    TERMINATED,
    not_loadable,
)

if TYPE_CHECKING:
    from dflashtui.model.action import ActionResult
    from dflashtui.model.unit import UnitStatus

RUNNING = frozenset({ActiveState.ACTIVE, ActiveState.RELOADING, ActiveState.REFRESHING})
WAITING_FOR_RESTART = frozenset({"auto-restart", "auto-restart-queued"})
BY_THE_MANAGER = frozenset({"timeout", "resources", "protocol", "exec-condition", "start-limit-hit"})
"""`Result`s of a start that the program itself did not end."""
SPAWN_STATUS = range(200, 244)
"""systemd.exec(5): the program was never executed."""
EXITED = 1
POLITE_SIGNALS = frozenset({1, 2, 15})
"""SIGHUP, SIGINT, SIGTERM: somebody asked it to end; systemd calls that a success."""
REFUSED = frozenset({"denied", "refused", "not sent", "skipped", "cancelled", "dependency", "invalid", "unsupported"})
TELLS_WHEN_READY = frozenset({"notify", "notify-reload", "dbus", "forking", "oneshot"})
"""`Type`s whose start job ends only once the service, by its own word, is up."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The end of the race."""

    verdict: Verdict
    words: str
    witness: str = "bus"
    unit: UnitStatus | None = None
    """The run, as the manager last told it."""
    superseded_by: str | None = None
    is_end: bool = False
    """The run has ended: its log says why, and whether somebody had asked for it."""


class Judge:
    """Follows one run of a unit, from the moment that it is known."""

    def __init__(self, before: UnitStatus | None, *, will_start: bool, is_server: bool = True) -> None:
        """`before`: the unit as it stood; `will_start`: another run than that one is awaited.

        `is_server`: it is meant to run until somebody stops it.
        """
        self.run_id = None if will_start or before is None else before.invocation_id
        self.unit = before if not will_start else None
        self.says_ready = False
        """The engine's own line in this run's log."""
        self._before = before
        self._is_server = is_server
        self._awaits_start = will_start
        self._was_active = False

    @property
    def awaits_start(self) -> bool:
        """The run that is to be judged has not begun, as far as is known."""
        return self._awaits_start

    @property
    def is_unprovable(self) -> bool:
        """It runs, and there is no way to ask whether it answers."""
        unit = self.unit
        return unit is not None and unit.active_state in RUNNING and unit.readiness is Readiness.NONE

    def look(self, unit: UnitStatus) -> Decision | None:
        """The newest word about the unit."""
        if _is_torn(unit):
            return None
        if self._awaits_start and not self._has_begun(unit):
            return None
        if unit.invocation_id and self.run_id and unit.invocation_id != self.run_id:
            return self._other_run(unit)
        self.unit = unit
        return self._of_run(unit)

    def settled(self) -> Decision | None:
        """It has been running for a while, and nothing can be asked."""
        return Decision(Verdict.READY, NOTHING_TO_ASK, unit=self.unit) if self.is_unprovable else None

    def refused(self, result: ActionResult) -> Decision | None:
        """What came of asking for the start, if that alone decides."""
        if result.result == "canceled":
            return Decision(Verdict.STOPPED, result.message)
        if result.ok is False and result.result in REFUSED:
            return Decision(Verdict.FAILED_TO_START, result.message)
        return None

    def nothing_began(self, unit: UnitStatus, result: ActionResult) -> Decision | None:
        """The job has ended, and the unit is in the same run as before."""
        if unit.active_state in RUNNING or unit.active_state is ActiveState.ACTIVATING:
            self._awaits_start, self.run_id = False, unit.invocation_id
            return self.look(unit)
        if result.ok is None:
            return Decision(Verdict.UNKNOWN, result.message, unit=unit)
        if result.ok:
            return Decision(Verdict.FAILED_TO_START, SKIPPED, unit=unit)
        self._awaits_start, self.run_id, self.unit = False, unit.invocation_id, unit
        return Decision(Verdict.FAILED_TO_START, START_REFUSED, unit=unit, is_end=True)

    def _has_begun(self, unit: UnitStatus) -> bool:
        before = self._before
        if unit.invocation_id is None or (before and before.invocation_id == unit.invocation_id):
            return False
        if _is_untouched(before, unit):
            return False
        self._awaits_start, self.run_id = False, unit.invocation_id
        return True

    def _other_run(self, unit: UnitStatus) -> Decision:
        """The manager has begun another run, by itself or because somebody asked."""
        was = self.unit
        by_manager = (unit.n_restarts or 0) > ((was.n_restarts if was else 0) or 0)
        if by_manager or (was and was.sub_state in WAITING_FOR_RESTART):
            ended = was or unit
            words = STARTS_AGAIN.format(count=unit.n_restarts or 1, why=failure_in_words(ended))
            return Decision(Verdict.CRASH_LOOPING, words, unit=was, is_end=True)
        return Decision(Verdict.STOPPED, OVERTAKEN, unit=was, superseded_by=unit.invocation_id, is_end=True)

    def _of_run(self, unit: UnitStatus) -> Decision | None:
        match unit.active_state:
            case state if state in RUNNING:
                self._was_active = True
                return self._running(unit)
            case ActiveState.ACTIVATING if unit.sub_state in WAITING_FOR_RESTART:
                words = STARTS_AGAIN.format(count=(unit.n_restarts or 0) + 1, why=failure_in_words(unit))
                return Decision(Verdict.CRASH_LOOPING, words, unit=unit, is_end=True)
            case ActiveState.FAILED:
                return self._failed(unit)
            case ActiveState.INACTIVE:
                return self._inactive(unit)
            case _:
                return None

    def _running(self, unit: UnitStatus) -> Decision | None:
        detail = unit.readiness_detail or "it answers"
        match unit.readiness:
            case Readiness.READY:
                return Decision(Verdict.READY, detail, "readiness", unit)
            case Readiness.SICK:
                return Decision(Verdict.SICK, f"it answered before, and no longer does: {detail}", "readiness", unit)
            case Readiness.UNKNOWN if self.says_ready and unit.readiness_at is not None:
                return Decision(Verdict.READY, f"its log says that it is ready; {detail}", "journal", unit)
            case Readiness.NONE if unit.type in TELLS_WHEN_READY:
                return Decision(Verdict.READY, f"Type={unit.type}: its start job is done", unit=unit)
            case _:
                return None

    def _failed(self, unit: UnitStatus) -> Decision:
        words = failure_in_words(unit)
        if unit.n_restarts:
            gave_up = f"systemd gave up after {unit.n_restarts} restarts: {words}"
            return Decision(Verdict.CRASH_LOOPING, gave_up, unit=unit, is_end=True)
        verdict = Verdict.FAILED_TO_START if self._was_never_run(unit) else Verdict.CRASHED
        return Decision(verdict, words, unit=unit, is_end=True)

    def _was_never_run(self, unit: UnitStatus) -> bool:
        """The manager ended the start itself, or could not execute the program."""
        spawned = unit.exec_main_code != EXITED or unit.exec_main_status not in SPAWN_STATUS
        by_manager = unit.result in BY_THE_MANAGER and not self._was_active
        return by_manager or not spawned

    def _inactive(self, unit: UnitStatus) -> Decision:
        if unit.load_state in {LoadState.NOT_FOUND, LoadState.BAD_SETTING, LoadState.ERROR, LoadState.MASKED}:
            return Decision(Verdict.FAILED_TO_START, not_loadable(unit), unit=unit)
        if unit.type == "oneshot" and unit.result == "success" and unit.exec_main_code is not None:
            return Decision(Verdict.READY, "Type=oneshot: it has done its work", unit=unit)
        ended = Decision(Verdict.CRASHED, SILENT_END, unit=unit, is_end=True)
        if self.run_id is None or not (unit.exec_main_code or self._was_active):
            return replace(ended, verdict=Verdict.STOPPED, words="it is not running")
        if unit.exec_main_code not in {None, 0, EXITED} and unit.exec_main_status in POLITE_SIGNALS:
            return replace(ended, verdict=Verdict.STOPPED, words=TERMINATED)
        if not self._is_server:
            return replace(ended, verdict=Verdict.STOPPED, words="it ended by itself with status 0")
        return ended if unit.exec_main_code else replace(ended, words=FORGOTTEN)


def _is_torn(unit: UnitStatus) -> bool:
    """Read while it changed: a main process that has ended, with the state from before. The whole follows at once.

    State and exit stand on two interfaces of the bus, read one after the other; a state is never older than the exit
    that led to it.
    """
    is_old = unit.exited_at is not None and (unit.since is None or unit.since < unit.exited_at)
    return unit.active_state is ActiveState.INACTIVE and is_old


def _is_untouched(before: UnitStatus | None, unit: UnitStatus) -> bool:
    """A start gives the unit its new id first, and changes its state only then (systemd's service_start).

    A unit that was not loaded may for a moment be told with the new id from a signal and the old, blank state.
    """
    match unit.active_state:
        case ActiveState.INACTIVE:
            return not unit.exec_main_code or unit.since == (before.since if before else None)
        case ActiveState.FAILED:
            return unit.since == (before.since if before else None)
        case _:
            return False
