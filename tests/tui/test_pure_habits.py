"""Habits that the whole console keeps, read from its source: ids, colours, bindings."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual._color_constants import COLOR_NAME_TO_RGB
from textual.binding import Binding
from textual.dom import DOMNode

import dflashtui.tui
from dflashtui.tui.scopes import SCOPES

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(dflashtui.tui.__file__).parent
SOURCES = sorted(FOLDER.rglob("*.py"))
SHEETS = sorted(FOLDER.rglob("*.tcss"))
NEVER_BY_DEFAULT = {
    "ctrl+b", "ctrl+a", "ctrl+s", "ctrl+z", "ctrl+i", "ctrl+m", "ctrl+j", "ctrl+h", "ctrl+left_square_bracket",
}  # fmt: skip
"""Console conventions, part 2: multiplexers, flow control, suspend, and keys that are the same byte as another."""
HEX = re.compile(r"#(?:[0-9a-fA-F]{6}(?:[0-9a-fA-F]{2})?|[0-9a-fA-F]{3,4})\b")
FUNCTION = re.compile(r"\b(?:rgba?|hsla?)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"(?<![\w-])([a-z][a-z-]*)\s*:\s*([^;{}]+)(?=[;}])")
NAMES = (
    frozenset(COLOR_NAME_TO_RGB) | {f"bright_{name}" for name in COLOR_NAME_TO_RGB}
) - {"transparent", "ansi_default"}  # fmt: skip
"""Colours by name. Left out: what means no colour at all, and the terminal's own ground."""
FIXED_PALETTES = {"themes.py": "the defaults of roles and tones", "log/sgr.py": "the names of the sixteen of ECMA-48"}


def colours_in(values: str) -> list[str]:
    """Literal colours in the values of a style sheet or a style."""
    named = [word for word in re.findall(r"(?<![\w$#.-])[a-z_]+(?![\w-])", values) if word in NAMES]
    return [*HEX.findall(values), *FUNCTION.findall(values), *named]


def colours_of_sheet(text: str) -> list[str]:
    """Literal colours in the declarations of a style sheet."""
    found = DECLARATION.findall(COMMENT.sub("", text))
    return [colour for name, value in found if name not in {"layout", "display"} for colour in colours_in(value)]


def name_of(path: Path) -> str:
    return str(path.relative_to(FOLDER))


def test_this_looks_at_the_whole_console() -> None:
    assert {"app.py", "log/widget.py", "dialogs/menu.py"} <= {name_of(path) for path in SOURCES}
    assert {"base.tcss", "console.tcss", "log/log.tcss"} <= {name_of(path) for path in SHEETS}


@pytest.mark.parametrize(
    "values", ["#fff", "#a0b1c2", "solid red", "ansi_blue 50%", "rgb(1,2,3)", "hsl(1,2,3)", "bold magenta on $x"]
)
def test_this_sees_a_literal_colour(values: str) -> None:
    assert colours_in(values)
    assert colours_of_sheet(f"#green {{ color: {values}; }}")


@pytest.mark.parametrize("values", ["$role-bad", "$tone-match-text on $tone-match bold", "round $tone-rule", "1fr"])
def test_this_sees_no_colour_where_none_is(values: str) -> None:
    assert colours_in(values) == []
    assert colours_of_sheet(f"/* red */ #fade > .red:hover {{ width: {values}; }}") == []


@pytest.mark.parametrize("path", SHEETS, ids=name_of)
def test_no_style_sheet_names_a_colour(path: Path) -> None:
    assert colours_of_sheet(path.read_text(encoding="utf-8")) == []


