"""What pydantic found wrong, in the words of someone who edits hosts.toml. Loaded when there is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.config import schema
from dflashtui.config.names import UNIT_SUFFIXES
from dflashtui.config.problems import Keys, Problem, dotted
from dflashtui.config.words import did_you_mean, kind, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

EXPECTED = {
    "string_type": "text in quotes",
    "bool_type": "true or false, without quotes",
    "list_type": 'a list, such as ["a", "b"]',
    "dict_type": "a table",
    "model_type": "a table",
}
MISSING = {
    "hosts": 'the hosts that it runs on, such as hosts = ["gpu-a"]',
    "source": 'the folder to take the files from, such as source = "patches/sglang"',
    "package": 'the package to lay them over, such as package = "sglang"',
}
SECRET = frozenset({"args", "environment", "extra_args", "vars"})
"""What stands below these keys is never shown."""


def problems(error: ValidationError) -> list[Problem]:
    """One for each error; of a table whose name was split at its dots, only that."""
    details = error.errors(include_url=False)
    split = {_keys(detail)[:2] for detail in details if _splits_name(detail)}
    return list(_told(details, split))


def _told(details: Iterable[ErrorDetails], split: set[Keys]) -> Iterator[Problem]:
    for detail in details:
        keys = _keys(detail)
        if _splits_name(detail):
            whole = dotted((keys[0], f"{keys[1]}.{keys[2]}"))
            yield Problem(f"a name with dots stands in quotes: [{whole}]", keys[:3])
        elif keys[:2] not in split:
            yield Problem(_message(detail, keys), keys)


def _keys(detail: ErrorDetails) -> Keys:
    return tuple(key for key in detail["loc"] if key != "[key]")


def _splits_name(detail: ErrorDetails) -> bool:
    """`[units.sglang.service]` or `[hosts.gpu.example.com]`: TOML reads a table in a table."""
    match _keys(detail):
        case ("units", str(), str(suffix)):
            known = suffix in UNIT_SUFFIXES
        case (str(kind_), str(), str(key)) if kind_ in {"hosts", "groups"}:
            known = not did_you_mean(key, _known_keys((kind_, "")))
        case _:
            known = False
    return known and detail["type"] == "extra_forbidden" and isinstance(detail["input"], dict)


def _message(detail: ErrorDetails, keys: Keys) -> str:
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(keys)
        case "missing":
            return f"is missing: expected {MISSING[str(keys[-1])]}"
        case "value_error":
            return str(detail["ctx"]["error"])
        case "literal_error":
            return _other_word(detail)
        case other if other in EXPECTED:
            return f"expected {EXPECTED[other]}, not {_found(detail['input'], keys)}"
        case _:
            return detail["msg"]


def _found(value: object, keys: Keys) -> str:
    return kind(value) if SECRET & set(keys[:-1]) else shown(value)


def _other_word(detail: ErrorDetails) -> str:
    allowed = [word.strip("' ") for word in detail["ctx"]["expected"].replace(" or ", ",").split(",")]
    value: Any = detail["input"]
    hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return f"expected one of {listed(allowed)}, not {shown(value)}{hint}"


def _unknown_key(keys: Keys) -> str:
    known = _known_keys(keys[:-1])
    return "unknown key" + (did_you_mean(str(keys[-1]), known) or f"; the keys here are: {', '.join(known)}")


def _known_keys(table: Keys) -> list[str]:
    match table:
        case ():
            found: type[schema.Table] = schema.Document
        case ("defaults",) | ("hosts", _):
            found = schema.HostTable
        case ("groups", _):
            found = schema.GroupTable
        case ("units", _):
            found = schema.UnitTable
        case ("units", _, "readiness"):
            found = schema.ReadinessTable
        case ("units", _, "overlays", _):
            found = schema.OverlayTable
        case _:
            found = schema.ConsoleTable
    return list(found.model_fields)
