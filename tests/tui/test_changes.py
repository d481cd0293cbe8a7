"""Differences, pushes and deployments on the screen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Unit
from dflashtui.model.deploy import HostDeploy, Outcome, Step, StepNews, StepState
from dflashtui.model.push import Outcome as PushOutcome
from dflashtui.model.push import PushResult
from dflashtui.ops.diff import Layer, LayerDiff, LayerState, UnitDiff, grouped
from dflashtui.ops.weight import change_confirmation
from dflashtui.tui.changes import words
from dflashtui.tui.changes.answer import Answer
from dflashtui.tui.changes.diff_screen import DiffScreen
from dflashtui.tui.changes.editing import editor_argv, file_to_edit, read_again
from dflashtui.tui.changes.result_screen import ResultScreen
from dflashtui.tui.changes.rows import finished, under_way
from dflashtui.tui.styled import plain
from tests.tui.fake import Console, console
from tests.tui.stage import HOSTILE, LIVE, config_of

if TYPE_CHECKING:
    from pathlib import Path

UNIT = "sglang-a.service"
CHANGED = LayerDiff(
    layer=Layer.DISK,
    state=LayerState.DIFFERS,
    words="is not as rendered",
    lines=("--- old", "+++ new", "@@ -1 +1 @@", "-MEM=0.7", "+MEM=0.8"),
)
SAME = LayerDiff(layer=Layer.LOADED, state=LayerState.SAME, words="as on disk")


def diff(host: str, *layers: LayerDiff) -> UnitDiff:
    return UnitDiff(host=host, unit=UNIT, path=f"/etc/systemd/system/{UNIT}", sha256="0", layers=layers)


def row(host: str, outcome: Outcome | None, *news: StepNews) -> HostDeploy:
    return HostDeploy(host=host, unit=UNIT, steps=news, outcome=outcome)


def result(outcome: PushOutcome, message: str) -> PushResult:
    return PushResult(
        host="gpu-a", unit=UNIT, outcome=outcome, message=message, started_at=datetime.now(UTC), duration_seconds=0.2
    )


GROUPS = grouped((diff("gpu-a", CHANGED, SAME), diff("gpu-b", SAME), diff("gpu-c", CHANGED, SAME)))


def shown(c: Console, sheet: DiffScreen | ResultScreen) -> list[object]:
    """What the sheet answers, once it does."""
    answers: list[object] = []
    c.app.push_screen(sheet, answers.append)
    return answers


def text_of(lines: object) -> str:
    return "\n".join(map(plain, lines))  # type: ignore[call-overload]


def test_hosts_with_the_same_difference_are_one_line() -> None:
    assert [plain(words.group_line(group)) for group in GROUPS] == ["≠   2 gpu-a, gpu-c", "=   1 gpu-b"]
    page = words.group_page(GROUPS[0])
    tones = {plain(line): line[0][1] for line in page if line}
    assert (tones["+MEM=0.8"], tones["-MEM=0.7"], tones["@@ -1 +1 @@"]) == ("ok", "bad", "accent")
    assert "= loaded    as on disk" in text_of(page)


def test_a_question_has_the_command_the_reasons_and_the_difference() -> None:
    asked = change_confirmation(f"dflashtui push {UNIT}", UNIT, ["gpu-a", "gpu-c"], {}, ["gpu-c: changed there"])
    question = words.change_question("push", UNIT, asked, GROUPS)
    text = text_of(question.lines)
    assert f"dflashtui push {UNIT}" in text
    assert "▲ 2 hosts at once" in text
    assert "▲ gpu-c: changed there" in text
    assert "+MEM=0.8" in text
    assert question.word == "2"


def test_a_long_difference_is_cut_in_a_question() -> None:
    long = CHANGED.model_copy(update={"lines": tuple(f"+{number}" for number in range(500))})
    asked = change_confirmation("dflashtui push", UNIT, ["gpu-a"], {})
    lines = words.change_question("push", UNIT, asked, grouped((diff("gpu-a", long),))).lines
    assert len(lines) < 60
    assert "more lines" in plain(lines[-1])


def test_whatever_hosts_say_is_inert() -> None:
    layer = CHANGED.model_copy(update={"words": HOSTILE, "lines": (f"+{HOSTILE}",)})
    group = grouped((diff(HOSTILE, layer),))[0]
    news = StepNews(step=Step.PUSH, state=StepState.FAILED, words=HOSTILE, lines=(HOSTILE,))
    shown = text_of((*words.group_page(group), words.group_line(group), *words.failure_lines({HOSTILE: HOSTILE})))
    shown += text_of(words.deploy_lines(row(HOSTILE, Outcome.FAILED, news), is_chosen=True, is_open=True))
    assert not set(shown) & {"\x1b", "\x9b", "\x00", "\u202e"}


@pytest.mark.parametrize(
    ("outcome", "shown", "tone"),
    [
        (PushOutcome.DONE, "pushed", "ok"),
        (PushOutcome.UNCHANGED, "nothing to do", "dim"),
        (PushOutcome.REFUSED, "failed", "bad"),
        (PushOutcome.UNKNOWN, "unknown", "warn"),
    ],
)
def test_a_push_alone_makes_nothing_ready(outcome: PushOutcome, shown: str, tone: str) -> None:
    done = finished(result(outcome, f"gpu-a: {UNIT}: as it went"), Step.PUSH)
    assert words.outcome_words(done) == (shown, tone)
    assert "as it went" in text_of(words.deploy_lines(done, is_chosen=False, is_open=True))


def test_a_closed_row_tells_what_goes_on() -> None:
    (line,) = words.deploy_lines(under_way("gpu-a", UNIT, Step.PUSH, "verify"), is_chosen=False, is_open=False)
    assert plain(line) == "  ◐ gpu-a  under way  push: verify"


async def test_the_difference_is_waited_for_and_then_chosen_by_group() -> None:
    async with console(LIVE) as c:
        sheet = DiffScreen(UNIT, "gpu-b", may_change=True)
        answers = shown(c, sheet)
        await c.sees("asking the hosts")
        await c.press("P")
        assert c.app.screen is sheet
        sheet.fill(GROUPS, {"gpu-d": "no answer"})
        await c.sees("= loaded    as on disk", "gpu-d  no answer")
        await c.press("k")
        await c.sees("+MEM=0.8")
        await c.press("A")
        await c.until(lambda: answers == [Answer("deploy", ("gpu-a", "gpu-c"))])


async def test_where_nothing_may_be_changed_the_difference_only_shows() -> None:
    async with console(LIVE) as c:
        sheet = DiffScreen(UNIT, "gpu-a", may_change=False)
        answers = shown(c, sheet)
        sheet.fill(GROUPS, {})
        await c.sees("+MEM=0.8", "e edit · c copy · escape closes")
        await c.press("P", "A")
        assert c.app.screen is sheet
        await c.press("escape")
        await c.until(lambda: answers == [None])


async def test_a_result_closes_only_when_all_has_ended() -> None:
    async with console(LIVE) as c:
        sheet = ResultScreen("deploy", UNIT, ["gpu-a", "gpu-b", "gpu-c"])
        stopped: list[bool] = []
        sheet.on_stop = lambda: stopped.append(True)
        answers = shown(c, sheet)
        sheet.show(row("gpu-a", None, StepNews(step=Step.PROBE, state=StepState.RUNNING, words="loading weights 62 %")))
        await c.sees("loading weights 62 %", "escape stops what has not begun")
        await c.press("escape", "u")
        await c.sees("stopping")
        assert stopped == [True]
        sheet.show(
            row("gpu-a", Outcome.READY, StepNews(step=Step.PROBE, state=StepState.DONE, words="GET /health 200"))
        )
        sheet.end(can_undo=True)
        await c.sees("gpu-a  ready", "u undo")
        await c.press("u")
        await c.until(lambda: answers == ["undo"])


async def test_the_keys_are_there_for_units_of_the_inventory_alone() -> None:
    config = config_of(LIVE)
    known = config.model_copy(update={"units": (Unit(name=UNIT, hosts=(LIVE.name,), template="sglang"),)})
    async with console(LIVE, config=config) as c:
        await c.press("3")
        assert not c.screen.check_action("difference", ())
        assert not c.screen.check_action("push", ())
    async with console(LIVE, config=known, read_only=True) as c:
        await c.press("3")
        assert c.screen.check_action("difference", ())
        assert not c.screen.check_action("push", ())


def test_what_is_edited_is_the_nearest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hosts.toml"
    (tmp_path / "templates").mkdir()
    own = tmp_path / "templates" / "mine.service.j2"
    own.write_text("[Service]\n")
    path.write_text(
        '[hosts.a]\n[units."a.service"]\nhosts=["a"]\ntemplate="mine"\n[units."b.service"]\nhosts=["a"]\nfile="b.service"\n'
        '[units."c.service"]\nhosts=["a"]\ntemplate="python"\npython="/usr/bin/python3"\n'
    )
    (tmp_path / "b.service").write_text("[Service]\nExecStart=/bin/true\n")
    config, later = read_again(config_of(LIVE).model_copy(update={"path": path}))
    assert any("hosts added: a" in one for one in later)
    assert [file_to_edit(config, f"{name}.service") for name in "abc"] == [own, tmp_path / "b.service", path]
    monkeypatch.setenv("EDITOR", "code --wait")
    monkeypatch.delenv("VISUAL", raising=False)
    assert editor_argv(own) == ("code", "--wait", str(own))
