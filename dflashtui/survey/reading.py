"""A module's text as a small record: what it imports under which circumstances, and which names it has.

A record is JSON, so that it can be kept. `tree` is a list of nodes in the order of their execution:

    ["i", line, module]                         import module
    ["f", line, module, level, [name…]]         from module import name…; then {new name: name} of `as`
    ["?", condition, body, orelse]              if; see `conditions`
    ["t", body, handlers, orelse, finalbody]    try; a handler is [what it catches, body]
    ["c", body]                                 executed under circumstances that only a run could tell
    ["d", name, body]                           a function
    ["x", line, name]                           a call of a function that this module defines or imports by name
    ["r", line, exception]                      raise
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from typing import Any, Iterable, List

from dflashtui.survey.bindings import Bindings, lines_at, makes_names_by_itself, named_elsewhere, nodes_at
from dflashtui.survey.conditions import condition, dotted

Node = List[Any]
RUN_BY_NAME = frozenset(("import_module", "__import__"))
EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit"))
EVERYTHING = "a"
CAUGHT = {"ModuleNotFoundError": "m", "ImportError": "n", "Exception": "a", "BaseException": "a"}
BUILTINS = frozenset(dir(builtins))


def record(data: bytes) -> dict[str, Any]:
    """The record of a text. One that this interpreter cannot read has `error`: [line, words]."""
    try:
        tree = ast.parse(data)
    except SyntaxError as problem:
        return _unreadable(problem.lineno or 0, "%s: %s" % (type(problem).__name__, problem.msg))
    except (ValueError, RecursionError, MemoryError, LookupError) as problem:
        return _unreadable(0, "%s: %s" % (type(problem).__name__, problem))
    text = data.decode("latin-1")
    return _Reader(tree, data, text).record()


def _unreadable(line: int, words: str) -> dict[str, Any]:
    return {"tree": [], "names": [], "stars": [], "error": [line, words]}


class _Reader:
    """Walks statements, not expressions: those are four of five nodes."""

    def __init__(self, tree: ast.Module, data: bytes, text: str) -> None:
        self._tree = tree
        self._text = text
        self._data = data
        self._bound = Bindings()
        self._importing = _lines_with(b"import", data)
        self._yielding = _lines_with(b"yield", data)
        self._returning = _lines_with(b"return", data)
        self._runs_by_name = "import_module(" in text or "__import__(" in text
        self._callable: set[str] = set()
        self._put: list[str] = []

    def record(self) -> dict[str, Any]:
        """All of it."""
        nodes = self._block(self._tree.body, is_own=True)
        names = self._bound.names
        names.update(named_elsewhere(self._text))
        found: dict[str, Any] = {"tree": self._pruned(nodes), "names": sorted(names), "stars": self._bound.stars}
        if self._bound.own - names:
            found["own"] = sorted(self._bound.own - names)
        if self._bound.listed is not None:
            found["all"] = self._bound.listed if self._bound.is_list_whole else None
        if makes_names_by_itself(self._tree, self._text):
            found["dynamic"] = True
        if "__path__" in self._text or "extend_path" in self._text or "declare_namespace" in self._text:
            found["path"] = True
        if "sys.modules" in self._text:
            found["put"] = _put_into_modules(self._tree, _lines_with(rb"sys\.modules", self._data))
        return found

    def _block(self, statements: Iterable[ast.stmt], *, is_own: bool) -> list[Node]:
        """`is_own`: of the module's own level, where statements bind its names."""
        nodes: list[Node] = []
        for statement in statements:
            if is_own:
                self._bound.take(statement)
            nodes += self._statement(statement, is_own=is_own)
        return nodes

    def _statement(self, statement: ast.stmt, *, is_own: bool) -> list[Node]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return self._import(statement, is_own=is_own)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._function(statement, is_own=is_own)
        if isinstance(statement, ast.ClassDef):
            return self._block(statement.body, is_own=False) if is_own or self._has_import(statement) else []
        if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)):
            return self._expression(statement)
        if isinstance(statement, ast.Raise):
            return self._raised(statement)
        return self._compound(statement, is_own=is_own)

    def _import(self, statement: ast.Import | ast.ImportFrom, *, is_own: bool) -> list[Node]:
        if isinstance(statement, ast.Import):
            return [["i", statement.lineno, alias.name] for alias in statement.names]
        names = [alias.name for alias in statement.names]
        if is_own:
            self._callable.update(alias.asname or alias.name for alias in statement.names)
        renamed = {alias.asname: alias.name for alias in statement.names if alias.asname}
        node = ["f", statement.lineno, statement.module or "", statement.level, names]
        return [[*node, renamed] if renamed else node]

    def _function(self, statement: ast.FunctionDef | ast.AsyncFunctionDef, *, is_own: bool) -> list[Node]:
        if is_own:
            self._callable.add(statement.name)
        if not self._has_import(statement) and not is_own:
            return []
        body = self._body_of_function(statement.body)
        is_run = is_own and isinstance(statement, ast.FunctionDef) and not self._is_lazy(statement)
        name = statement.name if is_run else ""
        return [["d", name, body]] if body else []

    def _body_of_function(self, statements: list[ast.stmt]) -> list[Node]:
        """What stands behind a branch that may leave the function is executed only perhaps."""
        for position, statement in enumerate(statements):
            if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With)) and self._may_leave(statement):
                rest = self._body_of_function(statements[position + 1 :])
                first = self._block(statements[: position + 1], is_own=False)
                return [*first, ["c", rest]] if rest else first
        return self._block(statements, is_own=False)

    def _compound(self, statement: ast.stmt, *, is_own: bool) -> list[Node]:
        if isinstance(statement, ast.If):
            return self._if(statement, is_own=is_own)
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            body = self._block(statement.body, is_own=is_own)
            caught = _suppressed(statement)
            return [["t", body, [[caught, []]], [], []]] if caught else body
        if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            return self._try(statement, is_own=is_own)
        blocks = [*(getattr(statement, "body", None) or ()), *(getattr(statement, "orelse", None) or ())]
        for case in getattr(statement, "cases", ()):
            blocks += case.body
        body = self._block(blocks, is_own=is_own)
        return [["c", body]] if body else []

    def _if(self, statement: ast.If, *, is_own: bool) -> list[Node]:
        worth = condition(statement.test)
        body = self._block(statement.body, is_own=is_own and worth is not False)
        orelse = self._block(statement.orelse, is_own=is_own and worth is not True)
        if isinstance(worth, bool):
            return body if worth else orelse
        return [["?", worth, body, orelse]] if body or orelse else []

    def _try(self, statement: Any, *, is_own: bool) -> list[Node]:  # noqa: ANN401 - Try or TryStar
        body = self._block(statement.body, is_own=is_own)
        handlers = [[_caught(handler.type), self._block(handler.body, is_own=is_own)] for handler in statement.handlers]
        orelse = self._block(statement.orelse, is_own=is_own)
        last = self._block(statement.finalbody, is_own=is_own)
        return [["t", body, handlers, orelse, last]] if body or orelse or last else []

    def _raised(self, statement: ast.Raise) -> list[Node]:
        thrown = statement.exc
        name = dotted(thrown.func if isinstance(thrown, ast.Call) else thrown) if thrown else ""
        return [["r", statement.lineno, name.rpartition(".")[2]]]

    def _expression(self, statement: Any) -> list[Node]:  # noqa: ANN401 - a statement with a value
        value = statement.value
        if not isinstance(value, ast.Call):
            return []
        name = dotted(value.func)
        if self._runs_by_name and name.rpartition(".")[2] in RUN_BY_NAME:
            return _by_name(value)
        if name in EXITS:
            inner = [node for argument in value.args for node in self._called(argument)]
            return [*inner, ["r", statement.lineno, "SystemExit"]]
        return self._called(value)

    def _called(self, value: ast.expr) -> list[Node]:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return [["x", value.lineno, value.func.id]]
        return []

    def _has_import(self, statement: ast.stmt) -> bool:
        return _touches(self._importing, statement)

    def _is_lazy(self, statement: ast.FunctionDef) -> bool:
        """A generator does nothing when it is called."""
        if not _touches(self._yielding, statement):
            return False
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(statement))

    def _may_leave(self, statement: ast.stmt) -> bool:
        """Whether it may have a `return` of the function that it stands in."""
        return _touches(self._returning, statement)

    def _pruned(self, nodes: list[Node]) -> list[Node]:
        """Without calls of what is no function of this module, and without what is empty then."""
        kept: list[Node] = []
        for node in nodes:
            kept += self._kept(node)
        return kept

    def _kept(self, node: Node) -> list[Node]:
        kind = node[0]
        if kind == "x":
            return [node] if node[2] in self._callable else []
        if kind in {"c", "d"}:
            body = self._pruned(node[-1])
            return [[*node[:-1], body]] if body else []
        if kind == "?":
            body, orelse = self._pruned(node[2]), self._pruned(node[3])
            return [["?", node[1], body, orelse]] if body or orelse else []
        if kind == "t":
            handlers = [[caught, self._pruned(body)] for caught, body in node[2]]
            body, orelse, last = (self._pruned(node[at]) for at in (1, 3, 4))
            return [["t", body, handlers, orelse, last]] if body or orelse or last else []
        return [node]


