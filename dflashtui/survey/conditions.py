"""What a condition of an `if` is worth, without running the program it stands in.

A value is `True`, `False`, `None` (only a run could tell), or a list to be settled by whoever knows the modules:
`["main"]`, `["spec", NAME]`, `["not", VALUE]`, `["and", VALUE…]`, `["or", VALUE…]`.
"""

from __future__ import annotations

import ast
import operator
import os
import platform
import sys
from typing import Any, Callable

Settle = Callable[[str, str], Any]
UNKNOWN = object()
OPERATORS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
NAMES: dict[str, Any] = {
    "TYPE_CHECKING": False,
    "__debug__": not sys.flags.optimize,
    "sys.version_info": tuple(sys.version_info),
    "sys.version_info.major": sys.version_info[0],
    "sys.version_info.minor": sys.version_info[1],
    "sys.platform": sys.platform,
    "sys.byteorder": sys.byteorder,
    "sys.implementation.name": sys.implementation.name,
    "os.name": os.name,
}
CALLS: dict[str, Callable[..., Any]] = {
    "platform.system": platform.system,
    "platform.machine": platform.machine,
    "platform.python_implementation": platform.python_implementation,
    "sys.platform.startswith": sys.platform.startswith,
}


def condition(test: ast.expr) -> Any:  # noqa: ANN401 - see above
    """What `test` is worth as a condition."""
    if isinstance(test, ast.BoolOp):
        word = "and" if isinstance(test.op, ast.And) else "or"
        return _joined(word, [condition(part) for part in test.values])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _negated(condition(test.operand))
    asked = _asks_for_module(test)
    if asked is not None:
        return asked
    if _is_main(test):
        return ["main"]
    found = _value(test)
    return None if found is UNKNOWN else bool(found)


def settled(found: Any, settle: Settle) -> bool | None:  # noqa: ANN401 - see above
    """A value of `condition` as a plain one. `settle`: word and name to `True`, `False` or `None`."""
    if not isinstance(found, list):
        return found if found is None else bool(found)
    word, parts = found[0], found[1:]
    if word in {"and", "or", "not"}:
        values = [settled(part, settle) for part in parts]
        joined = _negated(values[0]) if word == "not" else _joined(word, values)
        return joined if isinstance(joined, bool) else None
    answer = settle(word, parts[0] if parts else "")
    return answer if isinstance(answer, bool) else None


def _joined(word: str, parts: list[Any]) -> Any:  # noqa: ANN401 - see above
    decisive = word == "or"
    if any(part is decisive for part in parts):
        return decisive
    left = [part for part in parts if part is not (not decisive)]
    if not left:
        return not decisive
    if all(part is None for part in left):
        return None
    return left[0] if len(left) == 1 else [word, *left]


def _negated(found: Any) -> Any:  # noqa: ANN401 - see above
    if found is None:
        return None
    return (not found) if isinstance(found, bool) else ["not", found]


def _asks_for_module(test: ast.expr) -> Any:  # noqa: ANN401 - see above
    """`importlib.util.find_spec("x") is not None`, `is None`, or alone."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_none(test.comparators[0]):
        name = _spec_name(test.left)
        if name is not None and isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
            return ["spec", name]
        if name is not None and isinstance(test.ops[0], (ast.Is, ast.Eq)):
            return ["not", ["spec", name]]
    name = _spec_name(test)
    return None if name is None else ["spec", name]


def _spec_name(node: ast.expr) -> str | None:
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    if dotted(node.func).rpartition(".")[2] != "find_spec":
        return None
    argument = node.args[0]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_main(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = {ast.dump(test.left), ast.dump(test.comparators[0])}
    return sides == _MAIN


_MAIN = {ast.dump(ast.parse(text, mode="eval").body) for text in ("__name__", "'__main__'")}


def _value(node: ast.expr) -> Any:  # noqa: ANN401 - any constant
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        parts = [_value(part) for part in node.elts]
        return UNKNOWN if UNKNOWN in parts else tuple(parts)
    if isinstance(node, ast.Compare):
        return _compared(node)
    if isinstance(node, ast.Subscript):
        return _part(node)
    if isinstance(node, ast.Call):
        return _called(node)
    name = dotted(node)
    return NAMES.get("TYPE_CHECKING" if name.endswith(".TYPE_CHECKING") else name, UNKNOWN)


def _compared(node: ast.Compare) -> Any:  # noqa: ANN401 - a bool or UNKNOWN
    values = [_value(part) for part in (node.left, *node.comparators)]
    if UNKNOWN in values or any(type(op) not in OPERATORS for op in node.ops):
        return UNKNOWN
    try:
        return all(OPERATORS[type(op)](left, right) for op, left, right in zip(node.ops, values, values[1:]))  # noqa: B905
    except TypeError:
        return UNKNOWN


def _part(node: ast.Subscript) -> Any:  # noqa: ANN401 - any constant
    """`sys.version_info[0]`, `sys.version_info[:2]`."""
    whole = _value(node.value)
    if whole is UNKNOWN:
        return UNKNOWN
    try:
        index = node.slice
        if isinstance(index, ast.Slice):
            ends = [None if end is None else ast.literal_eval(end) for end in (index.lower, index.upper)]
            return whole[ends[0] : ends[1]]
        return whole[ast.literal_eval(getattr(index, "value", index) if type(index).__name__ == "Index" else index)]
    except (ValueError, TypeError, LookupError):
        return UNKNOWN


def _called(node: ast.Call) -> Any:  # noqa: ANN401 - any constant
    function = CALLS.get(dotted(node.func))
    values = [_value(argument) for argument in node.args]
    if function is None or node.keywords or UNKNOWN in values:
        return UNKNOWN
    try:
        return function(*values)
    except TypeError:
        return UNKNOWN


def dotted(node: ast.expr) -> str:
    """`a.b.c`; empty for anything else than a chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])
