"""Differences: layers, masked secrets, hosts of which the same is so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.cli import main
from dflashtui.cli.diff import document, shown
from dflashtui.exit_code import ExitCode
from dflashtui.model.push import DropIn, Elsewhere, HostFile, Outcome, PushRecord, PushResult, RecordFile, UnitLook
from dflashtui.ops.diff import Layer, LayerState, UnitDiff, grouped, text_diff, unit_diff
from dflashtui.ops.masked_text import masked_lines
from dflashtui.ops.push import resolved
from dflashtui.ops.push_plan import push_plan, sha256
from dflashtui.ops.render import Rendered
from tests.faults.marks import fault

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 3, 12, tzinfo=UTC)
UNIT = "a.service"
PATH = f"/etc/systemd/system/{UNIT}"
TEXT = "[Service]\nExecStart=/bin/sleep 2\n"
OLD = "[Service]\nExecStart=/bin/sleep 1\n"


def on_disk(text: str | None = TEXT, **more: Any) -> HostFile:  # noqa: ANN401 - any field
    if text is None:
        return HostFile(path=PATH, kind="absent")
    facts: dict[str, Any] = {"mode": 0o644, "owner": "root:root", "changed_at": NOW - timedelta(hours=1)}
    return HostFile(path=PATH, kind="file", sha256=sha256(text), text=text, **{**facts, **more})


def looked(host: str = "h1", **more: Any) -> UnitLook:  # noqa: ANN401 - any field
    facts: dict[str, Any] = {
        "target": on_disk(),
        "load_state": "loaded",
        "fragment_path": PATH,
        "needs_reload": False,
        "records": (),
    }
    return UnitLook(
        host=host,
        unit=UNIT,
        at=NOW,
        is_root=True,
        manager="system",
        folder="/etc/systemd/system",
        is_folder_writable=True,
        is_folder_read_only=False,
        **{**facts, **more},
    )


def pushed(number: int, before: str | None, after: str | None, **more: Any) -> PushRecord:  # noqa: ANN401 - any field
    file = RecordFile(name=UNIT, path=PATH, before=before and sha256(before), after=after and sha256(after))
    facts: dict[str, Any] = {"action": "push", "state": "done", "at": NOW, "who": "anna", "files": (file,)}
    return PushRecord(number=number, **{**facts, **more})


def diff(look: UnitLook, text: str = TEXT) -> UnitDiff:
    return unit_diff(Rendered(host=look.host, unit=UNIT, text=text, origin="template t"), look)


def states(found: UnitDiff) -> dict[Layer, LayerState]:
    return {one.layer: one.state for one in found.layers}


def test_all_layers_the_same_is_no_difference() -> None:
    found = diff(looked(started_at=NOW - timedelta(minutes=1)))
    assert set(states(found).values()) == {LayerState.SAME}
    assert not found.differs


@pytest.mark.parametrize(
    ("look", "layer", "words"),
    [
        (looked(target=on_disk(OLD)), Layer.DISK, "is not as rendered; it was not written by dflashtui"),
        (looked(target=on_disk(None)), Layer.DISK, f"{PATH} is not there"),
        (looked(needs_reload=True), Layer.LOADED, "daemon-reload is due"),
        (looked(load_state="masked"), Layer.LOADED, "has not loaded it: masked"),
        (looked(load_state="bad-setting", load_error="why"), Layer.LOADED, "bad-setting (why)"),
        (looked(fragment_path="/run/x"), Layer.LOADED, "has loaded /run/x in its place"),
        (looked(manager_trouble="busy"), Layer.LOADED, "busy"),
        (looked(started_at=NOW - timedelta(hours=2)), Layer.RUNNING, "was started before the file was changed"),
        (
            looked(started_at=NOW - timedelta(hours=2), reloaded_at=NOW),
            Layer.RUNNING,
            "was started before the last reload",
        ),
        (
            looked(drop_ins=(DropIn(file=HostFile(path="/d/x.conf", kind="file"), is_loaded=False, is_own=True),)),
            Layer.DISK,
            "/d/x.conf adds to the unit; it is not loaded yet",
        ),
    ],
)
def test_each_layer_says_what_is_so(look: UnitLook, layer: Layer, words: str) -> None:
    found = diff(look)
    assert found.differs
    assert any(one.layer is layer and words in one.words for one in found.layers)


def test_what_was_loaded_and_running_is_shown_where_our_pushes_know_it() -> None:
    look = looked(
        needs_reload=True,
        started_at=NOW - timedelta(hours=2),
        loaded_sha256=sha256(OLD),
        running_sha256=sha256(OLD),
        texts={sha256(OLD): OLD},
    )
    loaded, running = (one for one in diff(look).layers if one.layer is not Layer.DISK)
    assert "+ExecStart=/bin/sleep 2" in loaded.lines
    assert "-ExecStart=/bin/sleep 1" in running.lines


def test_hosts_of_which_the_same_is_so_are_shown_once() -> None:
    found = [diff(looked(host, target=on_disk(OLD))) for host in ("h1", "h2")] + [diff(looked("h3"))]
    groups = grouped(found)
    assert [group.hosts for group in groups] == [("h1", "h2"), ("h3",)]
    lines = "".join(shown(groups))
    assert lines.count("-ExecStart=/bin/sleep 1") == 1
    assert "# a.service on h1, h2 (2 hosts)\n" in lines


def test_a_difference_is_a_unified_diff_and_json() -> None:
    found = diff(looked(target=on_disk(OLD)))
    assert found.layers[0].lines == (
        f"--- {PATH}",
        "+++ a.service (template t)",
        "@@ -1,2 +1,2 @@",
        " [Service]",
        "-ExecStart=/bin/sleep 1",
        "+ExecStart=/bin/sleep 2",
    )
    told = document(found)
    assert (told["differs"], told["sha256"]) == (True, sha256(OLD))


@fault("E12", how="a secret changes", result="the difference shows the change, not the secret")
def test_secrets_are_masked_in_differences_and_their_change_still_shows() -> None:
    old, new = (f"[Service]\nEnvironment=API_KEY={key}\nExecStart=/x --api-key \\\n  {key} --port 1\n" for key in "ab")
    lines = text_diff(old, new, "old", "new")
    assert "-Environment=API_KEY=***" in lines
    assert "+Environment=API_KEY=***" in lines
    assert "+  *** --port 1" in lines
    assert not [line for line in lines if "=a" in line or "  b " in line]


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n"))))
def test_masking_keeps_the_lines(lines: list[str]) -> None:
    assert len(masked_lines(lines)) == len(lines)


def test_hostile_text_cannot_act_on_a_terminal() -> None:
    found = diff(looked(target=on_disk("\x1b]0;owned\x07\x9b2J\n")))
    printed = "".join(shown(grouped([found])))
    assert not [char for char in printed if char in "\x1b\x07\x9b"]


@pytest.mark.parametrize("command", ["diff", "push", "render"])
def test_a_unit_without_hosts_is_wrong_use(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text(f'[hosts.h1]\n[units."{UNIT}"]\nhosts = []\nfile = "{UNIT}"\n')
    assert main(["-c", str(path), command, UNIT]) == ExitCode.USAGE
    assert "has no hosts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("look", "doubt"),
    [
        (
            looked(target=on_disk(OLD), records=(pushed(1, None, "other"),)),
            "was changed by somebody since push 1 by anna",
        ),
        (looked(target=on_disk(None), records=(pushed(1, None, OLD),)), "was removed by somebody since push 1"),
        (
            looked(target=on_disk(None), elsewhere=(Elsewhere(path="/usr/lib/a", wins=False, is_masked=False),)),
            "/usr/lib/a: a package's own unit of that name would be covered",
        ),
    ],
)
def test_what_only_a_person_can_decide_is_a_doubt(look: UnitLook, doubt: str) -> None:
    plan = push_plan(look, TEXT, sha256(TEXT))
    assert any(doubt in words for words in plan.doubts)


def test_a_text_of_an_earlier_push_that_is_still_there_raises_no_doubt() -> None:
    plan = push_plan(looked(target=on_disk(OLD), records=(pushed(1, None, OLD),)), TEXT, sha256(TEXT))
    assert (plan.doubts, plan.writes, plan.reloads) == ((), True, True)


@fault("B8", how="another folder's file wins over ours", result="refused, never unchanged")
def test_a_unit_that_something_else_hides_is_never_called_unchanged() -> None:
    wins = Elsewhere(path="/run/systemd/transient/a.service", wins=True, is_masked=False)
    assert push_plan(looked(elsewhere=(wins,)), TEXT, sha256(TEXT)).refusals


def test_a_push_that_was_cut_off_is_told() -> None:
    look = looked(records=(pushed(1, OLD, TEXT, state="pending"),))
    assert any("push 1 by anna was cut off" in note for note in diff(look).notes)
    assert any("this push ends it" in note for note in push_plan(look, OLD, sha256(OLD)).notes)


@pytest.mark.parametrize(
    ("records", "target", "outcome", "words"),
    [
        ((), OLD, Outcome.FAILED, "nothing was changed"),
        ((pushed(1, OLD, TEXT, change="c"),), TEXT, Outcome.DONE, "it was carried out"),
        ((pushed(1, OLD, TEXT, change="c", state="taken-back", note="why"),), OLD, Outcome.FAILED, "taken back: why"),
        ((pushed(1, OLD, TEXT, change="c", state="pending"),), TEXT, Outcome.FAILED, "in place, but was not loaded"),
        ((pushed(1, OLD, TEXT, change="c", state="pending"),), OLD, Outcome.FAILED, "the old file is in place"),
        (None, OLD, Outcome.UNKNOWN, "cannot be read"),
    ],
)
def test_a_lost_push_is_judged_by_what_the_host_says(
    records: tuple[PushRecord, ...] | None, target: str, outcome: Outcome, words: str
) -> None:
    lost = PushResult(
        host="h1",
        unit=UNIT,
        outcome=Outcome.UNKNOWN,
        message="",
        change="c",
        after_sha256=sha256(TEXT),
        started_at=NOW,
        duration_seconds=1.0,
    )
    found = resolved(lost, looked(target=on_disk(target), records=records))
    assert found.outcome is outcome
    assert words in found.message
