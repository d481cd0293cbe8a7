"""Advice about keys that nobody reads where they stand."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from dflashtui.unitfile.keys import INSTALL, SECTIONS, SERVICE, UNIT
from dflashtui.unitfile.look import Advice, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look
    from dflashtui.unitfile.reading import Entry

OTHER_SECTIONS = frozenset({"Socket", "Timer", "Mount", "Automount", "Swap", "Path", "Slice", "Scope"})
"""Of other kinds of units; their keys are not judged."""
OLD_PLACE = frozenset({"StartLimitInterval", "StartLimitBurst", "StartLimitAction"})
"""Read in [Service] too, for files from before systemd 230."""


def sections(look: Look) -> Iterator[Advice]:
    """Sections that systemd does not know."""
    for header in look.unit.headers:
        name = header.section
        if name in SECTIONS or name in OTHER_SECTIONS or name.startswith("X-"):
            continue
        near = get_close_matches(name, SECTIONS, n=1, cutoff=0.5)
        remedy = f"did you mean [{near[0]}]?" if near else "use [Unit], [Service] or [Install]"
        yield at(
            header, "unknown-section", "error", f"section [{name}] is unknown: systemd ignores what is in it", remedy
        )


def keys(look: Look) -> Iterator[Advice]:
    """Keys in the wrong section, and keys that do not exist."""
    for entry in look.unit.entries:
        known = SECTIONS.get(entry.section)
        if known is None or entry.key.startswith("X-"):
            continue
        if entry.section == "Service" and entry.key in OLD_PLACE:
            message = f"{entry.key}= has its place in [Unit]; here it is read only for old files' sake"
            yield at(entry, "old-place", "note", message, "move it to [Unit]")
        elif entry.key not in known:
            yield _unknown(entry)


def _unknown(entry: Entry) -> Advice:
    for name, known in SECTIONS.items():
        if entry.key in known:
            message = f"{entry.key}= is ignored in [{entry.section}]"
            return at(entry, "wrong-section", "error", message, f"move it to [{name}]")
    near = get_close_matches(entry.key, UNIT | SERVICE | INSTALL, n=1, cutoff=0.8)
    if near:
        message = f"{entry.key}= is unknown: systemd ignores it"
        return at(entry, "unknown-key", "error", message, f"did you mean {near[0]}=?")
    message = f"{entry.key}= is not known to systemd 252: where it is unknown, it is ignored"
    return at(entry, "unknown-key", "warning", message, "look it up in systemd.directives(7) on the host")


RULES = (sections, keys)
