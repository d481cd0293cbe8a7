"""The sentences of a verdict. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.rules import UNLOADABLE

if TYPE_CHECKING:
    from dflashtui.model.unit import UnitStatus

NOTHING_TO_ASK = "it runs; whether it answers cannot be asked (no engine and no readiness url in the inventory)"
OVERTAKEN = "somebody else started it anew meanwhile; this run is over, the new one is not watched"
SILENT_END = "it ended by itself with status 0, as no server should"
FORGOTTEN = "it ended by itself, as no server should; systemd no longer knows with which status"
TERMINATED = "a signal told it to end (SIGTERM, SIGINT or SIGHUP), without a stop through systemd"
STOPPED_BY_SOMEBODY = "somebody stopped it: systemd was asked to"
SKIPPED = "nothing was started: systemd skipped it, a condition of the unit was not met"
START_REFUSED = "nothing was started: systemd refuses another start (start limit; systemctl reset-failed lifts it)"
STARTS_AGAIN = "systemd starts it again and again ({count} so far): {why}"
LOG_IS_GONE = "it is not running, and its log is gone"
REBOOTED = "the host was restarted meanwhile, and the run ended with it"
NO_LINK = "the link to the host is down; nobody knows how the start went on"
LINK_LOST = "the link is lost; the start goes on there, and is looked at again as soon as the host answers"
LINK_BACK = "the link is back"


def not_loadable(unit: UnitStatus) -> str:
    """Why systemd cannot start it: no such unit, masked, a bad setting."""
    why = UNLOADABLE.get(unit.load_state, unit.load_state.value)
    return f"it {why}: {unit.load_error}" if unit.load_error else f"it {why}"


def still_loading(phase_words: str | None, readiness_detail: str | None) -> str:
    """What a start was doing when time ran out."""
    doing = phase_words or readiness_detail or "not ready yet"
    asked = f" ({readiness_detail})" if phase_words and readiness_detail else ""
    return f"still loading when time ran out: {doing}{asked}"
