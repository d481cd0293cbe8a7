"""What would change, layer by layer: rendered, on disk, loaded by the manager, running. Pure."""

from __future__ import annotations

import difflib
from enum import StrEnum
from typing import TYPE_CHECKING

from dflashtui.model.base import Value
from dflashtui.ops.masked_text import masked_lines
from dflashtui.ops.push_plan import sha256
from dflashtui.text import human_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dflashtui.model.overlay import OverlayLook
    from dflashtui.model.push import HostFile, UnitLook
    from dflashtui.ops.render import Rendered

CONTEXT_LINES = 3


class Layer(StrEnum):
    """A place where a unit's text is, and the next one that it goes to."""

    DISK = "on disk"
    LOADED = "loaded"
    RUNNING = "running"
    OVERLAY = "overlay"


class LayerState(StrEnum):
    """How a layer compares with the one before it."""

    SAME = "same"
    DIFFERS = "differs"
    ABSENT = "absent"
    """There is none: no file, not loaded, not running."""
    UNKNOWN = "unknown"


class LayerDiff(Value):
    """One layer against the one before it."""

    layer: Layer
    state: LayerState
    words: str
    """What is so, in a sentence that is the same for all hosts of which the same is so."""
    lines: tuple[str, ...] = ()
    """Unified diff, secrets masked; not yet `printable()`. Empty where only the fact is known, not the text."""
    age: str | None = None
    """Since when, in words; of this host alone."""


