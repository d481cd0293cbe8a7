"""Starts that a person asked for: each is watched until it is ready or dead."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.model.action import Verb
from dflashtui.ops.probe_wanted import wanted_of
from dflashtui.tui.crash.later import run_later
from dflashtui.tui.crash.strip import Watched
from dflashtui.tui.subject import Subject, unit_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from textual.worker import Worker

    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.model.probe import ProbeResult, ProbeUpdate
    from dflashtui.ops.evidence import Evidence
    from dflashtui.ops.probe import Probe
    from dflashtui.tui.shell import Shell

WATCHED_VERBS = frozenset({Verb.START, Verb.RESTART})
LINGER_SECONDS = 8.0
"""How long a verdict stays on the line."""


@dataclass(eq=False, slots=True)
class Start:
    """One start of one unit."""

    subject: Subject
    asked: asyncio.Future[ActionResult]
    began_at: datetime
    update: ProbeUpdate | None = None
    worker: Worker[None] | None = None


class Starts:
    """Made for a screen; `told` is called with every piece of news, `ended` with the last verdict of a start."""

    def __init__(
        self,
        screen: Shell,
        evidence: Evidence,
        told: Callable[[Start, ProbeUpdate], None],
        ended: Callable[[Start, ProbeResult], None],
    ) -> None:
        self._screen = screen
        self._evidence = evidence
        self._told = told
        self._ended = ended
        self._starts: dict[Subject, Start] = {}

    def begin(self, actions: Sequence[UnitAction]) -> None:
        """Before these actions are sent, so that nothing of their starts is missed."""
        for action in actions:
            if action.verb in WATCHED_VERBS:
                self._begin(action)

    def asked(self, result: ActionResult) -> None:
        """What came of asking for a start."""
        start = self._starts.get(unit_subject(result.action.host, result.action.unit))
        if start and result.action.verb in WATCHED_VERBS and not start.asked.done():
            start.asked.set_result(result)

    def give_up(self, actions: Sequence[UnitAction]) -> None:
        """Those that were never asked for are not watched."""
        for action in actions:
            subject = unit_subject(action.host, action.unit)
            start = self._starts.get(subject)
            if start is not None and not start.asked.done():
                self._leave(start)

    def of(self, subject: Subject | None) -> Start | None:
        """The start of a unit that is watched, or ended a moment ago."""
        return self._starts.get(subject) if subject is not None else None

    def leave_all(self) -> None:
        """Watch no longer; the starts go on."""
        for start in [one for one in self._starts.values() if not (one.update and one.update.result)]:
            self._leave(start)

    @property
    def suspected(self) -> Start | None:
        """One that will fail, as it seems."""
        return next((one for one in self._starts.values() if one.update and one.update.suspected), None)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """For the line, oldest first."""
        now = self._screen.clock()
        return tuple(
            Watched(start.subject.host, start.subject.name, (now - start.began_at).total_seconds(), start.update)
            for start in self._starts.values()
        )

    @property
    def going(self) -> bool:
        """Whether any start goes on."""
        return any(not (one.update and one.update.result) for one in self._starts.values())

    def _begin(self, action: UnitAction) -> None:
        from dflashtui.ops.probe import Probe  # noqa: PLC0415 - see `Crashes`

        loop = asyncio.get_running_loop()
        start = Start(unit_subject(action.host, action.unit), loop.create_future(), self._screen.clock())
        wanted = wanted_of(self._screen.config, action.host, action.unit)
        probe = Probe(
            self._screen.fleet, wanted, lambda update: self._tell(start, update), self._evidence, will_start=True
        )
        before = self._starts.pop(start.subject, None)
        if before is not None:
            self._leave(before)
        self._starts[start.subject] = start
        group = f"start {action.host} {action.unit}"
        start.worker = run_later(self._screen, group, self._watch, start, probe)

    async def _watch(self, start: Start, probe: Probe) -> None:
        result = await probe.run(start.asked)
        self._ended(start, result)
        await asyncio.sleep(LINGER_SECONDS)
        self._forget(start)

    def _tell(self, start: Start, update: ProbeUpdate) -> None:
        start.update = update
        self._told(start, update)

    def _leave(self, start: Start) -> None:
        if start.worker is not None:
            start.worker.cancel()
        start.asked.cancel()
        self._forget(start)

    def _forget(self, start: Start) -> None:
        if self._starts.get(start.subject) is start:
            del self._starts[start.subject]
