"""The task `flags`: the options that the installed engine takes, read off its own text: forks and patches included.

The order: `engine` (`sglang` or `vllm`). Facts: one for each option, `{"names", "takes", "choices", "type",
"is_deprecated"}`, then `{"engine", "version", "files", "is_whole"}`. Three ways of writing them are known:

- `parser.add_argument("--tp-size", …)`;
- `tp_size: A[int, Arg(help="…")] = 1`, a field of a class (SGLang from 0.5.2x on);
- a plain field of vLLM's classes of arguments for its front end.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from dflashtui.survey.conditions import dotted
from dflashtui.survey.modules import Modules
from dflashtui.survey.owners import version_of

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

SOURCES = {
    "sglang": ("sglang.srt.server_args", "sglang.srt.arg_groups.fields"),
    "vllm": ("vllm.engine.arg_utils", "vllm.entrypoints.openai.cli_args", "vllm.entrypoints.common.cli_args"),
}
"""Modules, and packages with all their modules."""
FRONT_ENDS = ("FrontendArgs", "BaseFrontendArgs")
SWITCHES = ("store_true", "store_false", "store_const", "count", "help", "version")
NUMBERS = ("int", "float")


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """Options by the order of their texts."""
    engine = order["engine"]
    modules = Modules(place.path, lambda _module: "")
    files = [file for name in SOURCES.get(engine, ()) for file in _files(modules, name)]
    is_whole = bool(files)
    for file in files:
        place.check()
        reading = _Reading(file)
        yield from reading.options()
        is_whole = is_whole and not reading.has_more
    yield {"engine": engine, "version": version_of(place.path, engine), "files": files, "is_whole": is_whole}


def _files(modules: Modules, name: str) -> List[str]:
    module = modules.find(name)
    if module.kind != "source" or module.file is None:
        return []
    if module.folders is None:
        return [module.file]
    folder = os.path.dirname(module.file)
    return [os.path.join(folder, one) for one in sorted(os.listdir(folder)) if one.endswith(".py")]


class _Reading:
    """One text. `has_more`: it makes options whose names it does not spell."""

    def __init__(self, file: str) -> None:
        with open(file, "rb") as text:
            self._tree = ast.parse(text.read())
        self.has_more = False
        self._covered: List[ast.AST] = []
        """Calls that make options of the plain fields of their own class."""
        self._constants: Dict[str, Any] = {}
        for statement in self._tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self._constants[statement.targets[0].id] = self._literal(statement.value)

    def options(self) -> Iterator[Dict[str, Any]]:
        """All that it spells."""
        for owner in ast.walk(self._tree):
            if isinstance(owner, ast.ClassDef) and owner.name in FRONT_ENDS:
                self._covered += ast.walk(owner)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                yield from self._added(node)
            elif isinstance(node, ast.ClassDef):
                yield from self._fields(node)

    def _added(self, call: ast.Call) -> Iterator[Dict[str, Any]]:
        names = [value.value for value in call.args if isinstance(value, ast.Constant) and isinstance(value.value, str)]
        if any(name.startswith("-") for name in names):
            yield self._option(names, {word.arg: word.value for word in call.keywords if word.arg}, _is_open(call))
        elif not names and _spells_nothing(call) and call not in self._covered:
            self.has_more = True

    def _fields(self, owner: ast.ClassDef) -> Iterator[Dict[str, Any]]:
        for field in owner.body:
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            told = _annotated(field.annotation)
            if told is not None:
                yield from self._annotated(field.target.id, *told)
            elif owner.name in FRONT_ENDS:
                yield _fact([_cli_name(field.target.id)], "unknown")

    def _annotated(self, name: str, kind: ast.expr, more: ast.expr) -> Iterator[Dict[str, Any]]:
        words: Dict[str, ast.expr] = {}
        if isinstance(more, ast.Call):
            words = {word.arg: word.value for word in more.keywords if word.arg}
        if self._literal(words.get("no_cli")):
            return
        names = [self._literal(words.get("cli_name")) or _cli_name(name), *(self._literal(words.get("aliases")) or ())]
        type_name = _type_name(kind)
        if type_name == "bool" and "action" not in words:
            yield _fact(names, "nothing")
            return
        words.setdefault("type", ast.Name(id=type_name, ctx=ast.Load()))
        yield self._option(names, words, is_open="type_parser" in words or type_name not in (*NUMBERS, "str"))

    def _option(self, names: List[str], words: Dict[str, ast.expr], is_open: bool) -> Dict[str, Any]:  # noqa: FBT001
        action = words.get("action")
        action_name = str(self._literal(action) or (dotted(action).rpartition(".")[2] if action else ""))
        is_deprecated = "Deprecated" in action_name
        if action_name in SWITCHES:
            return _fact(names, "nothing", is_deprecated=is_deprecated)
        if action_name == "BooleanOptionalAction":
            return _fact([*names, *("--no-" + name[2:] for name in names if name.startswith("--"))], "nothing")
        if is_open or action_name not in ("", "store", "append") or "nargs" in words or "const" in words:
            return _fact(names, "unknown", is_deprecated=is_deprecated)
        choices = self._literal(words.get("choices"))
        type_name = dotted(words["type"]) if "type" in words else ""
        return _fact(
            names,
            "one",
            choices=[str(choice) for choice in choices] if isinstance(choices, (list, tuple)) and choices else None,
            type_name=type_name if type_name in NUMBERS else None,
        )

    def _literal(self, node: Optional[ast.expr]) -> Any:  # noqa: ANN401 - any constant; `None`: not written out
        """Constants, lists of them, and names of such; a list with anything else in it is not whole, so `None`."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._constants.get(node.id)
        if isinstance(node, (ast.List, ast.Tuple)):
            parts: List[Any] = []
            for part in node.elts:
                inner = self._literal(part.value if isinstance(part, ast.Starred) else part)
                if inner is None:
                    return None
                parts += inner if isinstance(part, ast.Starred) else [inner]
            return parts
        return None


