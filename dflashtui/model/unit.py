"""systemd units as their manager tells them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from dflashtui.model.base import Value
from dflashtui.model.load import Load
from dflashtui.model.probe import Phase
from dflashtui.model.service import ServiceState


class Open(StrEnum):
    """Words of systemd; one that this program does not know yet becomes `UNKNOWN`."""

    @classmethod
    def _missing_(cls, _value: object) -> Self:
        return cls("unknown")


class LoadState(Open):
    """`LoadState` (org.freedesktop.systemd1(5))."""

    STUB = "stub"
    LOADED = "loaded"
    NOT_FOUND = "not-found"
    BAD_SETTING = "bad-setting"
    ERROR = "error"
    MERGED = "merged"
    MASKED = "masked"
    UNKNOWN = "unknown"


class ActiveState(Open):
    """`ActiveState` (org.freedesktop.systemd1(5))."""

    ACTIVE = "active"
    RELOADING = "reloading"
    INACTIVE = "inactive"
    FAILED = "failed"
    ACTIVATING = "activating"
    DEACTIVATING = "deactivating"
    MAINTENANCE = "maintenance"
    REFRESHING = "refreshing"
    UNKNOWN = "unknown"


class Readiness(StrEnum):
    """Whether the service behind a unit answers; `NONE`: it is not a server."""

    READY = "ready"
    LOADING = "loading"
    SICK = "sick"
    FAILED = "failed"
    NONE = "none"
    UNKNOWN = "unknown"


class UnitStatus(Value):
    """One unit at one moment. Absent properties are `None`: units that were never started have few."""

    name: str
    """Full name with suffix, as the manager knows it (the target of an alias)."""
    aliases: tuple[str, ...] = ()
    """Other names of the same unit (`Alias=`, symbolic links)."""
    load_state: LoadState = LoadState.UNKNOWN
    load_error: str | None = None
    """The manager's words when the unit file cannot be used."""
    active_state: ActiveState = ActiveState.UNKNOWN
    sub_state: str = "unknown"
    """Open vocabulary, depends on the unit type."""
    description: str = ""
    result: str | None = None
    """`Result` of a service: success, exit-code, signal, oom-kill, …"""
    status_text: str | None = None
    """`StatusText`: what the service says about itself (`sd_notify(3)`, `STATUS=`)."""
    type: str | None = None
    """`Type` of a service: simple, exec, notify, oneshot, …"""
    restart: str | None = None
    """`Restart` of a service: no, on-failure, always, …"""
    unit_file_state: str | None = None
    fragment_path: str | None = None
    drop_in_paths: tuple[str, ...] = ()
    main_pid: int | None = None
    invocation_id: str | None = None
    """32 hex digits: one run of the unit."""
    n_restarts: int | None = None
    exec_main_code: int | None = None
    """0 none, 1 exited, 2 killed, 3 dumped."""
    exec_main_status: int | None = None
    """Exit status, or the signal's number when killed."""
    since: datetime | None = None
    """When the unit entered its active state (`StateChangeTimestamp`)."""
    started_at: datetime | None = None
    """`ExecMainStartTimestamp`."""
    exited_at: datetime | None = None
    """`ExecMainExitTimestamp`: when the last main process ended."""
    can_start: bool | None = None
    can_stop: bool | None = None
    can_reload: bool | None = None
    transient: bool | None = None
    """Made by a program (`systemd-run`), without a unit file."""
    needs_reload: bool | None = None
    """`NeedDaemonReload`: the file on disk is not what the manager has loaded."""
    next_restart_at: datetime | None = None
    """When an automatic restart is due (sub_state `auto-restart`)."""
    memory_current_bytes: int | None = None
    memory_max_bytes: int | None = None
    cpu_usage_nsec: int | None = None
    cpu_percent: float | None = None
    """Of one core, over the last sampling interval."""
    tasks_current: int | None = None
    control_group: str | None = None
    readiness: Readiness = Readiness.UNKNOWN
    readiness_detail: str | None = None
    """The evidence, in words: `GET /health 503 (0.1 s ago)`."""
    readiness_at: datetime | None = None
    service: ServiceState | None = None
    """What kind of readiness, as far as it is known; `None`: not a service, or not judged."""
    phase: Phase | None = None
    """While it loads: how far it has come, by its log."""
    phase_since: datetime | None = None
    load: Load | None = None
    """How busy and how fast it is; `None`: not known (see `load_problem`)."""
    load_problem: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether its last run failed, as the manager sees it."""
        return self.active_state is ActiveState.FAILED or self.is_looping

    @property
    def is_looping(self) -> bool:
        """Whether systemd starts it again and again."""
        return self.sub_state in {"auto-restart", "auto-restart-queued"} or (
            (self.n_restarts or 0) > 1 and self.active_state is ActiveState.ACTIVATING
        )
