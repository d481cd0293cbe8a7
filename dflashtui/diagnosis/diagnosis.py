"""The lines of a log in, the cause of the failure out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.diagnosis import box, expand, forms, grammar, manager, native, prefixes, roles
from dflashtui.diagnosis.banner import Banner
from dflashtui.diagnosis.box import BoxReader
from dflashtui.diagnosis.candidate import Candidate
from dflashtui.diagnosis.channels import Channel, Channels
from dflashtui.diagnosis.cleaning import pieces
from dflashtui.diagnosis.concluding import conclude, first_cause, has_failed
from dflashtui.diagnosis.forms import Weight
from dflashtui.diagnosis.frames import FRAME
from dflashtui.diagnosis.line import Line
from dflashtui.diagnosis.prefixes import Stripped, strip
from dflashtui.diagnosis.reader import DOUBTFUL_MESSAGE_LINES, TraceReader
from dflashtui.diagnosis.run import Run
from dflashtui.diagnosis.stems import is_dull
from dflashtui.diagnosis.torchrun import Table
from dflashtui.diagnosis.trace import Trace
from dflashtui.model.finding import Location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.diagnosis.verdict import UnitResult, Verdict
    from dflashtui.model.finding import Cause

PROCESS_LINE = re.compile(r"^Process (?P<name>[\w:.<>-]{1,120}):$")
GENERAL_ERROR = re.compile(
    r"(?<![\w'\"=-])(?:error|errors|failed|failure|fatal|cannot|could not|couldn't|unable to|exception|not found|no such|denied|refused|invalid|insufficient|unsupported|out of memory)\b",
    re.IGNORECASE,
)
MANAGERS = frozenset({"systemd", "init.scope"})
GENERAL_LIMIT = 1200
NOT_SENTENCES = ("#", "*", "-", "╭", "│", "╰", "future: <")
FORGET_EVERY = 256
MAX_PAST_RUNS = 20
MANY_PIDS = 8
UNAVAILABLE = "UNAVAILABLE: "
NEAR_LINES = 3
"""Lines before a header that tell what it is about, such as "Task exception was never retrieved"."""


class Diagnosis:
    """Takes lines as they come; can be asked at any moment. Memory does not grow with the log."""

    def __init__(self) -> None:
        self._run = Run()
        self._past: list[Cause] = []
        self._channels = Channels()
        self._table = Table()
        self._count = 0
        self._order = 0
        self._before: tuple[tuple[int, str, str | None], ...] = ()
        """When, what and at which level the last lines of no traceback were, the newest first."""
        self._pending: dict[str, Line] = {}
        self._banner = Banner()
        self._cell: Candidate | None = None
        """The row of a table that goes on in the next."""
        self._version = 0
        self._suspect: tuple[int, Cause | None] = (-1, None)

    @property
    def is_attentive(self) -> bool:
        """Every line matters just now; else lines without any of the stems may be left out (`skip`)."""
        return bool(self._channels or self._run.watched or self._pending or not self._banner.is_known)

    def skip(self, count: int, last: Line | None = None) -> None:
        """`count` lines that have none of the stems went by; `last` was the last of them with words."""
        self._count += count
        self._run.lines += count
        if last:
            self._run.last_words = last

    def feed(self, line: Line) -> None:
        """Take the next line."""
        self._count += 1
        self._run.lines += 1
        line = self._joined(line)
        if line.is_cut:
            return
        if line.invocation_id and line.origin != "kernel":
            self._invocation(line)
        if not self.is_attentive and line.origin == "service" and is_dull(line.text.lower()):
            if line.text.strip():
                self._run.last_words = line
            return
        if self._count % FORGET_EVERY == 0:
            self._channels.forget(self._count)
        for text in pieces(line.text):
            self._piece(text, line)

    def suspected(self) -> Cause | None:
        """The best candidate so far; it may be withdrawn when the service goes on."""
        if self._suspect[0] != self._version:
            self._suspect = (self._version, first_cause(self._run))
        return self._suspect[1]

    def finish(self, result: UnitResult | None = None) -> Verdict:
        """What it comes to, with the manager's own word for the end of the run, if it is known."""
        for line in self._pending.values():
            for text in pieces(line.text):
                self._piece(text, line)
        self._pending.clear()
        return conclude(self._run, tuple(reversed(self._past)), result)

    def _joined(self, line: Line) -> Line:
        """Journald cuts at 48 KiB: the pieces of one line, together."""
        if not (line.is_cut or self._pending):
            return line
        key = line.stream_id or str(line.pid)
        before = self._pending.pop(key, None)
        if before:
            text = before.text if len(before.text) > GENERAL_LIMIT**2 else before.text + line.text
            line = line._replace(text=text)
        if line.is_cut:
            self._pending[key] = line
        return line

    def _invocation(self, line: Line) -> None:
        if (self._run.invocation_id and line.invocation_id != self._run.invocation_id and line.origin == "manager") or (self._run.invocation_id and line.invocation_id != self._run.invocation_id and line.unit == self._unit):
            self._new_run(line)
        self._unit = line.unit
        self._run.invocation_id = line.invocation_id

    _unit: str | None = None

    def _new_run(self, line: Line) -> None:
        """What comes now belongs to the next attempt."""
        cause = conclude(self._run, (), None).cause
        if cause:
            self._past = [*self._past, cause][-MAX_PAST_RUNS:]
        self._run = Run(began=line.number)
        self._channels.close_all()
        self._table = Table()
        self._version += 1

    def _piece(self, text: str, line: Line) -> None:
        look = strip(text)
        if _is_of_manager(look, line):
            self._manager(look.text, line)
            return
        if line.origin == "kernel" or look.identifier == "kernel" or look.text.startswith("NVRM: "):
            self._kernel(look.text, line)
            return
        record = expand.expanded(look.text)
        if record is None:
            self._service(look, line)
            return
        if record.is_stream:
            self._service(strip(record.texts[0])._replace(host=look.host), line)
            return
        shape = f"{look.shape}{{{self._count}"
        for part in record.texts:
            inner = strip(part)
            self._service(
                inner._replace(
                    shape=f"{shape}{inner.shape}",
                    process=inner.process or record.process or look.process,
                    level=record.level or inner.level,
                    is_record=True,
                ),
                line,
            )
        self._channels.close_shape(shape)

    def _service(self, look: Stripped, line: Line) -> None:
        pid = line.pid if line.pid is not None else look.pid if look.identifier else None
        if pid is not None and len(self._run.pids) < MANY_PIDS:
            self._run.pids.add(pid)
        text = look.text
        if self._banner.recurs(text, has_failed=self._run.is_dead or has_failed(self._run)):
            self._new_run(line)
        if native.opening(text) is None or grammar.HEADER in text:
            channel = self._channels.take(text, look, pid, line.number, self._count)
            if channel:
                self._grew(channel, text, line)
                return
        if not self._opens(look, pid, line):
            self._plain(look, pid, line)

    def _grew(self, channel: Channel, text: str, line: Line) -> None:
        self._version += 1
        channel.candidate.last = line.number
        if channel.reader.is_in_message and roles.DEATH.search(text):
            self._run.is_dead = True
        told = channel.reader.trace.raised[-1]
        table = self._table.feed(told.detail[-1] if told.detail else told.message)
        if table:
            self._run.guilty |= table

    def _opens(self, look: Stripped, pid: int | None, line: Line) -> bool:
        """A traceback begins here."""
        text = look.text
        at = text.find(grammar.HEADER)
        if at >= 0:
            self._header(look, at, pid, line)
            return True
        native_opening = native.opening(text)
        if native_opening:
            match, reader = native_opening
            trace = Trace(context=text[: match.start()], label=look.process, pid=pid, level=look.level)
            self._open(reader(trace, match, line.number), trace, look, pid, line)
            return True
        if FRAME.match(text) and line.text.strip():
            trace = self._trace("", look, pid)
            reader = TraceReader(trace, line.number)
            reader.feed(text, line.number)
            self._open(reader, trace, look, pid, line)
            return True
        return False

    def _trace(self, before: str, look: Stripped, pid: int | None) -> Trace:
        near = [line for line in self._before if self._count - line[0] <= NEAR_LINES]
        is_glued = bool(before.strip(" +|-─╭┌"))
        words = before.strip() if is_glued else "\n".join(line[1] for line in near)
        level = None if is_glued else self._level_before()
        named = PROCESS_LINE.match(words.partition("\n")[0])
        glued = prefixes.GLUED_TIME.search(before)
        label = (
            look.process
            or (strip(before[glued.start() :]).process if glued else None)
            or (named["name"] if named else None)
        )
        return Trace(context=words, label=label, pid=pid, level=look.level or level)

    def _level_before(self) -> str | None:
        """The level of the record on the line before, if that announces a traceback."""
        if not self._before:
            return None
        when, text, level = self._before[0]
        return level if self._count - when == 1 and roles.ANNOUNCING.search(text) else None

    def _header(self, look: Stripped, at: int, pid: int | None, line: Line) -> None:
        before, text = look.text[:at], look.text
        is_group = grammar.GROUP_HEADER in text
        trace = self._trace(before.removesuffix("Exception Group ") if is_group else before, look, pid)
        if box.is_box(text):
            self._open(BoxReader(trace, text, line.number), trace, look, pid, line)
            return
        reader = TraceReader(trace, line.number, is_group=is_group)
        glued = text[at + len(grammar.HEADER) :].lstrip(":").rstrip()
        if glued.strip():
            reader.feed(glued, line.number)
        self._open(reader, trace, look, pid, line)

    def _open(
        self, reader: TraceReader | native.NativeReader, trace: Trace, look: Stripped, pid: int | None, line: Line
    ) -> None:
        candidate = self._candidate(Weight.FATAL, look, pid, line, label=trace.label)
        candidate.trace = trace
        candidate.is_doubtful = bool(roles.NOT_FATAL_CONTEXT.search(trace.context)) or (
            trace.level in roles.QUIET_LEVELS
        )
        if candidate.is_doubtful and isinstance(reader, TraceReader):
            reader.message_lines_allowed = DOUBTFUL_MESSAGE_LINES
        self._channels.add(Channel(pid, look.shape, look.process, reader, candidate, seen_at=self._count))

    def _candidate(
        self, weight: Weight, look: Stripped, pid: int | None, line: Line, label: str | None = None
    ) -> Candidate:
        self._order += 1
        self._version += 1
        where = line._replace(host=line.host or look.host, identifier=line.identifier or look.identifier)
        candidate = Candidate(
            self._order, weight, where, last=line.number, label=label or look.process, pid=pid or look.pid
        )
        self._run.add(candidate)
        return candidate

    def _plain(self, look: Stripped, pid: int | None, line: Line) -> None:
        """A line of no traceback: a form, an error, a sign of life."""
        text = look.text
        bare = text.strip()
        if not bare:
            return
        if roles.READY.search(text):
            self._run.is_ready = True
        if roles.DEATH.search(text):
            self._run.is_dead = True
            self._version += 1
        self._run.guilty |= self._table.feed(text)
        if self._in_table(bare, look, pid, line):
            return
        self._label_by_rank(bare)
        if not (self._formed(look, pid, line) or self._general(look, pid, line)):
            self._run.last_words = line
            if self._run.watched:
                self._run.live(text, pid or look.pid, look.process)
                self._version += 1
        self._before = ((self._count, bare, look.level), *self._before[: NEAR_LINES - 1])

    def _in_table(self, bare: str, look: Stripped, pid: int | None, line: Line) -> bool:
        """`| model | 1 | UNAVAILABLE: text |`: a cell's text may go on in the rows below it."""
        if not (bare.startswith("|") and bare.endswith("|")):
            self._cell = None
            return False
        cells = [cell.strip() for cell in bare.strip("|").split("|")]
        if cells[-1].startswith(UNAVAILABLE):
            self._cell = self._candidate(Weight.TELLING, look, pid, line)
            self._cell.message = cells[-1].removeprefix(UNAVAILABLE).strip()
            self._run.is_dead = True
        elif self._cell and not cells[0]:
            self._cell.message = f"{self._cell.message} {cells[-1]}".strip()
            self._cell.last = line.number
        else:
            self._cell = None
        return self._cell is not None

    def _label_by_rank(self, bare: str) -> None:
        """TGI's launcher names the rank behind the text, sometimes on a line of its own."""
        match = prefixes.TRAILING_RANK.search(bare) if "rank=" in bare else None
        if match and self._run.candidates and self._run.candidates[-1].label is None:
            self._run.candidates[-1].label = f"rank{match[1]}"

    def _formed(self, look: Stripped, pid: int | None, line: Line) -> bool:
        found = forms.form_of(look.text)
        if found is None:
            return False
        form, match = found
        if form.weight in {Weight.STATUS, Weight.SIGNALLED, Weight.EXPLICIT}:
            self._run.is_dead = True
        candidate = self._candidate(form.weight, look, pid, line)
        groups = match.groupdict()
        candidate.message, candidate.kind = groups["text"].strip(), form.kind
        rank = forms.NAMED_RANK.search(look.text) if form.weight is Weight.SIGNALLED else None
        if rank:
            candidate.label = f"rank{rank['rank']}"
        if groups.get("file"):
            candidate.location = Location(file=groups["file"], line=int(groups["line"]))
        if form.weight < Weight.SIGNALLED and look.level in roles.QUIET_LEVELS and form.name != "nccl-warn":
            candidate.is_doubtful = True
        return True

    def _general(self, look: Stripped, pid: int | None, line: Line) -> bool:
        """An error that has no form of its own."""
        bare = look.text.strip()
        if look.level in roles.QUIET_LEVELS or len(bare) > GENERAL_LIMIT or roles.NOT_FATAL_CONTEXT.search(bare):
            return False
        exception = grammar.exception_line(bare)
        if exception and exception.is_sure and not look.text.startswith(" "):
            candidate = self._candidate(Weight.GENERAL, look, pid, line)
            candidate.exception = exception.type if exception.type != "Error" else None
            candidate.message = exception.text
            return True
        if look.level in roles.LOUD_LEVELS or (GENERAL_ERROR.search(bare) and not bare.startswith(NOT_SENTENCES)):
            self._candidate(Weight.GENERAL, look, pid, line).message = bare
            return True
        return False

    def _kernel(self, text: str, line: Line) -> None:
        """Faults that the kernel tells."""
        xid = forms.XID.search(text) or forms.FALLEN.search(text)
        found = forms.form_of(text) if xid is None else None
        if xid is None and found is None:
            return
        from dflashtui.diagnosis.kernel import kernel_candidate

        self._order += 1
        self._version += 1
        candidate = kernel_candidate(self._order, text, line)
        if candidate:
            self._run.add(candidate)

    def _manager(self, text: str, line: Line) -> None:
        """What the service manager says."""
        named = manager.OF_UNIT.match(text)
        said = named["text"] if named else text
        self._version += 1
        if manager.STARTING.match(said):
            if self._run.is_over:
                self._new_run(line)
            return
        self._run.is_over |= manager.OVER.search(said) is not None
        if manager.STOPPING.match(said) and self._run.stopped_at is None and not self._run.is_dead:
            self._run.stopped_at = self._order
            return
        self._manager_word(said, named["unit"] if named else None, line)

    def _manager_word(self, said: str, unit: str | None, line: Line) -> None:
        for word in manager.WORDS:
            match = word.pattern.search(said)
            if match is None:
                continue
            candidate = self._candidate(word.weight, Stripped(said), line.pid, line._replace(unit=line.unit or unit))
            candidate.message, candidate.kind = said, word.kind
            groups = match.groupdict()
            if groups.get("code"):
                candidate.kind = manager.kind_of_exit(groups["code"], int(groups["status"]))
            self._run.is_dead |= groups.get("code") != "exited" or groups.get("status") != "0"
            return


def _is_of_manager(look: Stripped, line: Line) -> bool:
    """Written by the manager, or by its child that could not become the service: `(python3)[71]: x.service: Failed at step…`."""
    if line.origin == "manager" or (look.identifier in MANAGERS and look.pid in {1, None}):
        return True
    name = look.identifier or line.identifier or ""
    if not (name.startswith("(") or name.endswith(".service")):
        return False
    said = manager.OF_UNIT.match(look.text)
    return said is not None and any(word.pattern.match(said["text"]) for word in manager.WORDS)


def diagnose_lines(lines: Iterable[Line]) -> Verdict:
    """The verdict on a log that is complete."""
    diagnosis = Diagnosis()
    for line in lines:
        diagnosis.feed(line)
    return diagnosis.finish()
