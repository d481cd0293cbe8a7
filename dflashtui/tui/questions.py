"""What a person is asked before a change, in lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.action import UnitAction, Verb
from dflashtui.ops.weight import Confirmation, fitting
from dflashtui.text import printable
from dflashtui.tui.details.parts import facts, heading
from dflashtui.tui.dialogs.confirm import Question
from dflashtui.tui.dialogs.menu import Choice
from dflashtui.tui.glyphs import unit_state
from dflashtui.tui.rows.units import gpus_of
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell
from dflashtui.tui.subject import unit_subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

LETTERS = {
    Verb.START: "s",
    Verb.STOP: "t",
    Verb.RESTART: "r",
    Verb.RELOAD: "l",
    Verb.RESET_FAILED: "f",
    Verb.ENABLE: "n",
    Verb.DISABLE: "i",
    Verb.MASK: "m",
    Verb.UNMASK: "u",
    Verb.KILL: "K",
}
HINTS = {
    Verb.START: "start it",
    Verb.STOP: "stop it and what needs it",
    Verb.RESTART: "stop it, then start it",
    Verb.RELOAD: "ask it to read its configuration again",
    Verb.RESET_FAILED: "forget that it failed, and its start limit",
    Verb.ENABLE: "start it at boot",
    Verb.DISABLE: "no longer start it at boot",
    Verb.MASK: "make it impossible to start",
    Verb.UNMASK: "make it possible to start again",
    Verb.KILL: "send a signal to its processes",
}
SIGNALS = {
    "t": ("SIGTERM", "end in order"),
    "i": ("SIGINT", "as ctrl+c"),
    "h": ("SIGHUP", "hang up; many read their configuration again"),
    "1": ("SIGUSR1", "the program's own meaning"),
    "2": ("SIGUSR2", "the program's own meaning"),
    "q": ("SIGQUIT", "end and dump core"),
    "K": ("SIGKILL", "end at once, nothing is saved"),
}
SHOWN_TARGETS = 12
DEPENDENTS = ("RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "WantedBy")
"""Properties of systemd that name what needs a unit; the last one only wishes for it."""


def verb_choices(subjects: Iterable[Subject], picture: Picture) -> tuple[Choice, ...]:
    """The verbs that fit at least one of the units, in the order of the menu."""
    units = [unit for subject in subjects if (unit := picture.unit(subject)) is not None]
    fits = {verb: sum(verb in fitting(unit) for unit in units) for verb in Verb}
    return tuple(
        Choice(
            LETTERS[verb],
            f"{verb.value}{' …' if verb is Verb.KILL else ''}",
            _hint(verb, count, len(units)),
            verb.value,
        )
        for verb, count in fits.items()
        if count
    )


def _hint(verb: Verb, count: int, whole: int) -> str:
    return HINTS[verb] if whole == 1 else f"{HINTS[verb]} · {count} of {whole}"


def signal_choices() -> tuple[Choice, ...]:
    """The signals that can be sent."""
    return tuple(Choice(key, name, words, name) for key, (name, words) in SIGNALS.items())


def targets_in_words(actions: Sequence[UnitAction]) -> Cell:
    """`sglang-a on gpu07`, `4 units on 2 hosts`."""
    if len(actions) == 1:
        return ((unit_label(actions[0].unit), "strong"), (f" on {printable(actions[0].host)}", ""))
    hosts = len({action.host for action in actions})
    return cell(f"{len(actions)} units on {hosts} host{'s' * (hosts > 1)}", "strong")


def question(asked: Confirmation, actions: Sequence[UnitAction], picture: Picture) -> Question:
    """The dialog for these actions."""
    verb = actions[0].verb.value
    reasons = tuple(cell(f"▲ {printable(reason)}", "warn") for reason in asked.reasons)
    return Question(
        title=((f"{verb} ", ""), *targets_in_words(actions)),
        lines=(
            *_commands(actions),
            *heading("now" if len(actions) == 1 else "units"),
            *_targets(actions, picture),
            *((EMPTY, *reasons) if reasons else ()),
        ),
        verb=verb,
        commands="\n".join(action.command for action in actions),
        word=asked.word,
    )


def light_question(action: UnitAction) -> Question:
    """The line in place."""
    title: Cell = ((printable(action.command), "strong"), (f"  on {printable(action.host)}", "dim"))
    return Question(title, (), action.verb.value, action.command)


def _commands(actions: Sequence[UnitAction]) -> tuple[Cell, ...]:
    """Each command once, with the hosts it runs on."""
    hosts: dict[str, list[str]] = {}
    for action in actions:
        hosts.setdefault(action.command, []).append(printable(action.host))
    lines = [((printable(command), "strong"), (f"   on {', '.join(names)}", "dim")) for command, names in hosts.items()]
    return (*lines[:SHOWN_TARGETS], *_more(len(lines)))


def _more(count: int) -> tuple[Cell, ...]:
    return (cell(f"… and {count - SHOWN_TARGETS} more", "dim"),) if count > SHOWN_TARGETS else ()


def _targets(actions: Sequence[UnitAction], picture: Picture) -> tuple[Cell, ...]:
    lines: list[Cell] = []
    for action in actions[:SHOWN_TARGETS]:
        host = picture.host(action.host)
        unit = picture.unit(unit_subject(action.host, action.unit))
        if host is None or unit is None:
            continue
        state = unit_state(unit, picture.now)
        held = gpus_of(host, unit.name)
        gpus = f"   GPUs {held}" if held else ""
        name = f"{printable(action.host)}  {unit_label(unit.name)}"
        lines.append(((f"{state.glyph} ", state.role), (name, ""), (f"  {state.word}", state.role), (gpus, "dim")))
    return (*lines, *_more(len(actions)))


def dependents(properties: Mapping[str, str]) -> tuple[Cell, ...]:
    """What depends on a unit, from `systemctl show`; empty when nothing does."""
    pairs = [(name, printable(properties[name])) for name in DEPENDENTS if properties.get(name)]
    return (*heading("needed by"), *facts(*((name, cell(value)) for name, value in pairs))) if pairs else ()