class UnitDiff(Value):
    """One unit on one host."""

    host: str
    unit: str
    path: str
    sha256: str | None
    """Of the file on disk: what a confirmation is bound to."""
    layers: tuple[LayerDiff, ...]
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether any layer is not what the one before it is."""
        return any(one.state in {LayerState.DIFFERS, LayerState.UNKNOWN} or _is_missing(one) for one in self.layers)

    @property
    def key(self) -> tuple[object, ...]:
        """Hosts of which this is equal can be shown as one."""
        return (
            self.unit,
            self.path,
            tuple((one.layer, one.state, one.words, one.lines) for one in self.layers),
            self.notes,
        )


def _is_missing(layer: LayerDiff) -> bool:
    return layer.layer is Layer.DISK and layer.state is LayerState.ABSENT


class DiffGroup(Value):
    """Hosts with the same difference; `diffs` has one for each."""

    hosts: tuple[str, ...]
    diffs: tuple[UnitDiff, ...]

    @property
    def first(self) -> UnitDiff:
        """What stands for all of them."""
        return self.diffs[0]


def grouped(diffs: Iterable[UnitDiff]) -> tuple[DiffGroup, ...]:
    """Identical differences together, in the order of their first hosts."""
    found: dict[tuple[object, ...], list[UnitDiff]] = {}
    for one in diffs:
        found.setdefault(one.key, []).append(one)
    return tuple(DiffGroup(hosts=tuple(one.host for one in same), diffs=tuple(same)) for same in found.values())


def unit_diff(rendered: Rendered, look: UnitLook, overlays: Sequence[OverlayLook] = ()) -> UnitDiff:
    """All layers of one unit on one host."""
    return UnitDiff(
        host=look.host,
        unit=look.unit,
        path=look.target.path,
        sha256=look.target.sha256,
        layers=(
            _disk(rendered, look),
            *_drop_ins(look),
            _loaded(look),
            _running(look),
            *(_overlay(one) for one in overlays),
        ),
        notes=tuple(_notes(look)),
    )


def text_diff(old: str | None, new: str | None, old_name: str, new_name: str) -> tuple[str, ...]:
    """A unified diff with secrets masked; `None`: no file. Lines are compared before they are masked."""
    before, after = (old or "").split("\n"), (new or "").split("\n")
    hidden = {}
    for line, shown in zip((*before, *after), (*masked_lines(before), *masked_lines(after)), strict=True):
        if shown != line or line not in hidden:
            hidden[line] = shown
    names = ("/dev/null" if old is None else old_name, "/dev/null" if new is None else new_name)
    head, *body = list(difflib.unified_diff(_whole(old), _whole(new), *names, n=CONTEXT_LINES, lineterm="")) or [""]
    if not head:
        return ()
    plus, *rest = body
    return (head, plus, *(line if line.startswith("@@") else line[0] + hidden.get(line[1:], line[1:]) for line in rest))


def _whole(text: str | None) -> list[str]:
    """Lines; a missing newline at the end is a line of its own, as diff(1) says it."""
    if not text:
        return []
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else [*lines, "\\ No newline at end of file"]


def _disk(rendered: Rendered, look: UnitLook) -> LayerDiff:
    target = look.target
    if target.kind == "absent":
        lines = text_diff(None, rendered.text, target.path, _name(rendered))
        return LayerDiff(layer=Layer.DISK, state=LayerState.ABSENT, words=f"{target.path} is not there", lines=lines)
    if target.kind != "file" or target.text is None:
        words = f"{target.path} {_no_text(target)}"
        return LayerDiff(layer=Layer.DISK, state=LayerState.DIFFERS, words=words)
    if target.sha256 == sha256(rendered.text):
        return LayerDiff(layer=Layer.DISK, state=LayerState.SAME, words=f"{target.path} is as rendered")
    words = f"{target.path} is not as rendered" + (_by_whom(look) or "")
    lines = text_diff(target.text, rendered.text, target.path, _name(rendered))
    return LayerDiff(layer=Layer.DISK, state=LayerState.DIFFERS, words=words, lines=lines)


def text_change(look: UnitLook, new: str | None, name: str) -> UnitDiff:
    """The difference that a roll-back makes on disk. `new`: the kept text; `None`: the file goes."""
    old = look.target.text if look.target.kind == "file" else None
    words = f"{look.target.path} becomes {name}" if new is not None else f"{look.target.path} is removed"
    lines = text_diff(old, new, look.target.path, name)
    layer = LayerDiff(layer=Layer.DISK, state=LayerState.DIFFERS, words=words, lines=lines)
    target = look.target
    return UnitDiff(host=look.host, unit=look.unit, path=target.path, sha256=target.sha256, layers=(layer,))


def _name(rendered: Rendered) -> str:
    return f"{rendered.unit} ({rendered.origin})"


def _no_text(target: HostFile) -> str:
    if target.kind == "link":
        return "is masked (a link to /dev/null)" if target.link == "/dev/null" else f"is a link to {target.link}"
    return target.trouble or f"is a {target.kind}"


def _by_whom(look: UnitLook) -> str | None:
    last = look.last_of_file
    if last is None:
        return None if look.records is None else "; it was not written by dflashtui"
    if look.target.sha256 in {one.after for one in last.files}:
        return None
    return f"; it was changed on the host since {last.action} {last.number} by {last.who}"


def _drop_ins(look: UnitLook) -> Iterator[LayerDiff]:
    for one in look.drop_ins:
        if one.is_own:
            lines = text_diff(None, one.file.text or "", "/dev/null", one.file.path)
            words = f"{one.file.path} adds to the unit" + ("" if one.is_loaded else "; it is not loaded yet")
            yield LayerDiff(layer=Layer.DISK, state=LayerState.DIFFERS, words=words, lines=lines)


def _loaded(look: UnitLook) -> LayerDiff:
    if look.manager_trouble or look.load_state is None:
        words = look.manager_trouble or "the manager cannot load a template without an instance"
        state = LayerState.UNKNOWN if look.manager_trouble else LayerState.ABSENT
        return LayerDiff(layer=Layer.LOADED, state=state, words=words)
    if look.load_state != "loaded":
        return _not_loaded(look)
    if look.fragment_path and look.fragment_path != look.target.path and look.target.kind != "absent":
        words = f"the manager has loaded {look.fragment_path} in its place"
        return LayerDiff(layer=Layer.LOADED, state=LayerState.DIFFERS, words=words)
    if look.needs_reload:
        known = look.texts.get(look.loaded_sha256 or "")
        name = "loaded, as pushed earlier"
        lines = text_diff(known, look.target.text, name, look.target.path) if known is not None else ()
        words = "the manager has not read the change on disk: daemon-reload is due"
        return LayerDiff(layer=Layer.LOADED, state=LayerState.DIFFERS, words=words, lines=lines)
    return LayerDiff(layer=Layer.LOADED, state=LayerState.SAME, words="the manager has loaded what is on disk")


def _not_loaded(look: UnitLook) -> LayerDiff:
    state = LayerState.ABSENT if look.load_state == "not-found" else LayerState.DIFFERS
    if look.load_state == "not-found" and look.target.kind == "file":
        state = LayerState.DIFFERS
    why = f" ({look.load_error})" if look.load_error and look.load_state != "not-found" else ""
    words = f"the manager has not loaded it: {look.load_state}{why}"
    return LayerDiff(layer=Layer.LOADED, state=state, words=words)


def _running(look: UnitLook) -> LayerDiff:
    """An older text runs on if the file changed after the run began, by the host's own clock."""
    if look.started_at is None:
        return LayerDiff(layer=Layer.RUNNING, state=LayerState.ABSENT, words="it does not run")
    age = f"started {human_span((look.at - look.started_at).total_seconds())} ago"
    changed = [one.changed_at for one in (look.target, *(one.file for one in look.drop_ins)) if one.changed_at]
    is_older = look.target.kind == "absent" or (bool(changed) and look.started_at < max(changed))
    if not is_older:
        words = "it runs with what is loaded"
        return LayerDiff(layer=Layer.RUNNING, state=LayerState.SAME, words=words, age=age)
    known = look.texts.get(look.running_sha256 or "")
    lines = (
        text_diff(known, look.target.text, "running, as pushed earlier", look.target.path) if known is not None else ()
    )
    return LayerDiff(layer=Layer.RUNNING, state=LayerState.DIFFERS, words=_older(look), lines=lines, age=age)


