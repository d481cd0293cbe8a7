"""Theme files: TOML in, Textual theme out, every mistake named at once.

Written without pydantic on purpose: the chosen theme is read before the first picture, and pydantic costs a third of
the time that the first picture may take.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from dflashtui.errors import ConfigError
from dflashtui.paths import config_folder, shared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

BASE = ("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "warning", "error", "success")
DEFAULTS = {
    "role-ok": "#86c291",
    "role-busy": "#79b4e8",
    "role-warn": "#e3b56a",
    "role-bad": "#f07a7a",
    "role-off": "#7d8895",
    "role-stale": "#8f88a8",
    "tone-dim": "#7d8895",
    "tone-accent": "#8fbbe8",
    "tone-title": "#e8eef5",
    "tone-rule": "#2b343e",
    "tone-cursor": "#24384c",
    "tone-cursor-blurred": "#1d242c",
    "tone-marked": "#2b2a3d",
    "tone-header": "#1a2027",
    "tone-protected": "#4a2327",
    "tone-badge": "#e3b56a",
    "tone-badge-text": "#14181d",
    "tone-match": "#e3b56a",
    "tone-match-text": "#14181d",
}
"""Roles and tones of a theme that does not name them; also the list of those that exist."""
ROLES = tuple(name for name in DEFAULTS if name.startswith("role-"))
TONES = tuple(name for name in DEFAULTS if name.startswith("tone-"))
SECTIONS = {"colors": BASE, "roles": ROLES, "tones": TONES}


def theme_folders() -> tuple[Path, ...]:
    """Where theme files lie: the person's own win over the shipped ones."""
    return shared("themes"), config_folder() / "themes"


def find_theme(name: str, folders: Iterable[Path]) -> Theme | None:
    """The theme of that name. Raises `ConfigError` when its file cannot be used."""
    for folder in reversed(tuple(folders)):
        path = folder / f"{name}.toml"
        if path.is_file():
            return read_theme(path)
    return None


def all_themes(folders: Iterable[Path]) -> tuple[tuple[Theme, ...], tuple[str, ...]]:
    """Every theme that can be used, and what is wrong with the files that cannot."""
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            theme = read_theme(path)
        except ConfigError as error:
            problems += error.problems
        else:
            themes[theme.name] = theme
    return tuple(themes.values()), tuple(problems)


def read_theme(path: Path) -> Theme:
    """The theme in a file; its name is the file's. Raises `ConfigError`."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError([f"{path}: {error}"]) from error
    problems = [f"{path}: {problem}" for problem in problems_of(said)]
    if problems:
        raise ConfigError(problems)
    return theme_of(path.stem, said)


def theme_of(name: str, said: Mapping[str, Any]) -> Theme:
    """A theme from what its file says, which was found to be without fault."""
    variables = {**said.get("variables", {})}
    for section in ("roles", "tones"):
        prefix = section.removesuffix("s")
        variables |= {f"{prefix}-{key}": value for key, value in said.get(section, {}).items()}
    return Theme(
        name=name, dark=said.get("dark", True), ansi=said.get("ansi", False), variables=variables, **said["colors"]
    )


def problems_of(said: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong, in sentences."""
    known = {"dark", "ansi", "variables", *SECTIONS}
    found = [f"unknown key '{key}'; expected one of {', '.join(sorted(known))}" for key in said if key not in known]
    found += [f"'{key}' must be true or false" for key in ("dark", "ansi") if not isinstance(said.get(key, True), bool)]
    for section, names in SECTIONS.items():
        found += _section_problems(section, said.get(section, {}), names)
    found += _variable_problems(said.get("variables", {}))
    colors = said.get("colors", {})
    if isinstance(colors, dict) and "primary" not in colors:
        found.append("colors.primary is missing")
    return found


def _variable_problems(said: object) -> list[str]:
    if not isinstance(said, dict):
        return ["'variables' must be a table: [variables]"]
    return [
        f"variables.{key} = {value!r} must be a string" for key, value in said.items() if not isinstance(value, str)
    ]


def _section_problems(section: str, said: object, names: Iterable[str]) -> list[str]:
    if not isinstance(said, dict):
        return [f"'{section}' must be a table: [{section}]"]
    prefix = {"roles": "role-", "tones": "tone-"}.get(section, "")
    allowed = [name.removeprefix(prefix) for name in names]
    unknown = [
        f"unknown key '{section}.{key}'; expected one of {', '.join(allowed)}" for key in said if key not in allowed
    ]
    return unknown + [
        f"{section}.{key} = {value!r} is not a colour; expected #rrggbb or a name such as ansi_blue"
        for key, value in said.items()
        if not is_colour(value)
    ]


def is_colour(value: object) -> bool:
    """Whether Textual knows this colour."""
    try:
        return isinstance(value, str) and bool(Color.parse(value))
    except ColorParseError:
        return False
