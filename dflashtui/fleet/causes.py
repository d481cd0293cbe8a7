"""Why a run of a unit ended: its journal entries and the manager's result, diagnosed. Reads nothing itself."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from dflashtui.diagnosis.diagnosis import Diagnosis
from dflashtui.diagnosis.line import Line, from_entry
from dflashtui.diagnosis.verdict import UnitResult
from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.model.finding import Cause
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.unit import UnitStatus

OF_THE_NEXT_RUN = frozenset({"5eb03494b6584870a536b337290809b3", "9d1aaa27d60140bd96365438aad20286"})
"""`Scheduled restart job` and `Stopped` (sd-messages.h): said of a run that has ended, they would begin another one."""
EXITED = 1


class RunDiagnosis:
    """The diagnosis of one invocation; memory does not grow with its log."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._diagnosis = Diagnosis()

    def feed(self, entry: JournalEntry) -> None:
        """Its next entry."""
        if not entry.from_manager or entry.message_id not in OF_THE_NEXT_RUN:
            self._diagnosis.feed(from_entry(entry))

    def from_kernel(self, text: str, at: datetime) -> None:
        """A fault of this run's processes or GPUs that the kernel told."""
        self._diagnosis.feed(Line(text=text, origin="kernel", at=at))

    def suspected(self) -> Cause | None:
        """Why it may end soon."""
        return self._placed(self._diagnosis.suspected())

    def concluded(self, unit: UnitStatus | None) -> tuple[Cause | None, tuple[Cause, ...]]:
        """Why it ended, and what else failed in it; with the manager's result of `unit`. More may be fed later."""
        verdict = deepcopy(self._diagnosis).finish(_result(unit))
        return self._placed(verdict.cause), tuple(filter(None, map(self._placed, verdict.others)))

    def _placed(self, cause: Cause | None) -> Cause | None:
        return cause and cause.model_copy(update={"host": self._host})


def cause_of(host: str, unit: UnitStatus, items: Iterable[JournalItem]) -> Cause | None:
    """Why the unit failed, from its newest items: of its present invocation, else of the last one that tells."""
    runs: dict[str, RunDiagnosis] = {}
    for item in items:
        if isinstance(item, JournalEntry) and item.invocation_id:
            runs.setdefault(item.invocation_id, RunDiagnosis(host)).feed(item)
    for run_id, run in reversed(runs.items()):
        is_present = run_id == unit.invocation_id
        cause, _ = run.concluded(unit if is_present and not _is_running(unit) else None)
        if cause:
            words = {"unit": cause.unit or unit.name, "invocation_id": cause.invocation_id or run_id}
            return cause.model_copy(update=words)
    return None


def _is_running(unit: UnitStatus) -> bool:
    return unit.main_pid is not None


def _result(unit: UnitStatus | None) -> UnitResult | None:
    if unit is None or unit.result is None:
        return None
    exited = unit.exec_main_code == EXITED
    return UnitResult(
        result=unit.result,
        exit_status=unit.exec_main_status if exited else None,
        signal=unit.exec_main_status if unit.exec_main_code and not exited else None,
    )
