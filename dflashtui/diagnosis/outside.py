"""What others say of the service: the service manager and the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis import manager
from dflashtui.diagnosis.kernel import kernel_candidate
from dflashtui.diagnosis.prefixes import Stripped
from dflashtui.diagnosis.scene import Written

if TYPE_CHECKING:
    from dflashtui.diagnosis.line import Line
    from dflashtui.diagnosis.scene import Scene

EXPLANATIONS = ("░░", "-- ")
"""journalctl's own lines between entries: `-x` explains the manager's, `-- Boot … --` tells of a new start."""
MANAGERS = frozenset({"systemd", "init.scope"})


def is_of_manager(look: Stripped, line: Line) -> bool:
    """Written by the manager, or by its child that could not become the service.

    Such a child calls itself `(python3)`, and reports `x.service: Failed at step …`.
    """
    if line.origin == "manager" or (look.identifier in MANAGERS and look.pid in {1, None}):
        return True
    name = look.identifier or line.identifier or ""
    if not (name.startswith("(") or name.endswith(".service")):
        return False
    said = manager.OF_UNIT.match(look.text)
    return said is not None and any(word.pattern.match(said["text"]) for word in manager.WORDS)


def is_of_kernel(look: Stripped, line: Line) -> bool:
    """Of the kernel's own log."""
    return line.origin == "kernel" or look.identifier == "kernel" or look.text.startswith("NVRM: ")


def is_next_start(scene: Scene, text: str) -> bool:
    """The manager tells of a start, behind the end of the run before."""
    return scene.run.is_over and manager.STARTING.match(_said(text)[1]) is not None


def managed(scene: Scene, text: str, line: Line) -> None:
    """Take what the manager says."""
    unit, said = _said(text)
    run = scene.run
    scene.version += 1
    run.is_over |= manager.OVER.search(said) is not None
    if manager.STOPPING.match(said) and run.stopped_at is None and not run.is_dead:
        run.stopped_at = scene.order
        return
    for word in manager.WORDS:
        match = word.pattern.search(said)
        if match:
            _told(scene, said, word, match.groupdict(), line._replace(unit=line.unit or unit))
            return


def _said(text: str) -> tuple[str | None, str]:
    """The unit and the words about it."""
    named = manager.OF_UNIT.match(text)
    return (named["unit"], named["text"]) if named else (None, text)


def _told(scene: Scene, said: str, word: manager.Word, groups: dict[str, str | None], line: Line) -> None:
    candidate = scene.candidate(word.weight, Written(Stripped(said), line.pid, line))
    candidate.message, candidate.kind = said, word.kind
    code, status = groups.get("code"), groups.get("status")
    if code and status:
        candidate.kind = manager.kind_of_exit(code, int(status))
    scene.run.is_dead |= code != "exited" or status != "0"


def of_kernel(scene: Scene, text: str, line: Line) -> None:
    """Take a line of the kernel."""
    candidate = kernel_candidate(scene.order + 1, text, line)
    if candidate:
        scene.order += 1
        scene.version += 1
        scene.run.add(candidate)
