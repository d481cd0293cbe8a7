"""The names that a module has once it was imported, read off its text."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from typing import Any, AnyStr, Iterable, Iterator

from dflashtui.survey.conditions import dotted

DYNAMIC = ("globals(", "locals(", "vars(", "exec(", "sys.modules[", "_convert")
CALLED = re.compile(r"(?<![\w.])(?:globals|locals|vars|exec)\(|\bsys\.modules\[|_convert_?\(")
"""A text without any of these makes no names but by statements."""
LAST_WORD = re.compile(r"\w+\Z")
LONGEST_NAME = 80
OWN_NAMES = frozenset(
    ("__name__", "__doc__", "__file__", "__path__", "__spec__", "__loader__", "__package__", "__dict__", "__builtins__")
)


class Bindings:
    """What statements bind; fed one statement after the other by whoever walks the text."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.own: set[str] = set()
        """Bound by `from . import x`: in a package that says nothing but that there should be a submodule."""
        self.stars: list[list[Any]] = []
        self.listed: list[str] | None = None
        """`__all__`, as far as it is written out."""
        self.is_list_whole = True

    def take(self, statement: ast.stmt) -> None:
        """One statement of the module's own level; its blocks are taken by themselves."""
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.names.add(statement.name)
        elif isinstance(statement, ast.Import):
            self.names.update(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            self._from(statement)
        elif isinstance(statement, ast.Delete):
            self.names.difference_update(*map(_targets, statement.targets))
        else:
            self._assigned(statement)

    def _from(self, statement: ast.ImportFrom) -> None:
        for alias in statement.names:
            if alias.name == "*":
                self.stars.append([statement.module or "", statement.level])
            elif statement.level == 1 and not statement.module and not alias.asname:
                self.own.add(alias.name)
            else:
                self.names.add(alias.asname or alias.name)

    def _assigned(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self.names.update(_targets(target))
            self._list(statement.targets, statement.value, is_more=False)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self.names.update(_targets(statement.target))
            self._list([statement.target], statement.value, is_more=False)
        elif isinstance(statement, ast.AugAssign):
            self._list([statement.target], statement.value, is_more=True)
        elif isinstance(statement, (ast.For, ast.AsyncFor)):
            self.names.update(_targets(statement.target))
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            for item in statement.items:
                self.names.update(_targets(item.optional_vars) if item.optional_vars else ())
        else:
            self._elsewise(statement)

    def _elsewise(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Expr):
            self._extended(statement.value)
        elif type(statement).__name__ == "TypeAlias":
            self.names.update(_targets(getattr(statement, "name")))  # noqa: B009 - not in every Python
        elif type(statement).__name__ == "Match":
            self.names.update(_captures(statement))

    def _list(self, targets: Iterable[ast.expr], value: ast.expr, *, is_more: bool) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return
        words = _words(value)
        if words is None:
            self.is_list_whole = False
        self.listed = [*((self.listed or []) if is_more else []), *(words or ())]

    def _extended(self, value: ast.expr) -> None:
        """`__all__.extend([…])`, `__all__.append("x")`, `__all__ += …` said otherwise."""
        if not isinstance(value, ast.Call) or not dotted(value.func).startswith("__all__."):
            return
        words = _words(value.args[0]) if len(value.args) == 1 else None
        if words is None:
            self.is_list_whole = False
        self.listed = [*(self.listed or ()), *(words or ())]


def _targets(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _targets(part)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value)


def _words(value: ast.expr) -> list[str] | None:
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(found, str):
        return [found]
    return [str(one) for one in found] if isinstance(found, (list, tuple, set)) else None


def _captures(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if type(node).__name__ in {"MatchAs", "MatchStar", "MatchMapping"} and name:
            yield name


def named_elsewhere(text: str) -> Iterator[str]:
    """Targets of `:=`, and names that functions make global: maybe there, and that is enough."""
    for at in _places(":=", text):
        found = LAST_WORD.search(text[max(0, at - LONGEST_NAME) : at].rstrip())
        if found:
            yield found.group()
    for at in _places("global ", text):
        yield from re.findall(r"\w+", text[at : text.find("\n", at)])


def _places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def makes_names_by_itself(tree: ast.Module, text: str) -> bool:
    """Whether the module may get names that no statement shows: nobody can tell which."""
    if not any(word in text for word in DYNAMIC):
        return False
    lines = lines_at((found.start() for found in CALLED.finditer(text)), text, "\n")
    nodes = [node for node in nodes_at(tree, lines) if isinstance(node, (ast.Assign, ast.AugAssign, ast.Call))]
    aliases = {name for node in nodes if isinstance(node, ast.Assign) for name in _alias(node)}
    return any(_writes(node, aliases) for node in (ast.walk(tree) if aliases else nodes))


def lines_at(places: Iterable[int], text: AnyStr, newline: AnyStr) -> list[int]:
    """The numbers of the lines, each once, on which these places of a text are, both in order."""
    lines: list[int] = []
    number, last = 1, 0
    for place in places:
        number += text.count(newline, last, place)
        last = place
        if not lines or lines[-1] != number:
            lines.append(number)
    return lines


def nodes_at(tree: ast.Module, lines: list[int]) -> Iterator[ast.AST]:
    """The nodes of those statements of the module that have one of these lines, sorted, in them."""
    for statement in tree.body:
        at = bisect_left(lines, statement.lineno)
        if at < len(lines) and lines[at] <= (getattr(statement, "end_lineno", None) or statement.lineno):
            yield from ast.walk(statement)


def _alias(node: ast.Assign) -> Iterator[str]:
    """`this = sys.modules[__name__]`, `g = globals()`."""
    if _is_namespace(node.value, set()):
        for target in node.targets:
            yield from _targets(target)


def _writes(node: ast.AST, aliases: set[str]) -> bool:
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_is_own_place(target, aliases) for target in targets)
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func)
    if name == "exec" or name.rpartition(".")[2] in {"_convert", "_convert_"}:
        return True
    if isinstance(node.func, ast.Attribute) and _is_namespace(node.func.value, aliases):
        return node.func.attr in {"update", "setdefault", "__setattr__", "__setitem__"}
    return any(_is_namespace(argument, aliases) for argument in node.args) and name not in READERS


READERS = frozenset(
    (
        "len",
        "dir",
        "getattr",
        "hasattr",
        "list",
        "dict",
        "set",
        "sorted",
        "isinstance",
        "id",
        "print",
        "repr",
        "str",
        "inspect.getmembers",
        "inspect.getdoc",
        "inspect.getfile",
        "iter",
        "tuple",
        "type",
        "eval",
        "map",
        "filter",
    )
)
"""Calls that only read a namespace that they are given."""


def _is_own_place(target: ast.expr, aliases: set[str]) -> bool:
    """`globals()["x"] = …`, `sys.modules[__name__] = …`, `this.x = …`."""
    if isinstance(target, ast.Subscript):
        return _is_namespace(target.value, aliases) or _is_namespace(target, aliases)
    return isinstance(target, ast.Attribute) and _is_namespace(target.value, aliases)


def _is_namespace(node: ast.expr, aliases: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in aliases
    if isinstance(node, ast.Call):
        return dotted(node.func) in {"globals", "locals", "vars"} and not node.args
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" and _is_namespace(node.value, aliases)
    if isinstance(node, ast.Subscript) and dotted(node.value) == "sys.modules":
        index = getattr(node.slice, "value", node.slice)
        return isinstance(index, ast.expr) and dotted(index) == "__name__"
    return False
