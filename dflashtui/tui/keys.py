# ruff: noqa: E501 - tables read best as such
"""The key map: what the configuration may change, and what it may not do to it. Pure but for the binding tables."""

from __future__ import annotations

import difflib
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingsMap
from textual.keys import Keys

from dflashtui.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.dom import DOMNode

LONG_NAMES = {
    "?": "question_mark", "!": "exclamation_mark", ":": "colon", "-": "minus", "+": "plus", "_": "underscore", "/": "slash",
    "[": "left_square_bracket", "]": "right_square_bracket", "@": "at", "&": "ampersand", "=": "equals_sign", "'": "apostrophe",
}  # fmt: skip
SHORT_NAMES = {long: short for short, long in LONG_NAMES.items()} | {
    "pagedown": "pgdn", "pageup": "pgup", "escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→",
}  # fmt: skip


KEY_NAMES = frozenset(key.value for key in Keys if not key.value.startswith("<"))
MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "meta", "hyper"})


def shown_key(key: str) -> str:
    """A key as it is written on it."""
    return SHORT_NAMES.get(key, key)


def bindings_of(scope: type[DOMNode]) -> dict[str, list[str]]:
    """Binding ids of a scope and their keys, by default; those of the classes it is made from included."""
    found: dict[str, list[str]] = {}
    for owner in reversed(scope.__mro__):
        for binding in Binding.make_bindings(owner.__dict__.get("BINDINGS", ())):
            if binding.id:
                keys = found.setdefault(binding.id, [])
                if binding.key not in keys:
                    keys.append(binding.key)
    return found


def described(scope: type[DOMNode]) -> dict[str, tuple[list[str], str]]:
    """Binding ids of a scope with their default keys and what they do."""
    words: dict[str, str] = {}
    for owner in scope.__mro__:
        for binding in Binding.make_bindings(owner.__dict__.get("BINDINGS", ())):
            if binding.id:
                words.setdefault(binding.id, binding.tooltip or binding.description)
    return {name: (keys, words[name]) for name, keys in bindings_of(scope).items()}


def check_keymap(keymap: Mapping[str, str], scopes: Iterable[type[DOMNode]]) -> None:
    """Raises `ConfigError` that names every unknown action and every key that would do two things in one scope."""
    known = {scope: bindings_of(scope) for scope in scopes}
    ids = {binding for bindings in known.values() for binding in bindings}
    usable = {name: keys for name, keys in keymap.items() if all(key.strip() for key in keys.split(","))}
    problems = [_unknown(name, ids) for name in keymap if name not in ids]
    problems += [
        f"console.keymap: {name} = '{keys}' lacks a key beside a comma; expected keys such as 'f5,ctrl+r', "
        "and the word 'comma' for the key ','"
        for name, keys in keymap.items()
        if name not in usable
    ]
    problems += [_no_key(name, key) for name, keys in usable.items() for key in keys.split(",") if not is_key(key)]
    for bindings in known.values():
        problems += _clashes(bindings, usable)
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


def is_key(key: str) -> bool:
    """Whether a terminal has such a key: a character or its name, a key by name, each with or without modifiers."""
    *modifiers, base = key.strip().split("+") if key.strip() != "+" else ("+",)
    is_named = base in KEY_NAMES or base in LONG_NAMES.values()
    return set(modifiers) <= MODIFIERS and (is_named or (len(base) == 1 and base.isprintable()) or _is_character(base))


def _is_character(name: str) -> bool:
    """`left_square_bracket`: as Textual writes Unicode's names."""
    with suppress(KeyError):
        return bool(unicodedata.lookup(name.replace("_", " ")))
    return False


def _no_key(name: str, key: str) -> str:
    near = difflib.get_close_matches(key.strip().split("+")[-1], KEY_NAMES, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "expected keys such as 'f5', 'ctrl+r', 'pageup', 'x'"
    return f"console.keymap: {name}: no key '{key.strip()}'; {hint}"


def _unknown(name: str, ids: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, ids, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "dflashtui's help (?) lists them"
    return f"console.keymap: no action '{name}'; {hint}"


def _clashes(bindings: Mapping[str, list[str]], keymap: Mapping[str, str]) -> list[str]:
    owners: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in bindings.items():
        for key in normal_keys(keymap[name]) if name in keymap else keys:
            owner = owners.setdefault(key, name)
            if owner != name:
                problems.append(f"console.keymap: the key '{shown_key(key)}' is given to both '{owner}' and '{name}'")
    return problems


def normal_keys(keys: str) -> list[str]:
    """Textual's names of comma-separated keys."""
    return list(BindingsMap([Binding(keys, "x")]).key_to_bindings)
