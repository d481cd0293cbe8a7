"""Actions over the bus, and the results of their jobs."""

from __future__ import annotations

import asyncio
import signal as signals
from typing import TYPE_CHECKING

from dflashtui.errors import (
    ActionDenied,
    ActionRefused,
    CommandFailed,
    ManagerRefused,
    SourceUnavailable,
    TransportError,
)
from dflashtui.model.action import UnitAction, Verb
from dflashtui.source.systemd_bus import SYSTEMD
from dflashtui.source.systemd_command import NO_INSTALL_SECTION, denial, outcome_unknown, refusal

if TYPE_CHECKING:
    from dflashtui.source.systemd_bus import Bus, Signal

JOB_METHODS = {
    Verb.START: "StartUnit",
    Verb.STOP: "StopUnit",
    Verb.RESTART: "RestartUnit",
    Verb.RELOAD: "ReloadUnit",
}
FILE_METHODS = {
    Verb.ENABLE: ("EnableUnitFiles", "asbb", (False, False)),
    Verb.DISABLE: ("DisableUnitFiles", "asb", (False,)),
    Verb.MASK: ("MaskUnitFiles", "asbb", (False, False)),
    Verb.UNMASK: ("UnmaskUnitFiles", "asb", (False,)),
}
"""Each with its arguments after the names: runtime, force."""
DENIALS = frozenset(
    {
        "org.freedesktop.DBus.Error.AccessDenied",
        "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
        "org.freedesktop.DBus.Error.AuthFailed",
        "org.freedesktop.PolicyKit1.Error.NotAuthorized",
    }
)
NO_SUCH_UNIT = f"{SYSTEMD}.NoSuchUnit"
NOT_INSTALLED_STATUS = 5
"""systemctl's exit status for a unit that is not loaded or does not exist."""


class Jobs:
    """Job results by object path, those that arrive before the reply included."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._results: dict[str, str] = {}
        self._is_doubtful = False
        self._news = asyncio.Event()

    def on_signal(self, signal: Signal) -> None:
        """Keep the results; a manager that came anew may have ended jobs unheard."""
        match signal.member, signal.body:
            case "JobRemoved", [_, str(path), _, str(result)]:
                self._results[path] = result
            case ("OwnerChanged", _) | ("Reloading", [False]):
                self._is_doubtful = True
            case _:
                return
        self._news.set()

    def on_lost(self) -> None:
        """The bus is gone."""
        self._news.set()

    async def result(self, path: str) -> str:
        """Wait for a job, however long. Raises `TransportLost`, `SourceUnavailable`, `ManagerRefused` (job unknown)."""
        while path not in self._results:
            self._bus.require()
            if self._is_doubtful and self._bus.has_manager:
                self._is_doubtful = False
                await self._bus.subscribe()
                await self._bus.get(path, f"{SYSTEMD}.Job", "State")
                continue
            self._news.clear()
            await self._news.wait()
        return self._results[path]


async def perform(bus: Bus, action: UnitAction) -> str:
    """The result of an action. Raises `ActionDenied`, `ActionRefused`, `CommandFailed`, `OutcomeUnknown`.

    A job of a Type=simple service is `done` before its program may fail: this is the job's result only.
    """
    jobs = Jobs(bus)
    bus.require()
    with bus.listening(jobs):
        try:
            path = await _ask(bus, action)
        except ManagerRefused as refused:
            raise _refusal(bus.host, action, refused) from refused
        except (TransportError, SourceUnavailable) as lost:
            raise outcome_unknown(action, lost.reason) from lost
        return await _job_result(jobs, action, path) if path else "done"


async def _job_result(jobs: Jobs, action: UnitAction, path: str) -> str:
    try:
        return await jobs.result(path)
    except ManagerRefused as forgotten:
        raise outcome_unknown(action, "its job ended while the manager was reloading") from forgotten
    except (TransportError, SourceUnavailable) as lost:
        raise outcome_unknown(action, lost.reason) from lost


async def _ask(bus: Bus, action: UnitAction) -> str | None:
    """The job's path; `None` for what needs no job."""
    await bus.subscribe()
    if action.verb in JOB_METHODS:
        return str((await bus.call(JOB_METHODS[action.verb], "ss", action.unit, "replace"))[0])
    if action.verb in FILE_METHODS:
        await _change_files(bus, action)
    elif action.verb is Verb.KILL:
        await bus.call("KillUnit", "ssi", action.unit, "all", signal_number(action))
    else:
        await bus.call("ResetFailedUnit", "s", action.unit)
    return None


async def _change_files(bus: Bus, action: UnitAction) -> None:
    method, signature, flags = FILE_METHODS[action.verb]
    answer = await bus.call(method, signature, [action.unit], *flags)
    if action.verb is Verb.ENABLE and answer[0] is False:
        raise refusal(bus.host, action, NO_INSTALL_SECTION)
    await bus.call("Reload")


def signal_number(action: UnitAction) -> int:
    """The number of the action's signal, SIGTERM by default. Raises `ActionRefused`."""
    try:
        return signals.Signals[action.signal or "SIGTERM"].value
    except KeyError:
        raise ActionRefused(f"{action.signal}: no such signal; names are like SIGTERM") from None


def _refusal(host: str, action: UnitAction, refused: ManagerRefused) -> ActionDenied | CommandFailed:
    if refused.name in DENIALS:
        return ActionDenied(denial(host, action))
    status = NOT_INSTALLED_STATUS if refused.name == NO_SUCH_UNIT else 1
    return refusal(host, action, refused.words, exit_status=status)