def _is_open(call: ast.Call) -> bool:
    """Some of its words come from elsewhere: `**kwargs`."""
    return any(word.arg is None for word in call.keywords)


def _spells_nothing(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], (ast.JoinedStr, ast.Starred, ast.Name))


def _annotated(annotation: ast.expr) -> Any:  # noqa: ANN401 - a pair of nodes, or nothing
    """`A[T, …]`, `Annotated[T, …]`: T and the first thing beside it."""
    if not isinstance(annotation, ast.Subscript) or dotted(annotation.value).rpartition(".")[2] not in {
        "A",
        "Annotated",
    }:
        return None
    inner = getattr(annotation.slice, "value", annotation.slice)
    parts = inner.elts if isinstance(inner, ast.Tuple) else []
    is_option = len(parts) > 1 and (
        isinstance(parts[1], ast.Constant)
        or (isinstance(parts[1], ast.Call) and dotted(parts[1].func).rpartition(".")[2] == "Arg")
    )
    return (parts[0], parts[1]) if is_option else None


def _type_name(kind: ast.expr) -> str:
    """`int` of `int`, `Optional[int]`, `int | None`; others by their outermost name."""
    if isinstance(kind, ast.BinOp):
        return _type_name(kind.left)
    if isinstance(kind, ast.Subscript):
        inner = getattr(kind.slice, "value", kind.slice)
        is_optional = dotted(kind.value).rpartition(".")[2] == "Optional"
        return _type_name(inner) if is_optional and isinstance(inner, ast.expr) else dotted(kind.value)
    return dotted(kind)


def _cli_name(field: str) -> str:
    return "--" + field.replace("_", "-")


def _fact(
    names: List[str],
    takes: str,
    *,
    choices: Optional[List[str]] = None,
    type_name: Optional[str] = None,
    is_deprecated: bool = False,
) -> Dict[str, Any]:
    """`takes`: `nothing`, `one` value, or `unknown`."""
    return {"names": names, "takes": takes, "choices": choices, "type": type_name, "is_deprecated": is_deprecated}
