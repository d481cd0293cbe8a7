"""Preflight: what the manager would say to a start: masked, start limit reached, text not loaded, failed assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import acting, finding, of_manager, words_of
from dflashtui.ops.preflight_leftovers import leftovers
from dflashtui.ops.preflight_program_file import WALK
from dflashtui.source.systemd_show import blocks
from dflashtui.text import decoded
from dflashtui.unitfile.reading import read_cat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question

PROPERTIES = "LoadState,UnitFileState,NeedDaemonReload,Result,ActiveState,FragmentPath,ControlGroup"
ABSENT = frozenset({"missing", "link"})
FILES = frozenset({"plain", "fine"})
CHECKED = ("AssertPathExists", "AssertPathIsDirectory", "ConditionPathExists", "ConditionPathIsDirectory")


async def check(question: Question) -> Sequence[PreflightFinding]:
    """What refuses a start before any program runs. Raises `TransportLost`."""
    argv = ("systemctl", "show", f"--property={PROPERTIES}", "--", question.unit.name)
    done = await of_manager(question.transport, question.host, *argv)
    found = blocks(done.stdout)
    if done.exit_status != 0 or not found:
        words = f"the service manager does not answer: {words_of(done)}"
        return [finding(question, "manager:unknown", "unknown", words)]
    left = await leftovers(question, found[0])
    return [*_states(question, found[0]), *left, *(await _assertions(question))]


def _states(question: Question, state: Mapping[str, str]) -> Iterator[PreflightFinding]:
    user = ("--user",) if question.host.manager == "user" else ()
    unit = question.unit.name
    if state.get("LoadState") == "masked":
        path = state.get("FragmentPath") or "a link to /dev/null"
        runtime = ("--runtime",) if path.startswith("/run/") else ()
        command = acting(question, "systemctl", *user, "unmask", *runtime, "--", unit)
        message = f"{unit} is masked: no start is possible"
        yield finding(question, "manager:masked", "fatal", message, path, remedy="take back the mask", command=command)
    if state.get("Result") == "start-limit-hit":
        command = acting(question, "systemctl", *user, "reset-failed", "--", unit)
        message = "its start limit is reached: the manager refuses the next start"
        yield finding(question, "manager:start-limit", "fatal", message, remedy="forget the failures", command=command)
    if state.get("NeedDaemonReload") == "yes":
        command = acting(question, "systemctl", *user, "daemon-reload")
        message = "its file was changed after the manager read it: a start runs the old text"
        yield finding(question, "manager:reload", "warning", message, remedy="load it", command=command)
    if state.get("FragmentPath", "").startswith(("/run/", "/run/user/")) and state.get("LoadState") == "loaded":
        message = f"the manager runs {state['FragmentPath']}, which is gone after a reboot"
        yield finding(question, "manager:runtime", "note", message)


async def _assertions(question: Question) -> list[PreflightFinding]:
    """Paths that the unit itself asks for."""
    unit = read_cat(question.unit_text)
    wanted = [entry for key in CHECKED for entry in unit.all("Unit", key) if entry.value.startswith("/")]
    wanted = [entry for entry in wanted if "%" not in entry.value]
    found = []
    for entry in wanted:
        done = await question.transport.run(("sh", "-c", WALK, "sh", entry.value))
        word = decoded(done.stdout).partition(" ")[0]
        if word in ABSENT or (entry.key.endswith("Directory") and word in FILES):
            is_assert = entry.key.startswith("Assert")
            effect = "the start fails" if is_assert else "the start is skipped in silence"
            message = f"{entry.key}={entry.value} does not hold: {effect}"
            remedy = f"put {entry.value} there, or correct the path"
            found.append(finding(question, f"manager:{entry.key}:{entry.value}", "fatal", message, remedy=remedy))
    return found