def strings_of(tree: ast.AST) -> Iterator[str]:
    """Every string of a module that is no docstring or other bare word."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def colours_of_source(text: str) -> list[str]:
    """Literal colours in the style sheets and styles of a module; prose is left alone."""
    found: list[str] = []
    for value in strings_of(ast.parse(text)):
        found += colours_of_sheet(value) if "{" in value else HEX.findall(value)
        found += [value] if value.lower().split(" ")[-1] in NAMES and len(value.split()) <= 3 else []
    return found


def test_this_sees_a_literal_colour_in_python() -> None:
    for text in ('x = "#a0b1c2"', 'x = "red"', 'x = "bold on red"', 'x = "W { color: red; }"', 'x = "ansi_blue"'):
        assert colours_of_source(text), text
    for text in ('"""red"""', 'x = "the red one is bad for you"', 'x = "#hosts"', 'x = "W { color: $red; }"'):
        assert colours_of_source(text) == [], text


@pytest.mark.parametrize("path", [path for path in SOURCES if name_of(path) not in FIXED_PALETTES], ids=name_of)
def test_no_widget_names_a_colour(path: Path) -> None:
    assert colours_of_source(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", FIXED_PALETTES)
def test_no_exception_is_made_without_need(name: str) -> None:
    assert colours_of_source((FOLDER / name).read_text(encoding="utf-8"))


def ids_of(tree: ast.AST) -> Iterator[ast.expr]:
    """What is given as `id=` or set as `.id`, but for bindings: those are not parts of the document."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "Binding"):
            yield from (word.value for word in node.keywords if word.arg == "id")
        if isinstance(node, ast.Assign) and any(
            isinstance(to, ast.Attribute) and to.attr == "id" for to in node.targets
        ):
            yield node.value


def is_fixed(value: ast.expr) -> bool:
    """A literal, a parameter `id` that is passed on, or our own name of a class within a literal."""
    if isinstance(value, ast.JoinedStr):
        parts = [part.value for part in value.values if isinstance(part, ast.FormattedValue)]
        return all(isinstance(part, ast.Attribute) and part.attr.isupper() for part in parts)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id == "id")


def test_this_sees_an_id_that_is_made_of_a_name() -> None:
    for text in ('W(id=f"h-{host.name}")', "W(id=host.name)", "w.id = name", 'W(id="x" + unit)'):
        assert [is_fixed(value) for value in ids_of(ast.parse(text))] == [False], text
    for text in ('W(id="hosts")', "super().__init__(id=id)", 'W(id=f"view-{self.NAME}")', 'w.id = "x"'):
        assert [is_fixed(value) for value in ids_of(ast.parse(text))] == [True], text


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_id_is_made_of_a_host_or_a_unit(path: Path) -> None:
    """Dots and `@` are refused by Textual (`BadIdentifier`)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [ast.unparse(value) for value in ids_of(tree) if not is_fixed(value)] == []


def bound() -> list[tuple[str, Binding]]:
    """Every binding that the console declares, with the class that does."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(dflashtui.tui.__path__, "dflashtui.tui.")
    ]
    owners = {
        owner
        for module in modules
        for _, owner in inspect.getmembers(module, inspect.isclass)
        if owner.__module__ == module.__name__ and issubclass(owner, DOMNode) and "BINDINGS" in owner.__dict__
    }
    return [
        (f"{owner.__name__} {binding.key}", binding)
        for owner in sorted(owners, key=lambda owner: owner.__qualname__)
        for binding in Binding.make_bindings(owner.__dict__["BINDINGS"])
    ]


BOUND = bound()


def test_this_looks_at_every_binding() -> None:
    assert len(BOUND) > 100
    owners = {name.split()[0] for name, _ in BOUND}
    declaring = {scope.__name__ for scope in SCOPES if "BINDINGS" in scope.__dict__}
    assert declaring <= owners


@pytest.mark.parametrize(("name", "binding"), BOUND, ids=[name for name, _ in BOUND])
def test_a_binding_can_be_changed_and_explained(name: str, binding: Binding) -> None:
    assert binding.id, "the key map changes keys by their id"
    assert binding.tooltip.strip() or binding.description.strip()
    assert binding.key not in NEVER_BY_DEFAULT
    assert "alt+" not in binding.key


def test_an_id_means_one_action() -> None:
    actions: dict[str, set[str]] = {}
    for _, binding in BOUND:
        actions.setdefault(binding.id or "", set()).add(binding.action)
    assert {name: found for name, found in actions.items() if len(found) > 1} == {}
