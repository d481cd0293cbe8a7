"""The last failed runs of every unit, and its unit file at the last good start: kept in the state folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from dflashtui.mask import masked, masked_in
from dflashtui.model.failed_run import FailedRun, UnitText
from dflashtui.ops.state_files import replace, unit_path

if TYPE_CHECKING:
    from pathlib import Path

RUNS_KEPT = 5
FILE_LIMIT_BYTES = 4 * 2**20
TEXT_LIMIT = 64 * 1024
LINE_LIMIT = 2000
OTHERS_KEPT = 5
RUNS = TypeAdapter(tuple[FailedRun, ...])


class FailedRuns:
    """In `failures/` and `units/` of a folder; in memory alone where that cannot be used."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: the state folder; `None`: in memory alone (the demo)."""
        self.problem: str | None = None
        """Why the folder cannot be used, in words; what is kept then goes with this program."""
        self._folder = folder
        self._runs: dict[tuple[str, str], tuple[FailedRun, ...]] = {}
        self._texts: dict[tuple[str, str], UnitText] = {}

    def of(self, host: str, unit: str) -> tuple[FailedRun, ...]:
        """The last failed runs of a unit, newest first. A file that cannot be read counts as none."""
        if (host, unit) not in self._runs:
            self._runs[host, unit] = self._read_runs(host, unit)
        return self._runs[host, unit]

    def keep(self, run: FailedRun) -> FailedRun:
        """Remember a run, without its secrets, in place of what was known of it; gives what is kept."""
        kept = without_secrets(run)
        others = (one for one in self._known(run.host, run.unit) if not _is_same(one, kept))
        runs = (kept, *others)[:RUNS_KEPT]
        self._runs[run.host, run.unit] = runs
        self._write("failures", run.host, run.unit, RUNS.dump_json(runs))
        return kept

    def _known(self, host: str, unit: str) -> tuple[FailedRun, ...]:
        """Newest first; also what another console has kept since this one read the file."""
        own, kept = self.of(host, unit), self._read_runs(host, unit)
        others = [one for one in kept if one not in own and not any(_is_same(one, mine) for mine in own)]
        return tuple(sorted((*own, *others), key=_ended_at, reverse=True)) if others else own

    def good_text(self, host: str, unit: str) -> UnitText | None:
        """The unit file at the last good start that this program saw."""
        return self._texts.get((host, unit)) or self._read_text(host, unit)

    def keep_text(self, host: str, unit: str, text: UnitText) -> None:
        """Remember the unit file of a good start."""
        kept = UnitText(at=text.at, text=masked(text.text[:TEXT_LIMIT]))
        self._texts[host, unit] = kept
        self._write("units", host, unit, kept.model_dump_json().encode())

    def _read_runs(self, host: str, unit: str) -> tuple[FailedRun, ...]:
        data = self._read("failures", host, unit)
        try:
            return RUNS.validate_json(data)[:RUNS_KEPT] if data else ()
        except ValidationError:
            return ()

    def _read_text(self, host: str, unit: str) -> UnitText | None:
        data = self._read("units", host, unit)
        try:
            return UnitText.model_validate_json(data) if data else None
        except ValidationError:
            return None

    def _read(self, kind: str, host: str, unit: str) -> bytes | None:
        if self._folder is None:
            return None
        path = unit_path(self._folder / kind, host, unit)
        try:
            with path.open("rb") as file:
                return file.read(FILE_LIMIT_BYTES)
        except FileNotFoundError:
            return None
        except OSError as trouble:
            self.problem = f"{path}: cannot be read: {trouble.strerror or trouble}"
            return None

    def _write(self, kind: str, host: str, unit: str, data: bytes) -> None:
        if self._folder is None:
            return
        try:
            replace(unit_path(self._folder / kind, host, unit), data)
        except OSError as trouble:
            where = self._folder / kind
            self.problem = f"{where}: failed runs cannot be kept: {trouble.strerror or trouble}"


def _is_same(one: FailedRun, other: FailedRun) -> bool:
    return one.invocation_id is not None and one.invocation_id == other.invocation_id


def _ended_at(run: FailedRun) -> float:
    return run.ended_at.timestamp() if run.ended_at else 0.0


def without_secrets(run: FailedRun) -> FailedRun:
    """The same run with every text masked, and bounded in size."""
    bounded = run.model_copy(update={"others": run.others[:OTHERS_KEPT]})
    return FailedRun.model_validate(masked_in(bounded.model_dump(), limit=LINE_LIMIT))