def _older(look: UnitLook) -> str:
    if look.target.kind == "absent":
        return "it runs on without its file"
    before = (
        "before the last reload" if look.reloaded_at and look.started_at and look.started_at < look.reloaded_at else ""
    )
    return f"it was started {before or 'before the file was changed'}: it runs with an older text until it is restarted"


def _overlay(look: OverlayLook) -> LayerDiff:
    counts = [f"{one.name} {one.state.value}" for one in look.changed]
    name = f"{look.source} over {look.folder}"
    if look.is_reinstalled:
        words = f"{name}: wiped by a reinstall of {look.package} {look.version}"
        return LayerDiff(layer=Layer.OVERLAY, state=LayerState.DIFFERS, words=words, lines=())
    if counts:
        return LayerDiff(layer=Layer.OVERLAY, state=LayerState.DIFFERS, words=f"{name}: {', '.join(counts)}")
    return LayerDiff(layer=Layer.OVERLAY, state=LayerState.SAME, words=f"{name}: all {len(look.files)} files are laid")


def _notes(look: UnitLook) -> Iterator[str]:
    if cut := look.unfinished:
        yield f"{cut.action} {cut.number} by {cut.who} was cut off: the next push or rollback ends it"
    if look.holder:
        yield f"a push is under way: {look.holder}"
    if look.records_trouble:
        yield f"what is kept of earlier pushes cannot be read: {look.records_trouble}"
    for one in look.elsewhere:
        what = "masks the unit" if one.is_masked else "is preferred to it" if one.wins else "is covered by it"
        yield f"{one.path}: the same name; it {what}"
    for drop_in in look.drop_ins:
        if not drop_in.is_own:
            yield f"{drop_in.file.path} adds to all units of its kind"