def _by_name(value: ast.Call) -> list[Node]:
    first = value.args[0] if value.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
        return [["i", value.lineno, first.value]]
    return []


def _lines_with(word: bytes, data: bytes) -> list[int]:
    return lines_at((found.start() for found in re.finditer(word, data)), data, b"\n")


def _touches(lines: list[int], statement: ast.stmt) -> bool:
    at = bisect_left(lines, statement.lineno)
    return at < len(lines) and lines[at] <= (getattr(statement, "end_lineno", None) or statement.lineno)


def _caught(kind: ast.expr | None) -> str:
    """`m`: a missing module; `n`: a missing name, too; `a`: everything; empty: neither."""
    if kind is None:
        return EVERYTHING
    names = [dotted(part).rpartition(".")[2] for part in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    found = {CAUGHT.get(name, "" if name in BUILTINS else EVERYTHING) for name in names}
    return next((letter for letter in "anm" if letter in found), "")


def _suppressed(statement: ast.With | ast.AsyncWith) -> str:
    for item in statement.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] == "suppress" and call.args:
            return _caught(ast.Tuple(elts=call.args, ctx=ast.Load()))
    return ""


def _put_into_modules(tree: ast.Module, lines: list[int]) -> list[str]:
    """Modules that the text itself puts in place: `sys.modules["x.y"] = …`."""
    targets = (target for node in nodes_at(tree, lines) if isinstance(node, ast.Assign) for target in node.targets)
    names = []
    for target in targets:
        if isinstance(target, ast.Subscript) and dotted(target.value) == "sys.modules":
            index = getattr(target.slice, "value", target.slice)
            if isinstance(index, str):
                names.append(index)
            elif isinstance(index, ast.Constant) and isinstance(index.value, str):
                names.append(index.value)
    return names
