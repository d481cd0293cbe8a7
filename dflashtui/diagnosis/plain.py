"""Lines of no traceback: forms that tell a cause, errors, signs of life and of death."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.diagnosis import forms, grammar, prefixes, roles
from dflashtui.diagnosis.banner import NO_DIGITS
from dflashtui.diagnosis.form import Weight
from dflashtui.model.finding import Location

if TYPE_CHECKING:
    from dflashtui.diagnosis.candidate import Candidate
    from dflashtui.diagnosis.scene import Scene, Written

GENERAL_ERROR = re.compile(
    r"(?<![\w'\"=-])(?:error|errors|failed|failure|fatal|cannot|could not|couldn't|unable to|exception|"
    r"not found|no such|"
    r"denied|refused|invalid|insufficient|unsupported|out of memory)\b",
    re.IGNORECASE,
)
GENERAL_LIMIT = 1200
NOT_SENTENCES = ("#", "*", "-", "╭", "│", "╰", "future: <")
MANY_ERRORS = 200
UNAVAILABLE = "UNAVAILABLE: "
ENDS = frozenset({Weight.STATUS, Weight.SIGNALLED, Weight.EXPLICIT, Weight.ASSERTED})


def plain(scene: Scene, by: Written) -> None:
    """Take the line."""
    text = by.look.text
    bare = text.strip()
    if not bare:
        return
    _signs(scene, text)
    if _in_table(scene, bare, by):
        return
    if scene.run.candidates:
        label_by_rank(scene.run.candidates[-1], bare)
    if not (_formed(scene, by) or _general(scene, bare, by)):
        scene.run.last_words = by.line
        scene.run.ordinary += 1
        _lives(scene, by)
    if not roles.PYTHON_WARNING.search(bare):
        scene.note(bare, by.look)


def _signs(scene: Scene, text: str) -> None:
    run = scene.run
    run.is_ready |= roles.READY.search(text) is not None
    if roles.DEATH.search(text):
        run.is_dead = True
        scene.version += 1
    run.guilty |= scene.table.feed(text)


def _lives(scene: Scene, by: Written) -> None:
    if not scene.run.watched:
        return
    pid = by.pid if by.pid is not None else by.look.pid
    scene.run.live(by.look.text, pid, by.look.process)
    scene.channels.close_lived()
    scene.version += 1


def _in_table(scene: Scene, bare: str, by: Written) -> bool:
    """`| model | 1 | UNAVAILABLE: text |`: a cell's text may go on in the rows below it."""
    if not (bare.startswith("|") and bare.endswith("|")):
        scene.cell = None
        return False
    cells = [cell.strip() for cell in bare.strip("|").split("|")]
    if cells[-1].startswith(UNAVAILABLE):
        scene.cell = scene.candidate(Weight.TELLING, by)
        scene.cell.message = cells[-1].removeprefix(UNAVAILABLE).strip()
        scene.run.is_dead = True
    elif scene.cell and not cells[0]:
        scene.cell.message = f"{scene.cell.message} {cells[-1]}".strip()
        scene.cell.last = by.line.number
    else:
        scene.cell = None
    return scene.cell is not None


def label_by_rank(candidate: Candidate, text: str) -> None:
    """TGI's launcher names the rank behind the text, sometimes on a line of its own."""
    match = prefixes.TRAILING_RANK.search(text) if candidate.label is None and "rank=" in text else None
    if match:
        candidate.label = f"rank{match[1]}"


def _formed(scene: Scene, by: Written) -> bool:
    """A line that tells a cause by its form."""
    found = forms.form_of(by.look.text)
    if found is None:
        return False
    form, match = found
    groups = match.groupdict()
    scene.run.is_dead |= form.weight in ENDS
    candidate = scene.candidate(form.weight, by)
    candidate.message, candidate.kind = groups["text"].strip(), form.kind
    rank = forms.NAMED_RANK.search(by.look.text) if form.weight is Weight.SIGNALLED else None
    if rank:
        candidate.label = f"rank{rank['rank']}"
    if groups.get("file"):
        candidate.location = Location(file=groups["file"], line=int(groups["line"]))
    is_quiet = by.look.level in roles.QUIET_LEVELS and form.name != "nccl-warn"
    candidate.is_doubtful = is_quiet and form.weight not in ENDS
    return True


def _general(scene: Scene, bare: str, by: Written) -> bool:
    """An error that has no form of its own."""
    look = by.look
    if look.level in roles.QUIET_LEVELS or len(bare) > GENERAL_LIMIT or roles.NOT_FATAL_CONTEXT.search(bare):
        return False
    exception = grammar.exception_line(bare)
    if exception and exception.type.endswith("Warning"):
        return False
    if exception and exception.is_sure and not look.text.startswith(" "):
        candidate = scene.candidate(Weight.GENERAL, by)
        candidate.exception = exception.type if exception.type != "Error" else None
        candidate.message = exception.text
        return True
    if look.level in roles.LOUD_LEVELS or (GENERAL_ERROR.search(bare) and not bare.startswith(NOT_SENTENCES)):
        _error(scene, bare, by)
        return True
    return False


def _error(scene: Scene, bare: str, by: Written) -> None:
    """An error line; the same one again, with other figures, is no further candidate."""
    run = scene.run
    key = (bare.translate(NO_DIGITS), by.look.process)
    known = run.errors.get(key)
    if known:
        known.since, known.last = run.lines, by.line.number
        if len(run.repeated) < MANY_ERRORS:
            run.repeated[by.line.text.translate(NO_DIGITS)] = known
        return
    candidate = scene.candidate(Weight.GENERAL, by)
    candidate.message = bare
    if len(run.errors) < MANY_ERRORS:
        run.errors[key] = candidate
