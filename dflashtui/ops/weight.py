"""Which actions fit a unit, how heavy they are, and what a person confirms. Pure (console conventions, part 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.model.base import Value
from dflashtui.model.unit import ActiveState, LoadState, Readiness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

LIGHT_VERBS = frozenset({Verb.START, Verb.RELOAD, Verb.RESET_FAILED})
TAKES_DOWN = frozenset({Verb.STOP, Verb.KILL})
UNTRAPPABLE = frozenset({"SIGKILL", "KILL", "9"})
RUNNING = frozenset({ActiveState.ACTIVE, ActiveState.RELOADING, ActiveState.REFRESHING, ActiveState.ACTIVATING})
UNSTARTABLE = frozenset({LoadState.NOT_FOUND, LoadState.BAD_SETTING, LoadState.ERROR, LoadState.MASKED})
ENABLED = frozenset({"enabled", "enabled-runtime"})
MASKABLE = frozenset({"enabled", "enabled-runtime", "disabled", "static", "indirect", "linked"})


class Confirmation(Value):
    """What a person is asked before actions are sent."""

    weight: Weight
    commands: tuple[str, ...]
    """The exact command of each action, in order; the same line may stand for several hosts."""
    units: tuple[str, ...]
    hosts: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    """Why it is heavy, in words."""
    word: str | None = None
    """What must be typed; `None`: a key is enough."""


def confirmation(actions: Sequence[UnitAction], snapshots: Mapping[str, HostSnapshot]) -> Confirmation:
    """What to ask for these actions. `snapshots`: every host of the fleet, by name, for its copies of the units."""
    reasons = tuple(_reasons(actions, snapshots))
    hosts = tuple(dict.fromkeys(action.host for action in actions))
    return Confirmation(
        weight=_weight(actions, reasons),
        commands=tuple(action.command for action in actions),
        units=tuple(dict.fromkeys(action.unit for action in actions)),
        hosts=hosts,
        reasons=reasons,
        word=_word(hosts, snapshots) if reasons else None,
    )


def weight(actions: Sequence[UnitAction], snapshots: Mapping[str, HostSnapshot]) -> Weight:
    """Heavy: several hosts, a protected group, SIGKILL, the last ready copy. Light: a start of one unit, and such."""
    return _weight(actions, tuple(_reasons(actions, snapshots)))


def change_confirmation(
    command: str, unit: str, hosts: Sequence[str], snapshots: Mapping[str, HostSnapshot], doubts: Sequence[str] = ()
) -> Confirmation:
    """What to ask for a push and its like. `doubts`: what only a person can decide; they make it heavy."""
    many = (f"{len(hosts)} hosts at once",) if len(hosts) > 1 else ()
    guarded = tuple(f"group {group} is protected" for group in dict.fromkeys(_protected_groups(hosts, snapshots)))
    reasons = (*many, *guarded, *doubts)
    return Confirmation(
        weight=Weight.HEAVY if reasons else Weight.NORMAL,
        commands=(command,),
        units=(unit,),
        hosts=tuple(hosts),
        reasons=reasons,
        word=_word(hosts, snapshots) if reasons else None,
    )


def _weight(actions: Sequence[UnitAction], reasons: Sequence[str]) -> Weight:
    if reasons:
        return Weight.HEAVY
    is_light = len(actions) == 1 and actions[0].verb in LIGHT_VERBS
    return Weight.LIGHT if is_light else Weight.NORMAL


def _reasons(actions: Sequence[UnitAction], snapshots: Mapping[str, HostSnapshot]) -> Iterable[str]:
    hosts = dict.fromkeys(action.host for action in actions)
    if len(hosts) > 1:
        yield f"{len(hosts)} hosts at once"
    for group in dict.fromkeys(_protected_groups(hosts, snapshots)):
        yield f"group {group} is protected"
    if any(action.verb is Verb.KILL and action.signal in UNTRAPPABLE for action in actions):
        yield "SIGKILL gives a service no chance to end in order"
    for unit in dict.fromkeys(action.unit for action in actions if action.verb in TAKES_DOWN):
        if _takes_last_ready(unit, actions, snapshots):
            yield f"{unit}: no other ready copy is left"


def _protected_groups(hosts: Iterable[str], snapshots: Mapping[str, HostSnapshot]) -> Iterable[str]:
    for host in hosts:
        snapshot = snapshots.get(host)
        if snapshot and snapshot.protected:
            yield snapshot.group or host


def _takes_last_ready(unit: str, actions: Iterable[UnitAction], snapshots: Mapping[str, HostSnapshot]) -> bool:
    ready = {host for host, snapshot in snapshots.items() if _is_ready(snapshot.unit(unit))}
    taken = {action.host for action in actions if action.verb in TAKES_DOWN and action.unit == unit}
    return bool(ready) and ready <= taken


def _is_ready(unit: UnitStatus | None) -> bool:
    return unit is not None and unit.readiness is Readiness.READY


def _word(hosts: Sequence[str], snapshots: Mapping[str, HostSnapshot]) -> str:
    """The protected group's name, else the number of hosts, else the one host's name."""
    for group in _protected_groups(hosts, snapshots):
        return group
    return str(len(hosts)) if len(hosts) > 1 else hosts[0]


def fitting(unit: UnitStatus) -> tuple[Verb, ...]:
    """The verbs that can do something to the unit as it is, in menu order."""
    return tuple(verb for verb in Verb if _fits(verb, unit))


def _fits(verb: Verb, unit: UnitStatus) -> bool:
    running = unit.active_state in RUNNING
    failed = unit.active_state is ActiveState.FAILED
    startable = unit.load_state not in UNSTARTABLE and unit.can_start is not False
    match verb:
        case Verb.START | Verb.RESTART:
            return startable and (failed or running == (verb is Verb.RESTART))
        case Verb.STOP:
            return running and unit.can_stop is not False
        case Verb.RELOAD:
            return unit.active_state is ActiveState.ACTIVE and unit.can_reload is True
        case Verb.RESET_FAILED:
            return failed or unit.is_looping
        case Verb.KILL:
            return bool(unit.main_pid) or unit.active_state is ActiveState.DEACTIVATING
        case _:
            return _fits_file(verb, unit)


def _fits_file(verb: Verb, unit: UnitStatus) -> bool:
    """Verbs on the unit file; `static` has nothing to enable, `generated` and `transient` are no files of a person."""
    state = unit.unit_file_state
    match verb:
        case Verb.ENABLE:
            return state == "disabled"
        case Verb.DISABLE:
            return state in ENABLED
        case Verb.MASK:
            return state in MASKABLE
        case _:
            return unit.load_state is LoadState.MASKED
