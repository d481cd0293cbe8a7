"""Where tracebacks begin, and what stands before them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.diagnosis import box, grammar, native, roles
from dflashtui.diagnosis.box import BoxReader
from dflashtui.diagnosis.channels import Channel
from dflashtui.diagnosis.form import Weight
from dflashtui.diagnosis.frames import FRAME
from dflashtui.diagnosis.prefixes import GLUED_TIME, strip
from dflashtui.diagnosis.reader import DOUBTFUL_MESSAGE_LINES, TraceReader
from dflashtui.diagnosis.scene import NEAR_LINES
from dflashtui.diagnosis.trace import Trace

if TYPE_CHECKING:
    from dflashtui.diagnosis.scene import Said, Scene, Written

PROCESS_LINE = re.compile(r"^Process (?P<name>[\w:.<>-]{1,120}):$")
ORNAMENT = " +|-─╭┌"


def opens(scene: Scene, by: Written) -> bool:
    """Open the traceback that begins with this line, if one does."""
    text = by.look.text
    at = text.find(grammar.HEADER)
    if at >= 0:
        _header(scene, by, at)
        return True
    return _native(scene, by) or _without_header(scene, by)


def _native(scene: Scene, by: Written) -> bool:
    found = native.opening(by.look.text)
    if found is None:
        return False
    match, reader = found
    trace = Trace(context=by.look.text[: match.start()], label=by.look.process, pid=by.pid, level=by.look.level)
    _open(scene, by, reader(trace, match, by.line.number))
    return True


def _without_header(scene: Scene, by: Written) -> bool:
    """A frame alone, not of faulthandler's form: a SyntaxError in the main file, ray, or a log whose head is lost."""
    text = by.look.text
    if not FRAME.match(text) or (" in " in text and ", in " not in text):
        return False
    reader = TraceReader(_trace(scene, by, ""), by.line.number)
    reader.feed(text, by.line.number)
    _open(scene, by, reader)
    return True


def _header(scene: Scene, by: Written, at: int) -> None:
    text, number = by.look.text, by.line.number
    is_group = grammar.GROUP_HEADER in text
    trace = _trace(scene, by, text[:at].removesuffix("Exception Group ") if is_group else text[:at])
    if box.is_box(text):
        _open(scene, by, BoxReader(trace, text, number))
        return
    reader = TraceReader(trace, number, is_group=is_group)
    glued = text[at + len(grammar.HEADER) :].lstrip(":")
    if glued.strip():
        reader.feed(glued, number)
    _open(scene, by, reader)


def _trace(scene: Scene, by: Written, before: str) -> Trace:
    """`before`: the text on the header's own line."""
    is_glued = bool(before.strip(ORNAMENT))
    near = [said.text for said in scene.said if scene.count - said.at <= NEAR_LINES]
    context = before.strip() if is_glued else "\n".join(near)
    announcer = None if is_glued else _announcer(scene)
    level = by.look.level or (announcer.level if announcer else None)
    label = _label(by, before, context) or (announcer.process if announcer else None)
    return Trace(context=context, label=label, pid=by.pid, level=level)


def _label(by: Written, before: str, context: str) -> str | None:
    """By the prefix, by one that is glued behind a progress bar, by multiprocessing's `Process NAME:`."""
    if by.look.process:
        return by.look.process
    glued = GLUED_TIME.search(before)
    if glued:
        return strip(before[glued.start() :]).process
    named = PROCESS_LINE.match(context.partition("\n")[0])
    return named["name"] if named else None


def _announcer(scene: Scene) -> Said | None:
    """The record on the line before, if that announces a traceback."""
    if not scene.said or scene.count - scene.said[0].at != 1:
        return None
    return scene.said[0] if roles.ANNOUNCING.search(scene.said[0].text) else None


def _open(scene: Scene, by: Written, reader: TraceReader | native.NativeReader) -> None:
    trace = reader.trace
    candidate = scene.candidate(Weight.FATAL, by, label=trace.label)
    candidate.trace = trace
    is_doubtful = roles.NOT_FATAL_CONTEXT.search(trace.context) is not None or trace.level in roles.WARNING_LEVELS
    candidate.is_doubtful = is_doubtful
    if is_doubtful and isinstance(reader, TraceReader):
        reader.message_lines_allowed = DOUBTFUL_MESSAGE_LINES
    look = by.look
    scene.channels.add(Channel(by.pid, look.shape, look.process, reader, candidate, seen_at=scene.count))
