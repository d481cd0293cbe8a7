"""Overlays: the local files, how they stand on a host, and what speaks against laying them."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dflashtui.errors import ConfigError, DecodeError
from dflashtui.model.base import Value
from dflashtui.model.overlay import OverlayFile, OverlayLook, OverlayState
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.config.model import Config, Overlay
    from dflashtui.source.pusher import Pusher

LARGEST_FILE_BYTES = 16 * 2**20
LARGEST_BYTES = 64 * 2**20
LEFT_OUT = frozenset({"__pycache__"})
LEFT_OUT_SUFFIXES = (".pyc", ".pyo", "~")


class OverlayFiles(Value):
    """What shall be laid over a package."""

    unit: str
    source: str
    python: str
    package: str
    version: str | None = None
    files: Mapping[str, bytes] = {}
    """By path within the package."""

    @property
    def hashes(self) -> dict[str, str]:
        """sha256 by path."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}


def overlay_files(config: Config, unit: str) -> tuple[OverlayFiles, ...]:
    """The overlays of a unit, read from their folders. Raises `ConfigError` with file and key."""
    defined = config.unit(unit)
    if defined is None or not defined.overlays:
        return ()
    where = f'{config.path or "the inventory"}: [units."{unit}"]'
    if defined.python is None:
        raise ConfigError([f"{where} has overlays but no python: say whose package they are laid over"])
    python = defined.python
    return tuple(
        OverlayFiles(
            unit=unit,
            source=str(one.source),
            python=python,
            package=one.package,
            version=one.version,
            files=_read(one, where),
        )
        for one in defined.overlays
    )


def _read(overlay: Overlay, where: str) -> dict[str, bytes]:
    if not overlay.source.is_dir():
        raise ConfigError([f"{where} overlays: source: {overlay.source} is no folder"])
    found: dict[str, bytes] = {}
    left = LARGEST_BYTES
    for path in _paths(overlay.source, where):
        data = path.read_bytes()
        left -= len(data)
        if left < 0 or len(data) > LARGEST_FILE_BYTES:
            raise ConfigError([f"{where} overlays: {printable(str(path))}: too large for an overlay (64 MiB in all)"])
        found[path.relative_to(overlay.source).as_posix()] = data
    if not found:
        raise ConfigError([f"{where} overlays: source: {overlay.source} has no files"])
    return found


def _paths(source: Path, where: str) -> Iterator[Path]:
    """Regular files, in order; what Python makes by itself and hidden files are left out, links refused."""
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or name.endswith(LEFT_OUT_SUFFIXES):
                continue
            if not stat.S_ISREG(path.lstat().st_mode):
                raise ConfigError(
                    [f"{where} overlays: {printable(str(path))}: is a link or no file; only files are laid"]
                )
            yield path


async def look_at_overlay(pusher: Pusher, overlay: OverlayFiles) -> OverlayLook:
    """How it stands on the pusher's host. Raises `PushRefused`, `TransportLost`."""
    found = await pusher.look_overlay(overlay.python, overlay.package, tuple(overlay.files))
    try:
        return overlay_look(found, overlay, pusher.host)
    except (KeyError, TypeError, AttributeError, ValidationError) as wrong:
        raise DecodeError("pusher", str(found)[:200].encode()) from wrong


def overlay_look(found: Mapping[str, Any], overlay: OverlayFiles, host: str) -> OverlayLook:
    """The pusher's answer as a value. Pure."""
    known = found["laid_version"] == found["version"]
    laid, originals = (found["laid"], found["originals"]) if known else ({}, {})
    wanted = overlay.hashes
    return OverlayLook(
        host=host,
        unit=overlay.unit,
        package=overlay.package,
        source=overlay.source,
        folder=found["folder"],
        version=found["version"],
        named_version=overlay.version,
        laid_version=found["laid_version"] if found["laid"] else None,
        is_laid=bool(found["laid"]),
        is_writable=found["writable"],
        files=tuple(
            OverlayFile(
                name=name,
                state=_state(here, wanted.get(name), laid.get(name), originals.get(name)),
                here_sha256=here,
                wanted_sha256=wanted.get(name),
            )
            for name, here in found["files"].items()
            if name in wanted or name in laid
        ),
    )


def _state(here: str | None, wanted: str | None, laid: str | None, original: str | None) -> OverlayState:
    if wanted is None:
        return OverlayState.EXTRA if here == laid else OverlayState.LAID if here == original else OverlayState.DRIFTED
    if here == wanted:
        return OverlayState.LAID
    if laid is None:
        return OverlayState.NOT_LAID
    if here == laid:
        return OverlayState.OUTDATED
    return OverlayState.WIPED if here == original else OverlayState.DRIFTED


def overlay_refusals(look: OverlayLook) -> Iterator[str]:
    """Why it cannot be laid, whatever a person says."""
    if not look.changed:
        return
    if look.named_version is not None and look.named_version != look.version:
        yield f"{look.folder}: {look.package} {look.version} is installed, {look.source} is for {look.named_version}"
    if not look.is_writable:
        yield f"{look.folder}: may not be written to"


def overlay_doubts(look: OverlayLook) -> Iterator[str]:
    """Why laying it needs a person's word."""
    for one in look.drifted:
        yield f"{look.folder}/{one.name}: was changed by somebody since it was laid"


def overlay_notes(look: OverlayLook) -> Iterator[str]:
    """What a person should know."""
    if look.is_reinstalled:
        was, now = look.laid_version, look.version
        how = f"{was} became {now}" if was != now else f"{now} again"
        yield f"{look.folder}: {look.package} was installed anew ({how}): the overlay is gone"


def order(overlay: OverlayFiles, look: OverlayLook, *, force: bool, restores: bool) -> dict[str, Any]:
    """What the pusher is told to lay, or to take away."""
    seen = {one.name: one.here_sha256 for one in look.files}
    if restores:
        return {"restore": True, "seen": seen, "force": force}
    files = {name: base64.b64encode(data).decode() for name, data in overlay.files.items()}
    return {"files": files, "version": overlay.version, "seen": seen, "force": force}
