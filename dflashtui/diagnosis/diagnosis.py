"""The lines of a log in, the cause of the failure out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis import expand, grammar, native, outside, roles
from dflashtui.diagnosis.banner import NO_DIGITS, Banner
from dflashtui.diagnosis.cleaning import FENCE, HEAD_CHARACTERS, TAIL_CHARACTERS, Margin, pieces
from dflashtui.diagnosis.concluding import conclude, first_cause, has_failed
from dflashtui.diagnosis.forms_keepers import OTHERS_SAY
from dflashtui.diagnosis.openings import opens
from dflashtui.diagnosis.plain import label_by_rank, plain
from dflashtui.diagnosis.prefixes import strip
from dflashtui.diagnosis.scene import Scene, Written
from dflashtui.diagnosis.stems import is_dull

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.diagnosis.channels import Channel
    from dflashtui.diagnosis.expand import Record
    from dflashtui.diagnosis.line import Line
    from dflashtui.diagnosis.prefixes import Stripped
    from dflashtui.diagnosis.verdict import UnitResult, Verdict
    from dflashtui.model.finding import Cause

FORGET_EVERY = 256
MAX_PAST_RUNS = 20
MANY_PIDS = 8
MANY_PENDING = 64
PENDING_CHARACTERS = 4 * (HEAD_CHARACTERS + TAIL_CHARACTERS)


class Diagnosis:
    """Takes lines as they come; can be asked at any moment. Memory does not grow with the log."""

    def __init__(self) -> None:
        self._scene = Scene()
        self._banner = Banner()
        self._margin = Margin()
        self._past: list[Cause] = []
        self._pending: dict[str, Line] = {}
        """Lines that journald cut, by stream: their rest comes with the stream's next entry."""
        self._unit: str | None = None
        self._suspect: tuple[int, Cause | None] = (-1, None)

    @property
    def is_attentive(self) -> bool:
        """Every line matters just now; else lines without any of the stems may be left out (`skip`)."""
        scene = self._scene
        return bool(scene.channels or scene.run.watched or scene.cell or self._pending or not self._banner.is_known)

    def skip(self, count: int, last: Line | None = None) -> None:
        """`count` lines that have none of the stems went by; `last` was the last of them with words."""
        self._scene.count += count
        self._scene.run.lines += count
        self._scene.run.ordinary += count
        self._scene.run.last_words = last or self._scene.run.last_words

    def feed(self, line: Line) -> None:
        """Take the next line."""
        scene = self._scene
        scene.count += 1
        scene.run.lines += 1
        whole = self._whole(line)
        if whole is None:
            return
        self._follow_invocation(whole)
        if self._is_told_at_once(whole):
            return
        if scene.count % FORGET_EVERY == 0:
            scene.channels.forget(scene.count)
        for text in pieces(whole.text):
            self._piece(text, whole)

    def suspected(self) -> Cause | None:
        """The best candidate so far; it may be withdrawn when the service goes on."""
        if self._suspect[0] != self._scene.version:
            self._suspect = (self._scene.version, first_cause(self._scene.run))
        return self._suspect[1]

    def finish(self, result: UnitResult | None = None) -> Verdict:
        """What it comes to, with the manager's own word for the end of the run, if it is known.

        More lines may follow, and another `finish`.
        """
        for line in self._pending.values():
            for text in pieces(line.text):
                self._piece(text, line)
        self._pending.clear()
        return conclude(self._scene.run, tuple(reversed(self._past)), result)

    def _whole(self, line: Line) -> Line | None:
        """The line with its pieces before; `None`: more pieces are to come."""
        if not (line.is_cut or self._pending):
            return line
        key = line.stream_id or str(line.pid)
        before = self._pending.pop(key, None)
        if before:
            text = before.text if len(before.text) > PENDING_CHARACTERS else before.text + line.text
            line = line._replace(text=text, number=before.number)
        if not line.is_cut or len(self._pending) >= MANY_PENDING:
            return line
        self._pending[key] = line
        return None

    def _follow_invocation(self, line: Line) -> None:
        """Another invocation of the same unit is another run."""
        known = self._scene.run.invocation_id
        if not line.invocation_id or line.origin == "kernel" or line.invocation_id == known:
            return
        if known and (line.origin == "manager" or line.unit == self._unit):
            self._begin_run(line)
        self._unit = line.unit
        self._scene.run.invocation_id = line.invocation_id

    def _is_told_at_once(self, line: Line) -> bool:
        """A dull line, or an error that was seen with other figures: most lines of most logs."""
        scene = self._scene
        if line.origin != "service" or scene.channels:
            return False
        known = scene.run.repeated.get(line.text.translate(NO_DIGITS)) if scene.run.repeated else None
        if known:
            known.since, known.last = scene.run.lines, line.number
            return True
        if self.is_attentive or not is_dull(line.text):
            return False
        scene.run.ordinary += 1
        if line.text.strip():
            scene.run.last_words = line
        return True

    def _begin_run(self, line: Line) -> None:
        cause = conclude(self._scene.run, (), None).cause
        if cause:
            self._past = [*self._past, cause][-MAX_PAST_RUNS:]
        self._scene.begin_run(line)

    def _piece(self, text: str, line: Line) -> None:
        look = strip(self._margin.without(text) if line.identifier is None else text)
        if look.text.startswith(outside.EXPLANATIONS) or text.startswith(FENCE):
            return
        if outside.is_of_manager(look, line):
            if outside.is_next_start(self._scene, look.text):
                self._begin_run(line)
            outside.managed(self._scene, look.text, line)
            return
        if outside.is_of_kernel(look, line):
            outside.of_kernel(self._scene, look.text, line)
            return
        record = expand.expanded(look.text)
        if record:
            self._record(record, look, line)
        else:
            self._service(look, line)

    def _record(self, record: Record, look: Stripped, line: Line) -> None:
        """The lines within one record; a traceback in it ends with it."""
        if record.is_stream:
            self._service(strip(record.texts[0])._replace(host=look.host), line)
            return
        shape = f"{look.shape}{{{self._scene.count}"
        for part in record.texts:
            inner = strip(part)
            process = inner.process or record.process or look.process
            level = record.level or inner.level
            changed = inner._replace(shape=f"{shape}{inner.shape}", process=process, level=level, is_record=True)
            self._service(changed, line)
        self._scene.channels.close_shape(shape)

    def _service(self, look: Stripped, line: Line) -> None:
        """A line of the service's own."""
        pid = line.pid if line.pid is not None else look.pid if look.identifier else None
        scene, text = self._scene, look.text
        if pid is not None and len(scene.run.pids) < MANY_PIDS:
            scene.run.pids.add(pid)
        if self._banner.recurs(text, self._has_failed):
            self._begin_run(line)
        if grammar.HEADER in text or not (native.opening(text) or text.startswith(OTHERS_SAY)):
            channel = scene.channels.take(text, look, pid, line.number, scene.count)
            if channel:
                self._grew(channel, text, line)
                return
        by = Written(look, pid, line)
        if not opens(scene, by):
            plain(scene, by)

    def _has_failed(self) -> bool:
        return self._scene.run.is_dead or has_failed(self._scene.run)

    def _grew(self, channel: Channel, text: str, line: Line) -> None:
        """A traceback has got another line. Its message may hold what torchrun or a shell said meanwhile."""
        run = self._scene.run
        self._scene.version += 1
        channel.candidate.last = line.number
        if channel.reader.is_in_message:
            label_by_rank(channel.candidate, text)
            run.is_dead |= roles.DEATH.search(text) is not None
            run.guilty |= self._scene.table.feed(text)


def diagnose_lines(lines: Iterable[Line]) -> Verdict:
    """The verdict on a log that is complete."""
    diagnosis = Diagnosis()
    for line in lines:
        diagnosis.feed(line)
    return diagnosis.finish()
