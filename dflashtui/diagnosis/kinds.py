"""What a message means: the kinds of the contract (crash-log forms, part 8).

Adding a kind or a wording: one row in `kinds_environment`, `kinds_gpu`, `kinds_model` or `kinds_use`, which are tried
in this order, and a sample log beside it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from dflashtui.diagnosis.kinds_environment import ENVIRONMENT
from dflashtui.diagnosis.kinds_gpu import GPU
from dflashtui.diagnosis.kinds_model import MODEL
from dflashtui.diagnosis.kinds_use import USE, WEAK_RULES

if TYPE_CHECKING:
    from dflashtui.diagnosis.rule import Rule

RULES = (*ENVIRONMENT, *GPU, *MODEL, *USE)
PROGRAMMING = ("config-validation", "abort", "timeout", "bad-argument", "model-not-found", "nccl")
NOT_OF: dict[str, tuple[str, ...]] = dict.fromkeys(
    (
        "TypeError",
        "AttributeError",
        "NameError",
        "KeyError",
        "IndexError",
        "UnboundLocalError",
        "ZeroDivisionError",
        "RecursionError",
        "SyntaxError",
        "IndentationError",
        "TabError",
        "StopIteration",
        "UnicodeDecodeError",
    ),
    PROGRAMMING,
)
"""Errors of the program itself, whatever words their messages use."""
VALIDATION = re.compile(r"(?:^|\.)ValidationError$")
VALUE_ERROR = re.compile(r"(?:Value|Assertion) (?:error|failed), (?P<text>.*)")
NAMED_MODULE = re.compile(
    r"No module named '?\"?(?P<module>\w[\w.-]*)|"
    r"packages that were not found in your environment: (?P<listed>[\w.-]+)|"
    r"No package metadata was found for (?P<package>[\w.-]+)|"
    r"Could not import module \"(?P<app>[\w.]+)|Cannot find module '(?P<node>[\w@/.-]+)'"
)
TO_INSTALL = re.compile(
    r"pip3? install (?:(?:-U|--upgrade|--user|-q) )?['\"`]?(?P<module>[A-Za-z][\w-]*)|"
    r"[Pp]lease install (?P<please>[A-Za-z][\w-]*)|"
    r"^['\"`]?(?P<named>[A-Za-z][\w-]*)['\"`]? (?:is|was) not installed|(?:requires?|needs?|"
    r"install) (?:the )?[`'\"](?P<quoted>[A-Za-z][\w-]*)[`'\"]"
)
OWNER = re.compile(r"(?:from (?:partially initialized module )?|partially initialized module )['\"](?P<owner>[\w.]+)")
BINARY = re.compile(r"(?:/|^)(?P<package>[\w-]+)(?:\.(?:cpython|abi3)[\w.-]*)?\.so\b[^:]{0,40}: undefined symbol")
OPERATOR = re.compile(r"operator (?P<package>\w+)::")
TEXT_LIMIT = 6000


@lru_cache(maxsize=512)
def kind_of(exception: str | None, text: str) -> str | None:
    """The kind that type and message tell; `None`: they tell none.

    The first line goes before the rest, for what follows it may be another's. Of a validation error the values'
    own errors say more than the sum.
    """
    first, _, rest = text[:TEXT_LIMIT].partition("\n")
    if VALIDATION.search(exception or ""):
        inner = VALUE_ERROR.search(rest)
        told = _first_rule("ValueError", inner["text"], RULES) if inner else None
        return told or "config-validation"
    told = _first_rule(exception, first, RULES) or (_first_rule(exception, rest, RULES) if rest else None)
    return told or _first_rule(exception, first, WEAK_RULES) or _told_by_torn(exception, first, rest)


def _told_by_torn(exception: str | None, first: str, rest: str) -> str | None:
    """Of a message that a terminal broke at its width, in the middle of a word."""
    return _first_rule(exception, first + rest.partition("\n")[0], RULES) if rest and exception else None


def _first_rule(exception: str | None, text: str, rules: tuple[Rule, ...]) -> str | None:
    own_name = (exception or "").rpartition(".")[2]
    for rule in rules:
        if rule.kind in NOT_OF.get(own_name, ()) or (exception and rule.kind == "systemd-exec"):
            continue
        if rule.type is not None and not (exception and rule.type.search(exception)):
            continue
        if rule.text is None or rule.text.search(text):
            return rule.kind
    return None


def module_of(kind: str, text: str) -> str | None:
    """The top-level name that the message is about: the missing module, the owner of a name, the binary package."""
    cut = text[:TEXT_LIMIT]
    match kind:
        case "missing-module":
            found = NAMED_MODULE.search(cut) or TO_INSTALL.search(cut)
        case "import-error":
            found = OWNER.search(cut)
        case "abi-mismatch":
            found = BINARY.search(cut) or OPERATOR.search(cut)
        case _:
            return None
    named = next((name for name in found.groups() if name), None) if found else None
    return named.partition(".")[0] if named else None
