"""One simulated service: its states, as systemd would tell them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from signal import Signals
from typing import TYPE_CHECKING

from dflashtui.demo import manager_words as words
from dflashtui.demo.crashes import lost_gpu
from dflashtui.demo.line import Line
from dflashtui.demo.noise import between, hex_id
from dflashtui.demo.plan import Behaviour
from dflashtui.demo.run import SECOND_USEC, Run
from dflashtui.model.unit import ActiveState

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.demo.plan import ServicePlan

RESTART_SECONDS = 10.0
LOOPS_BEFORE_GIVING_UP = 8
GIVEN_UP_SECONDS = 40.0
STOP_SECONDS = 2.2
START_SECONDS = 0.15
RELOAD_SECONDS = 0.6
DAY_SECONDS = 86400.0
RUNS_KEPT = 200
MANAGER_LINES_KEPT = 2000
EXITED, KILLED = 1, 2
GPU_LOST_SECONDS_AGO = 260.0
NEVER_RESTARTED = frozenset({Behaviour.RUNS_OUT_OF_MEMORY, Behaviour.LOST_ITS_GPU})
"""Units without `Restart=`."""


@dataclass(slots=True)
class State:
    """The properties that change."""

    active_state: ActiveState = ActiveState.INACTIVE
    sub_state: str = "dead"
    result: str = "success"
    unit_file_state: str = "enabled"
    is_masked: bool = False
    n_restarts: int = 0
    exec_main_code: int = 0
    exec_main_status: int = 0
    since: float = 0.0
    exited: float | None = None
    next_restart: float | None = None


class Service:
    """Advances by its own due moments; times are seconds since the epoch."""

    def __init__(self, plan: ServicePlan, seed: int, born: float) -> None:
        """As it stands at `born`, with the past that led there."""
        self.plan = plan
        self.state = State()
        self.runs: deque[tuple[Run, float | None]] = deque(maxlen=RUNS_KEPT)
        """Each run and when it ended; the last may still live."""
        self.written: deque[Line] = deque(maxlen=MANAGER_LINES_KEPT)
        """What the manager said, in order; what services write is made when it is read."""
        self._key = (seed, plan.host, plan.unit)
        self._due: tuple[float, Callable[[float], None]] | None = None
        self._starts_again = False
        self._count = 0
        self._begin(born)
        self.advance(born)

    @property
    def run(self) -> Run | None:
        """The run that lives now."""
        if not self.runs or self.runs[-1][1] is not None:
            return None
        return self.runs[-1][0]

    @property
    def last_run(self) -> Run | None:
        """The run that lives, or the last one that did."""
        return self.runs[-1][0] if self.runs else None

    def advance(self, now: float) -> bool:
        """Let everything happen that is due until `now`; whether something did."""
        happened = False
        while self._due and self._due[0] <= now:
            at, step = self._due
            self._due = None
            step(at)
            happened = True
        return happened

    def start(self, at: float) -> float:
        """Begin a start; when its job is done."""
        if self.run is None:
            self.state.n_restarts = 0
            self._started(at)
        return at + START_SECONDS

    def stop(self, at: float) -> float:
        """Begin a stop; when its job is done."""
        if self.run is None:
            self._due = None
            self._settle(at, ActiveState.INACTIVE, "dead")
            self.state.next_restart = None
            return at + START_SECONDS
        self._say(at, words.STOPPING)
        self._settle(at, ActiveState.DEACTIVATING, "stop-sigterm")
        self._due = (at + STOP_SECONDS, self._stopped)
        return at + STOP_SECONDS

    def restart(self, at: float) -> float:
        """Stop, then start; when the job is done."""
        if self.run is None:
            return self.start(at)
        self._starts_again = True
        return self.stop(at) + START_SECONDS

    def reload(self, at: float) -> float:
        """Read the configuration again; the run goes on."""
        waiting = self._due
        self._say(at, words.RELOADING)
        self._settle(at, ActiveState.RELOADING, "reload")
        self._due = (at + RELOAD_SECONDS, lambda done: self._reloaded(done, waiting))
        return at + RELOAD_SECONDS

    def kill(self, at: float, signal: Signals) -> float:
        """Send the main process a signal that ends it."""
        if self.run is not None:
            self._ended(at, KILLED, signal.value, "success" if signal is Signals.SIGTERM else "signal")
        return at

    def reset_failed(self, at: float) -> float:
        """Forget the failure."""
        self.state.n_restarts = 0
        if self.state.active_state is ActiveState.FAILED:
            self._due = None
            self.state.result = "success"
            self._settle(at, ActiveState.INACTIVE, "dead")
        return at

    def _begin(self, born: float) -> None:
        match self.plan.behaviour:
            case Behaviour.LOOPS:
                self._started(born - 4.5 * (RESTART_SECONDS + 4.2))
            case Behaviour.LOADS:
                self._started(born - 0.3 * self.plan.load_seconds)
            case Behaviour.IS_STOPPED:
                self.state.unit_file_state = "disabled"
                self._settle(born - between(1, 9, *self._key) * DAY_SECONDS, ActiveState.INACTIVE, "dead")
            case Behaviour.LOST_ITS_GPU:
                self._lost_its_gpu(born - GPU_LOST_SECONDS_AGO)
            case Behaviour.RUNS_OUT_OF_MEMORY:
                self._started(born - between(0.01, 0.2, *self._key) * DAY_SECONDS)
            case Behaviour.SERVES | Behaviour.IS_SICK:
                self._started(born - between(0.1, 6, *self._key) * DAY_SECONDS)

    def _lost_its_gpu(self, at: float) -> None:
        """It served for a day, and failed with its GPU."""
        self._started(at - DAY_SECONDS, Behaviour.SERVES)
        run = self.runs[-1][0]
        for place, text in enumerate(lost_gpu(self.plan)):
            at_usec = int((at - 0.2) * SECOND_USEC) + place
            self.written.append(Line(at_usec, text, run.invocation_id, run.pid, "python"))
        self._ended(at, EXITED, 1, "exit-code")

    def _started(self, at: float, behaviour: Behaviour | None = None) -> None:
        self._count += 1
        plan, count = self.plan, self._count
        pid = 2000 + int(between(0, 30000, *self._key)) + 37 * count
        run = Run(count, hex_id(32, *self._key, count), pid, at, behaviour or plan.behaviour, plan.load_seconds)
        self.runs.append((run, None))
        self.state.exec_main_code = self.state.exec_main_status = 0
        self.state.result, self.state.next_restart = "success", None
        self._say(at, words.STARTED)
        self._settle(at, ActiveState.ACTIVE, "running")
        self._due = (run.dies_at, self._died) if run.dies_at is not None else (run.ready_at, self._became_ready)

    def _became_ready(self, _at: float) -> None:
        """Nothing changes but what is asked over HTTP."""

    def _died(self, at: float) -> None:
        if self.plan.behaviour is Behaviour.RUNS_OUT_OF_MEMORY:
            self._ended(at, KILLED, Signals.SIGKILL.value, "signal")
        else:
            self._ended(at, EXITED, 1, "exit-code")

    def _ended(self, at: float, code: int, status: int, result: str) -> None:
        self._due = None
        word = words.EXITED if code == EXITED else words.KILLED
        self._say(at, word, status=status, signal=Signals(status).name.removeprefix("SIG"))
        if result != "success":
            self._say(at, words.FAILED, result=result)
        self._say(at, words.CONSUMED, cpu=between(3, 9, *self._key, at))
        self._close(at)
        self.state.exec_main_code, self.state.exec_main_status, self.state.result = code, status, result
        if result == "success":
            self._settle(at, ActiveState.INACTIVE, "dead")
        elif self.plan.behaviour in NEVER_RESTARTED:
            self._settle(at, ActiveState.FAILED, "failed")
        elif self.state.n_restarts >= LOOPS_BEFORE_GIVING_UP:
            self._give_up(at)
        else:
            self._settle(at, ActiveState.ACTIVATING, "auto-restart")
            self.state.next_restart = at + RESTART_SECONDS
            self._due = (self.state.next_restart, self._restarted)

    def _restarted(self, at: float) -> None:
        self.state.n_restarts += 1
        self._say(at, words.SCHEDULED, n_restarts=self.state.n_restarts)
        self._say(at, words.STOPPED)
        self._started(at)

    def _give_up(self, at: float) -> None:
        self._say(at, words.TOO_QUICKLY)
        self._say(at, words.FAILED, result=self.state.result)
        self._say(at, words.FAILED_TO_START)
        self._settle(at, ActiveState.FAILED, "failed")
        self._due = (at + GIVEN_UP_SECONDS, self._started_by_timer)

    def _started_by_timer(self, at: float) -> None:
        self.state.n_restarts = 0
        self._started(at)

    def _stopped(self, at: float) -> None:
        self._say(at, words.DEACTIVATED)
        self._say(at, words.STOPPED)
        self._close(at)
        self.state.n_restarts = 0
        self._settle(at, ActiveState.INACTIVE, "dead")
        if self._starts_again:
            self._starts_again = False
            self._started(at)

    def _reloaded(self, at: float, waiting: tuple[float, Callable[[float], None]] | None) -> None:
        self._say(at, words.RELOADED)
        self._settle(at, ActiveState.ACTIVE, "running")
        self._due = waiting

    def _close(self, at: float) -> None:
        run, ended = self.runs[-1]
        self.runs[-1] = (run, at if ended is None else ended)
        self.state.exited = at

    def _settle(self, at: float, active_state: ActiveState, sub_state: str) -> None:
        self.state.active_state, self.state.sub_state, self.state.since = active_state, sub_state, at

    def _say(self, at: float, word: words.Word, **values: object) -> None:
        text = word.text.format(unit=self.plan.unit, description=self.plan.description, **values)
        at_usec = int(at * SECOND_USEC) + 1
        if self.written and self.written[-1].at_usec >= at_usec:
            at_usec = self.written[-1].at_usec + 1
        invocation_id = self.runs[-1][0].invocation_id if self.runs else ""
        self.written.append(Line(at_usec, text, invocation_id, 1, "systemd", word.priority, word.message_id))
