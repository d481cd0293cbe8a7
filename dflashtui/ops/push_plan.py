"""Whether a text may take the place of what stands on a host, by what was seen there. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from dflashtui.model.base import Value
from dflashtui.unitfile import advice_keys, advice_syntax
from dflashtui.unitfile.look import Look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.push import HostFile, UnitLook

DEV_NULL = "/dev/null"
USUAL_MODE = 0o644
RUNNING = frozenset({"active", "activating", "reloading", "refreshing", "deactivating"})
NOT_FILES = {
    "folder": "is a folder, not a file: look what it is for, and remove it",
    "fifo": "is a FIFO, not a file: it was not opened; remove it",
    "other": "is no regular file: remove it",
}


class PushPlan(Value):
    """What a push has to do, and what speaks against it."""

    refusals: tuple[str, ...] = ()
    """Why it cannot be done, whatever a person says."""
    doubts: tuple[str, ...] = ()
    """Why it needs a person's word."""
    notes: tuple[str, ...] = ()
    writes: bool
    """The file is not what it shall be."""
    reloads: bool
    """The manager has something to take in."""

    @property
    def has_work(self) -> bool:
        """Whether anything is to be done at all."""
        return self.writes or self.reloads


def sha256(text: str) -> str:
    """Of a text as it would lie on a host."""
    return hashlib.sha256(text.encode()).hexdigest()


def push_plan(look: UnitLook, text: str | None, after: str | None) -> PushPlan:
    """`text`: what shall stand there, where it is known; `after`: its sha256, `None`: no file."""
    writes = look.target.sha256 != after or look.target.kind not in {"file", "absent"}
    reloads = writes or look.needs_reload is True
    hidden = look.load_state == "masked" or any(one.wins for one in look.elsewhere)
    return PushPlan(
        refusals=tuple(_refusals(look)) if reloads or hidden else (),
        doubts=tuple(_doubts(look, text, after)) if writes else (),
        notes=(*_oddities(look.unit, text or ""), *_notes(look, after, writes=writes)),
        writes=writes,
        reloads=reloads,
    )


def _refusals(look: UnitLook) -> Iterator[str]:
    target = look.target
    if target.kind == "link":
        yield _link(look)
    elif target.kind in NOT_FILES:
        yield f"{target.path}: {NOT_FILES[target.kind]}"
    yield from _same_name(look)
    if words := _closed_folder(look):
        yield f"{look.folder}: {words}"
    if not look.can_verify:
        yield "systemd-analyze is not installed there: without it nothing is verified, so nothing is pushed"
    if look.manager_trouble:
        yield f"the service manager cannot be asked: {look.manager_trouble}"


def _same_name(look: UnitLook) -> Iterator[str]:
    for one in look.elsewhere:
        if one.is_masked:
            yield f"{one.path}: masks the unit: unmask it first (systemctl unmask --runtime {look.unit})"
        elif one.path.startswith("/run/"):
            yield f"{one.path}: a unit of this name is there, made by a program: stop it, or name this one otherwise"


def _closed_folder(look: UnitLook) -> str | None:
    if not look.is_root and look.manager == "system":
        return 'only root may write there: set user = "root" or become = "sudo" for the host'
    if look.is_folder_read_only:
        return "the file system is read-only: mount it writable first"
    return None if look.is_folder_writable else "may not be written to"


def _link(look: UnitLook) -> str:
    path = look.target.path
    if look.target.link == DEV_NULL:
        return f"{path}: the unit is masked: dflashtui unmask {look.unit}, then push"
    return f"{path}: is a link to {look.target.link}, which is not followed: remove the link, then push"


def _doubts(look: UnitLook, text: str | None, after: str | None) -> Iterator[str]:
    yield from _changed_behind(look, after)
    yield from _covers(look)
    if text is not None:
        yield from _faults(look.unit, text)


def _changed_behind(look: UnitLook, after: str | None) -> Iterator[str]:
    """Somebody else's hand since our last push."""
    last = look.last_of_file
    if last is None or look.unfinished is not None:
        return
    entry = next((one for one in last.files if one.name == look.unit), None)
    if entry is not None and look.target.sha256 not in {entry.after, after}:
        what = "was removed" if look.target.kind == "absent" else "was changed"
        yield f"{look.target.path}: {what} by somebody since {last.action} {last.number} by {last.who} ({_day(look)})"


def _day(look: UnitLook) -> str:
    changed = look.target.changed_at
    return f"file of {changed:%Y-%m-%d %H:%M} UTC" if changed else "it is not there"


def _covers(look: UnitLook) -> Iterator[str]:
    for one in look.elsewhere:
        if not one.wins and not one.is_masked and not one.path.startswith("/run/"):
            yield f"{one.path}: a package's own unit of that name would be covered"


def _faults(unit: str, text: str) -> Iterator[str]:
    """What systemd would refuse or ignore; its own verdict on the host comes on top."""
    look = Look(text, unit)
    for rule in (*advice_syntax.RULES, *advice_keys.RULES):
        for one in rule(look):
            if one.level == "error":
                yield f"{unit}:{one.line or 1}: {one.message}; {one.remedy}"


def _oddities(unit: str, text: str) -> Iterator[str]:
    """What systemd takes, and other programs that read the file may not."""
    for one in advice_syntax.form(Look(text, unit)):
        if one.level == "note":
            yield f"{unit}:{one.line or 1}: {one.message}; {one.remedy}"


def _notes(look: UnitLook, after: str | None, *, writes: bool) -> Iterator[str]:
    if cut := look.unfinished:
        yield f"{cut.action} {cut.number} by {cut.who} was cut off: this push ends it"
    if look.holder:
        yield f"another push is under way: {look.holder}"
    if look.records_trouble:
        yield f"what is kept of earlier pushes cannot be read: {look.records_trouble}"
    for one in look.drop_ins:
        if one.is_own:
            yield f"{one.file.path} adds to it"
    if writes:
        yield from _file_notes(look, look.target)
        yield from _running_notes(look, after)


def _running_notes(look: UnitLook, after: str | None) -> Iterator[str]:
    if look.active_state in RUNNING:
        yield "it runs on without its file" if after is None else "it runs on with the old text until it is restarted"
    if after is None and look.unit_file_state == "enabled":
        yield f"it is enabled: without the file that means nothing; dflashtui disable {look.unit}"


def _file_notes(look: UnitLook, target: HostFile) -> Iterator[str]:
    if target.kind != "file":
        return
    if look.last is None and look.records is not None:
        yield f"{target.path} was not written by dflashtui: it is kept, rollback brings it back"
    if target.mode is not None and target.mode & ~USUAL_MODE:
        yield f"{target.path}: mode {target.mode:04o} becomes {target.mode & USUAL_MODE | 0o600:04o}"
    elif target.mode is not None and target.mode != USUAL_MODE:
        yield f"{target.path}: mode {target.mode:04o} is kept"
    if target.has_acl:
        yield f"{target.path}: its access list is kept; nobody but its owner may write"
    if target.names > 1:
        yield f"{target.path}: has {target.names} names (hard links): the others keep the old text"
    if look.is_root and look.manager == "system" and target.owner and not target.owner.startswith("root:"):
        yield f"{target.path}: belonged to {target.owner}, will belong to root"
