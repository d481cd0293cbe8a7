"""Unit files on hosts: how they stand, what is kept of earlier pushes, what came of one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value


class HostFile(Value):
    """A file of a host at one moment."""

    path: str
    kind: str
    """`file`, `absent`, `link`, `folder`, `fifo`, `other`."""
    sha256: str | None = None
    text: str | None = None
    """Bytes that are not UTF-8 stand as backslash, x and two digits. May hold secrets."""
    mode: int | None = None
    owner: str | None = None
    """`root:root`."""
    has_acl: bool = False
    """It has an access list beside its mode."""
    names: int = 1
    """How many hard links lead to it."""
    changed_at: datetime | None = None
    """The later of its content's and its inode's time, by the host's clock."""
    link: str | None = None
    """Where a symbolic link leads."""
    trouble: str | None = None
    """Why it cannot be read."""


class DropIn(Value):
    """A file that adds to a unit's own."""

    file: HostFile
    is_loaded: bool
    """The manager has read it, in whatever form it had then."""
    is_own: bool
    """For this unit; false: for all units of its kind (`service.d`)."""


class Elsewhere(Value):
    """The same unit name in another folder of the manager."""

    path: str
    wins: bool
    """The manager prefers it to the one that a push writes."""
    is_masked: bool


class RecordFile(Value):
    """One file of a change: what it replaced, and with what. `None`: no file."""

    name: str
    """The unit, or the path within the package."""
    path: str
    before: str | None
    """sha256."""
    after: str | None


class PushRecord(Value):
    """What a host keeps of one change."""

    number: int
    """From 1, for each unit."""
    action: str
    """`push`, `rollback`, `restore`; `undo`: by the host's own timer."""
    state: str
    """`done`, `pending` (cut off, not looked after yet), `taken-back`, `not-done`."""
    at: datetime
    finished_at: datetime | None = None
    who: str
    change: str | None = None
    """The same for everything that was changed together."""
    undoes: int | None = None
    origin: str | None = None
    note: str | None = None
    version: str | None = None
    """Of the package, for an overlay."""
    files: tuple[RecordFile, ...] = ()

    @property
    def is_effective(self) -> bool:
        """Whether it left something changed."""
        return self.state == "done"

    @property
    def is_undo(self) -> bool:
        """Whether it took back an earlier one."""
        return self.action in {"rollback", "undo"}


class UnitLook(Value):
    """How a unit's file stands on a host: on disk, loaded, running, and what is kept."""

    host: str
    unit: str
    at: datetime
    is_root: bool
    manager: str
    target: HostFile
    folder: str
    is_folder_writable: bool
    is_folder_read_only: bool
    elsewhere: tuple[Elsewhere, ...] = ()
    drop_ins: tuple[DropIn, ...] = ()
    load_state: str | None = None
    load_error: str | None = None
    fragment_path: str | None = None
    """The file that the manager has loaded."""
    needs_reload: bool | None = None
    active_state: str | None = None
    unit_file_state: str | None = None
    manager_trouble: str | None = None
    """Why the manager gave no answer."""
    can_verify: bool = True
    records: tuple[PushRecord, ...] | None = None
    """Oldest first; `None`: they may not be read."""
    records_trouble: str | None = None
    holder: str | None = None
    """Who pushes on this host now."""
    started_at: datetime | None = None
    """When the run began that goes on; `None`: none does."""
    reloaded_at: datetime | None = None
    """When the manager last read its files; asked only where it matters."""
    loaded_sha256: str | None = None
    """The text that stood there then, as far as our own pushes know."""
    running_sha256: str | None = None
    """The text that stood there when the run began, as far as our own pushes know."""
    texts: Mapping[str, str] = {}
    """Those of the two that are not the text on disk, by sha256."""

    @property
    def last(self) -> PushRecord | None:
        """The newest change that left something changed."""
        return next((record for record in reversed(self.records or ()) if record.is_effective), None)

    @property
    def last_of_file(self) -> PushRecord | None:
        """The same, but one that changed the unit's own file, not its overlays alone."""
        return next((record for record in reversed(self.records or ()) if record.is_effective and record.files), None)

    @property
    def unfinished(self) -> PushRecord | None:
        """A push that was cut off, and whose files nobody has looked after yet."""
        newest = self.records[-1] if self.records else None
        return newest if newest and newest.state == "pending" and self.holder is None else None


class Verification(Value):
    """What `systemd-analyze verify` says of a text."""

    exit_status: int
    lines: tuple[str, ...] = ()
    """Each is a finding, also where the exit status is 0."""


class Outcome(StrEnum):
    """What came of a push."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """Nothing to do: nothing was written, nothing reloaded."""
    FAILED = "failed"
    """The old state is there, whole, unless the message says otherwise."""
    REFUSED = "refused"
    """Nothing was changed."""
    UNKNOWN = "unknown"
    """The link was lost in the middle: look at the host before the next step."""
    SKIPPED = "skipped"
    """Not begun: stopped, or an earlier host failed."""


class PushResult(Value):
    """What came of one push, rollback or overlay change on one host."""

    host: str
    unit: str
    action: str = "push"
    outcome: Outcome
    message: str
    """What, why and what to do, in a sentence."""
    change: str | None = None
    number: int | None = None
    """Of the record on the host."""
    before_sha256: str | None = None
    after_sha256: str | None = None
    is_dry_run: bool = False
    notes: tuple[str, ...] = ()
    """What a person should know besides."""
    verification: tuple[str, ...] = ()
    reload_also: tuple[str, ...] = ()
    """Other units whose pending changes the reload takes in."""
    started_at: datetime
    duration_seconds: float

    @property
    def ok(self) -> bool | None:
        """`None`: nobody knows."""
        if self.outcome is Outcome.UNKNOWN:
            return None
        return self.outcome in {Outcome.DONE, Outcome.UNCHANGED}
