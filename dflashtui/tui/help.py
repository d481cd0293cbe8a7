"""The help: keys of the pane that has them, all keys, and what the signs mean. Pure but for the binding tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.tui.details.parts import heading
from dflashtui.tui.keys import shown_key
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.binding import ActiveBinding

KEYS_WIDTH = 18
CODE = re.compile(r"(`[^`]+`)")
SIGNS = (
    ("●", "ok", "ready: it answers"),
    ("●", "ok dim", "active: whether it answers is not known"),
    ("◐", "busy", "starting, loading, stopping, connecting"),
    ("↻", "busy", "reloading"),
    ("▲", "warn", "sick: active but not answering"),
    ("▲", "bad", "restarted again and again"),
    ("×", "bad", "failed; lost GPU; login refused; host key changed"),
    ("○", "off", "inactive; GPU idle"),
    ("◌", "warn", "masked, not found, host key unknown, outcome unknown"),
    ("⊘", "stale", "no contact"),
    ("–", "dim", "unknown, which is not zero"),
)
GPU_SIGNS = (
    ("▁▂▃▄▅▆▇█", "ok", "utilisation of one GPU, from 0 to 100 %; the colour is its health"),
    ("×", "bad", "lost"),
    ("?", "off", "not read"),
)


def marked_up(text: str) -> tuple[Cell, ...]:
    """Help text of a widget: `keys` between backticks are shown as such."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return tuple(
        tuple((part.strip("`"), "accent" if part.startswith("`") else "") for part in CODE.split(line) if part)
        for line in lines
    )


def working_keys(active: Iterable[ActiveBinding]) -> tuple[Cell, ...]:
    """What works now, in the order in which keys are looked for: the pane first."""
    keys: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for one in active:
        binding = one.binding
        if one.enabled and binding.id and (binding.tooltip or binding.description):
            keys.setdefault(binding.action, []).append(shown_key(binding.key))
            words.setdefault(binding.action, binding.tooltip or binding.description)
    return tuple(_key_line(keys[action], words[action]) for action in keys)


def all_keys(scopes: Mapping[str, Iterable[tuple[list[str], str]]]) -> tuple[Cell, ...]:
    """Every key of every part, whether it works now or not."""
    lines: list[Cell] = []
    for title, pairs in scopes.items():
        lines += [*heading(title), *(_key_line(keys, words) for keys, words in pairs)]
    return tuple(lines[1:])


def _key_line(keys: Iterable[str], words: str) -> Cell:
    return ((f"{'  '.join(keys):<{KEYS_WIDTH}} ", "accent"), (words, ""))


def signs() -> tuple[Cell, ...]:
    """The legend."""
    return (
        cell("states", "title"),
        *(((f"{glyph:<10}", role), (words, "")) for glyph, role, words in SIGNS),
        EMPTY,
        cell("GPUs", "title"),
        *(((f"{glyph:<10}", role), (words, "")) for glyph, role, words in GPU_SIGNS),
    )
