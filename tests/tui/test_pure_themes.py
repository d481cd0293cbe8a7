"""Theme files: the shipped ones can be read by everybody, broken ones are told whole."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color

from dflashtui.errors import ConfigError
from dflashtui.paths import config_folder, shared
from dflashtui.tui.themes import (
    BASE,
    DEFAULTS,
    ROLES,
    SECTIONS,
    TONES,
    all_themes,
    find_theme,
    problems_of,
    read_theme,
    theme_folders,
    theme_of,
)
from tests.tui.hostile import patient, texts

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = sorted(shared("themes").glob("*.toml"))
GOOD = '[colors]\nprimary = "#8fbbe8"\n'
GROUNDS = ("background", "surface", "tone-cursor", "tone-cursor-blurred", "tone-marked", "tone-header")
TEXTS = (*ROLES, "foreground", "tone-dim", "tone-accent", "tone-title")
ON_BADGES = (("tone-badge-text", "tone-badge"), ("tone-match-text", "tone-match"), ("foreground", "tone-protected"))
LEAST_CONTRAST = 3.0
"""WCAG 2.2, 1.4.11: what is needed to tell a state; also 1.4.3 for large text."""


def colours_of(path: Path) -> dict[str, str]:
    """Every colour of a shipped theme by the name of its variable."""
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    prefixes = {"colors": "", "roles": "role-", "tones": "tone-"}
    return {prefix + key: value for section, prefix in prefixes.items() for key, value in said[section].items()}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = (part / 255 for part in Color.parse(colour).rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_there_is_a_theme_for_everybody() -> None:
    names = {path.stem for path in SHIPPED}
    assert {"dflash-dark", "dflash-light", "high-contrast", "colour-blind", "ansi16"} <= names


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_theme_is_valid_and_names_everything(path: Path) -> None:
    assert read_theme(path).name == path.stem
    assert set(colours_of(path)) == {*BASE, *ROLES, *TONES}


@pytest.mark.parametrize("path", [path for path in SHIPPED if path.stem != "ansi16"], ids=lambda path: path.stem)
def test_states_and_texts_can_be_read_on_every_ground(path: Path) -> None:
    colours = colours_of(path)
    pairs = (*((text, ground) for text in TEXTS for ground in GROUNDS), *ON_BADGES)
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < LEAST_CONTRAST} == {}


def test_high_contrast_keeps_its_promise() -> None:
    colours = colours_of(shared("themes") / "high-contrast.toml")
    assert min(contrast(colours[text], colours["background"]) for text in TEXTS) >= 7


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_roles_differ_from_each_other(path: Path) -> None:
    colours = colours_of(path)
    assert len({colours[role] for role in ROLES}) == len(ROLES)


def test_sixteen_colours_are_the_terminals_own() -> None:
    theme = read_theme(shared("themes") / "ansi16.toml")
    assert theme.ansi
    assert {value for value in colours_of(shared("themes") / "ansi16.toml").values() if value[:5] != "ansi_"} == set()
    not_colours = {name for name, value in theme.variables.items() if not value.startswith("ansi_")}
    assert not_colours <= {"input-cursor-text-style"}


def test_the_defaults_are_those_of_the_default_theme() -> None:
    colours = colours_of(shared("themes") / "dflash-dark.toml")
    assert {name: colours[name] for name in DEFAULTS} == DEFAULTS


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_mistakes_are_told_at_once_by_file_place_and_what_was_expected(tmp_path: Path) -> None:
    text = (
        'dark = "yes"\nnovel = 1\n[colors]\nsecondary = "no colour"\n[roles]\nfine = "#ffffff"\nbad = 7\n'
        "[tones]\ncursor = '#12'\n[variables]\nwide = 3\n"
    )
    path = written(tmp_path, "mine", text)
    with pytest.raises(ConfigError) as caught:
        read_theme(path)
    found = caught.value.problems
    assert all(problem.startswith(f"{path}: ") for problem in found)
    said = "\n".join(found)
    for words in (
        "unknown key 'novel'; expected one of ansi, colors, dark",
        "'dark' must be true or false",
        "colors.primary is missing",
        "colors.secondary = 'no colour' is not a colour; expected #rrggbb",
        "unknown key 'roles.fine'; expected one of ok, busy, warn, bad, off, stale",
        "roles.bad = 7 is not a colour",
        "tones.cursor = '#12' is not a colour",
        "variables.wide = 3 must be a string",
    ):
        assert words in said
    assert len(found) == 8


@pytest.mark.parametrize("section", [*SECTIONS, "variables"])
@pytest.mark.parametrize("value", ["3", '"x"', "[1]", "true"])
def test_a_section_that_is_no_table(tmp_path: Path, section: str, value: str) -> None:
    path = written(tmp_path, "mine", f"{section} = {value}\n" + (GOOD if section != "colors" else ""))
    with pytest.raises(ConfigError, match=rf"'{section}' must be a table: \[{section}\]"):
        read_theme(path)


@pytest.mark.parametrize("data", [b"[colors", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_what_is_no_toml_names_the_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"mine\.toml: "):
        read_theme(path)


anything = st.recursive(
    st.booleans() | st.integers() | texts | st.sampled_from(["#ffffff", "ansi_blue", "auto", "red"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts | st.sampled_from(["ok", "dim"]), inner),
    max_leaves=6,
)


@patient
@given(st.dictionaries(st.sampled_from(["dark", "ansi", "variables", *SECTIONS]) | texts, anything, max_size=6))
def test_whatever_a_file_says_is_told(said: dict[str, Any]) -> None:
    problems = problems_of(said)
    assert all(problems)
    assert problems or theme_of("x", said).primary == said["colors"]["primary"]


def test_a_persons_own_theme_wins_and_a_broken_one_is_told(tmp_path: Path) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    written(shipped, "one", GOOD)
    written(shipped, "two", GOOD)
    written(own, "one", GOOD.replace("#8fbbe8", "#010203"))
    broken = written(own, "broken", "[colors]\n")
    found = find_theme("one", (shipped, own))
    assert found is not None
    assert found.primary == "#010203"
    themes, problems = all_themes((shipped, own))
    assert {theme.name: theme.primary for theme in themes} == {"one": "#010203", "two": "#8fbbe8"}
    assert problems == (f"{broken}: colors.primary is missing",)
    with pytest.raises(ConfigError):
        find_theme("broken", (shipped, own))
    assert find_theme("none", (shipped, own)) is None


def test_a_theme_needs_only_its_first_colour(tmp_path: Path) -> None:
    theme = read_theme(written(tmp_path, "small", GOOD + '[roles]\nok = "ansi_green"\n[tones]\ndim = "#777777"\n'))
    assert (theme.name, theme.dark, theme.ansi) == ("small", True, False)
    assert theme.variables == {"role-ok": "ansi_green", "tone-dim": "#777777"}


def test_themes_are_looked_for_beside_the_package_then_in_the_persons_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert theme_folders() == (shared("themes"), config_folder() / "themes")
    assert config_folder() == tmp_path / "dflashtui"
