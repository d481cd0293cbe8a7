"""Differences, pushes and deployments in lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.model.deploy import Outcome, Step, StepState
from dflashtui.model.push import Outcome as PushOutcome
from dflashtui.ops.diff import LayerState
from dflashtui.ops.probe_report import span
from dflashtui.text import printable
from dflashtui.tui.dialogs.confirm import Question
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dflashtui.model.deploy import HostDeploy, StepNews
    from dflashtui.model.push import PushResult
    from dflashtui.ops.diff import DiffGroup, LayerDiff, UnitDiff
    from dflashtui.ops.weight import Confirmation

LINE_LIMIT = 2000
HOSTS_SHOWN = 3
STEP_WIDTH = 12
MOST_DIFF_LINES = 40
"""In a question; the difference itself is a key away."""
TONES = {"+": "ok", "-": "bad", "@": "accent"}
LAYER_MARKS = {
    LayerState.SAME: ("=", "ok"),
    LayerState.DIFFERS: ("≠", "warn"),
    LayerState.ABSENT: ("–", "dim"),
    LayerState.UNKNOWN: ("?", "warn"),
}
STEP_MARKS = {
    StepState.WAITING: ("·", "dim"),
    StepState.RUNNING: ("◐", "busy"),
    StepState.DONE: ("●", "ok"),
    StepState.SKIPPED: ("–", "dim"),
    StepState.FAILED: ("×", "bad"),
    StepState.LOADING: ("▲", "warn"),
    StepState.UNKNOWN: ("◌", "warn"),
}
OUTCOMES = {
    None: ("under way", "busy"),
    Outcome.READY: ("ready", "ok"),
    Outcome.STOPPED: ("stopped", "dim"),
    Outcome.LOADING: ("still loading", "warn"),
    Outcome.FAILED: ("failed", "bad"),
    Outcome.PUT_BACK: ("failed, and put back: the old text is ready again", "warn"),
    Outcome.UNKNOWN: ("unknown: nobody could see how it ended", "warn"),
    Outcome.SKIPPED: ("not begun", "dim"),
    Outcome.INTERRUPTED: ("interrupted", "warn"),
}
PUSH_STATES = {
    PushOutcome.DONE: StepState.DONE,
    PushOutcome.UNCHANGED: StepState.SKIPPED,
    PushOutcome.SKIPPED: StepState.SKIPPED,
    PushOutcome.UNKNOWN: StepState.UNKNOWN,
}
"""Every other outcome is a failure."""


def hosts_in_words(hosts: Sequence[str]) -> str:
    """`gpu-a, gpu-b, gpu-c + 9`."""
    more = f" + {len(hosts) - HOSTS_SHOWN}" if len(hosts) > HOSTS_SHOWN else ""
    return ", ".join(printable(host) for host in hosts[:HOSTS_SHOWN]) + more


def group_line(group: DiffGroup) -> Cell:
    """One group in the list: what differs, and on how many hosts."""
    mark, tone = LAYER_MARKS[worst_state(group.first)]
    return ((f"{mark} ", tone), (f"{len(group.hosts):>3} ", "dim"), (hosts_in_words(group.hosts), ""))


def worst_state(diff: UnitDiff) -> LayerState:
    """What its mark in the list tells."""
    states = {layer.state for layer in diff.layers}
    for state in (LayerState.UNKNOWN, LayerState.DIFFERS):
        if state in states:
            return state
    return LayerState.SAME if not diff.differs else LayerState.DIFFERS


def group_page(group: DiffGroup) -> tuple[Cell, ...]:
    """Everything about one group: a line for each layer, its difference below it."""
    lines: list[Cell] = [((", ".join(map(printable, group.hosts)), "title"),)]
    lines.append(((printable(group.first.path), "dim"),))
    lines.append(EMPTY)
    for layer in group.first.layers:
        lines += [layer_line(layer), *diff_lines(layer.lines), *([EMPTY] if layer.lines else [])]
    lines += [EMPTY] * bool(group.first.notes)
    lines += [((("▲ ", "warn")), (printable(note, limit=LINE_LIMIT), "")) for note in group.first.notes]
    return tuple(lines)


def layer_line(layer: LayerDiff) -> Cell:
    """`≠ on disk  sglang-a.service is not as rendered`."""
    mark, tone = LAYER_MARKS[layer.state]
    age = f"  {printable(layer.age)}" if layer.age else ""
    return (
        (f"{mark} ", tone),
        (f"{layer.layer.value:<9} ", "title"),
        (printable(layer.words, limit=LINE_LIMIT), ""),
        (age, "dim"),
    )


def diff_lines(lines: Iterable[str]) -> tuple[Cell, ...]:
    """A unified diff in colours."""
    return tuple(_diff_line(printable(line, limit=LINE_LIMIT)) for line in lines)


def _diff_line(line: str) -> Cell:
    if line.startswith(("---", "+++")):
        return cell(line, "dim")
    return cell(line, TONES.get(line[:1], ""))


def change_question(
    verb: str, unit: str, asked: Confirmation, groups: Sequence[DiffGroup], also: Sequence[str] = ()
) -> Question:
    """The dialog before a push, a roll-back or a deployment: what it does, where, and the difference."""
    hosts = asked.hosts
    reasons = tuple(cell(f"▲ {printable(reason, limit=LINE_LIMIT)}", "warn") for reason in asked.reasons)
    shown = tuple(line for group in groups for line in _in_question(group))
    more = (cell(f"… {len(shown) - MOST_DIFF_LINES} more lines: D shows them", "dim"),)
    return Question(
        title=((f"{verb} ", ""), (unit_label(unit), "strong"), (f" on {hosts_in_words(hosts)}", "")),
        lines=(
            *(((printable(command), "strong"),) for command in asked.commands),
            *(cell(printable(one), "dim") for one in also),
            *((EMPTY, *reasons) if reasons else ()),
            EMPTY,
            *shown[:MOST_DIFF_LINES],
            *(more if len(shown) > MOST_DIFF_LINES else ()),
        ),
        verb=verb,
        commands="\n".join(asked.commands),
        word=asked.word,
    )


def _in_question(group: DiffGroup) -> Iterator[Cell]:
    yield ((hosts_in_words(group.hosts), "title"),)
    for layer in group.first.layers:
        if layer.state is not LayerState.SAME:
            yield layer_line(layer)
            yield from diff_lines(layer.lines)


def deploy_lines(row: HostDeploy, *, is_chosen: bool, is_open: bool) -> tuple[Cell, ...]:
    """One host: what it was left with; its steps below where it is open."""
    words, tone = outcome_words(row)
    mark = STEP_MARKS[_state_of(row)]
    pointer = ("› " if is_chosen else "  ", "accent")
    head: Cell = (pointer, (f"{mark[0]} ", mark[1]), (printable(row.host), "strong"), (f"  {words}", tone))
    if not is_open:
        now = next((news for news in reversed(row.steps) if news.state is StepState.RUNNING), None)
        return ((*head, (f"  {_step_words(now)}", "dim")) if now else head,)
    return (head, *(line for news in row.steps for line in _step_lines(news)))


def outcome_words(row: HostDeploy) -> tuple[str, str]:
    """What a host was left with, and its tone; a push alone makes nothing ready."""
    if row.outcome is None or {news.step for news in row.steps} - {Step.PUSH, Step.PUT_BACK}:
        return OUTCOMES[row.outcome]
    step, state = row.steps[-1].step, row.steps[-1].state
    done = "put back" if step is Step.PUT_BACK else "pushed"
    return {StepState.DONE: done, StepState.SKIPPED: "nothing to do"}.get(state, state.value), STEP_MARKS[state][1]


def _state_of(row: HostDeploy) -> StepState:
    return {
        None: StepState.RUNNING,
        Outcome.READY: StepState.DONE,
        Outcome.FAILED: StepState.FAILED,
        Outcome.SKIPPED: StepState.SKIPPED,
        Outcome.UNKNOWN: StepState.UNKNOWN,
    }.get(row.outcome, StepState.LOADING)


def _step_words(news: StepNews) -> str:
    return f"{news.step.value}: {printable(masked(news.words))}" if news.words else news.step.value


def _step_lines(news: StepNews) -> Iterator[Cell]:
    mark, tone = STEP_MARKS[news.state]
    took = f"  {span(news.seconds)}" if news.seconds is not None else ""
    words = printable(masked(news.words), limit=LINE_LIMIT) or news.state.value
    yield (
        (f"    {mark} ", tone),
        (f"{news.step.value:<{STEP_WIDTH}} ", "title" if news.state is not StepState.WAITING else "dim"),
        (words, tone if news.state is StepState.FAILED else ""),
        (took, "dim"),
    )
    for line in news.lines:
        yield ((" " * (STEP_WIDTH + 7), ""), (printable(masked(line), limit=LINE_LIMIT), "dim"))


def push_words(result: PushResult) -> str:
    """What came of a push, without what stands beside it."""
    return result.message.removeprefix(f"{result.host}: {result.unit}: ")


def failure_lines(failures: Mapping[str, str]) -> tuple[Cell, ...]:
    """Hosts that could not be looked at, and why."""
    return tuple(
        (("× ", "bad"), (printable(host), "strong"), (f"  {printable(words, limit=LINE_LIMIT)}", ""))
        for host, words in failures.items()
    )
