"""Secrets made unreadable before a text is stored or shown. Pure; about 1 µs for a line that has none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

MASK = "***"
LONGEST_CUT = 512
"""A secret that a limit would cut is masked whole."""
WORDS = (
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "pwd",
    "authorization",
    "cookie",
)
"""What the name of a secret has in it."""
HEADERS = frozenset({"authorization", "cookie"})
"""Their value goes on behind a blank."""
COUNTED = frozenset({"key", "token"})
"""Words that stand beside numbers, too: `new-token: 17`."""
MOST_DIGITS = 9
PROSE = "credentials"
"""`Failed to determine user credentials: No such process`."""
GLUED = ("api", "auth", "access", "private", "account", "secret", "client")
"""What may stand before a word without anything between: `apikey`."""
NAME_CHARS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
LONGEST_NAME = 64
ABSENT = frozenset({"None", "null", "none", "true", "false", "True", "False", '""', "''", MASK})
"""Values that are no secret."""
# bounded repeats from a sign on that cannot repeat, so that no hostile text makes the search slow
_REST = rf"(?:[_-][\w-]{{0,{LONGEST_NAME}}})?"
_QUOTED = r"""\\{0,3}["']"""
_VALUE = r"""(?P<value>"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|\\{1,3}["'][^"'\\\n]*|(?:[^\s"',;\\]|\\(?!["']))+)"""
ASSIGNED = re.compile(rf"{_REST}(?:{_QUOTED})?\]?[ \t]{{0,4}}(?::=|={{1,3}}>?|:)[ \t]{{0,4}}{_VALUE}")
OPTION = re.compile(rf"{_REST}(?:[ \t]{{1,4}}|{_QUOTED}[ \t]{{0,2}},[ \t]{{0,4}})(?!-){_VALUE}")
HEADER = re.compile(
    rf"(?:{_QUOTED})?\]?[ \t]{{0,4}}[=:][ \t]{{0,4}}(?:b?{_QUOTED})?(?:(?:bearer|basic|token)[ \t]+)?"
    r"""(?P<value>[^"'\\\n]+)""",
    re.IGNORECASE,
)
BEARER = re.compile(
    r"\b(?:(?i:bearer)|(?i:basic)(?=\s{1,4}\S{1,128}[A-Z0-9=]))\s{1,4}(?P<value>[A-Za-z0-9_.~+/=-]{6,})"
)
URL_PASSWORD = re.compile(r"://[^\s/:@?#]{0,128}:(?P<value>[^\s/?#]{1,256})(?=@)")
URL_USER = re.compile(r"https?://(?P<value>[^\s/:@?#]{8,256})(?=@)")
SIGNATURE = re.compile(r"[?&](?i:sig|(?:[\w-]{1,32}-)?signature|auth)=(?P<value>[^\s&\"']+)")
KNOWN_FORM = re.compile(
    r"(?<![\w-])(?P<value>hf_(?=[a-z]{0,64}[A-Z0-9])[A-Za-z0-9]{8,}|sk-[\w-]{8,}|gh[pousr]_\w{16,}|github_pat_\w{16,}"
    r"|glpat-[\w-]{16,}|nvapi-[\w-]{16,}|pypi-[\w-]{16,}|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{13,}(?:\.[\w-]+){0,2})"
)


def masked(text: str) -> str:
    """`text` with the values of keys, tokens and passwords replaced by `***`; names stay, so that it still tells.

    `--api-key X`, `HF_TOKEN=X`, `"password": "X"`, `https://user:X@host`, `Bearer X`, and tokens of known form.
    Counts such as `--max-tokens 4096`, `#new-token: 17` and paths such as `--ssl-keyfile F` stay.
    """
    lower = text.lower()
    found: list[Span] = []
    for word in WORDS:
        if word in lower:
            found += _behind(word, text, lower if len(lower) == len(text) else _lower(text))
    for pattern, signs in FORMS:
        for sign in signs:
            if sign in lower:
                found += [one.span("value") for one in pattern.finditer(text)]
                break
    return _without(text, sorted(found)) if found else text


def _without(text: str, spans: list[Span]) -> str:
    kept: list[str] = []
    end = 0
    for start, stop in spans:
        if start >= end:
            kept += (text[end:start], MASK)
        end = max(end, stop)
    return "".join((*kept, text[end:]))


def _lower(text: str) -> str:
    """In small letters, each in its place; `str.lower` makes two of some."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def _behind(word: str, text: str, lower: str) -> Iterator[Span]:
    """Values that follow names with this word in them."""
    at = lower.find(word)
    while at >= 0:
        end = at + len(word)
        found = _value(word, text, lower, at)
        if found:
            yield found
            end = found[1]
        at = lower.find(word, end)


def _value(word: str, text: str, lower: str, at: int) -> Span | None:
    if not _begins(text, lower, at):
        return None
    end = at + len(word)
    found = (HEADER if word in HEADERS else ASSIGNED).match(text, end)
    if found is None and _is_option(lower, at):
        found = OPTION.match(text, end)
    return found.span("value") if found and not _is_open(word, found["value"]) else None


def _begins(text: str, lower: str, at: int) -> bool:
    """Whether a word of a name begins here: `api_key`, `apiKey`, `apikey`, not `monkey`."""
    if not at or not lower[at - 1].isalnum():
        return True
    return (text[at].isupper() and text[at - 1].islower()) or lower[max(0, at - 7) : at].endswith(GLUED)


def _is_option(lower: str, at: int) -> bool:
    before = lower[max(0, at - LONGEST_NAME) : at]
    return before[len(before.rstrip(NAME_CHARS)) :].startswith("-")


def _is_open(word: str, value: str) -> bool:
    """Whether it is no secret: absent, or a number where numbers are usual."""
    bare = value.rstrip(")]}.")
    if word == PROSE and bare.isalpha():
        return True
    return bare in ABSENT or (word in COUNTED and len(bare) <= MOST_DIGITS and bare.isdecimal())


FORMS = (
    (URL_PASSWORD, ("://",)),
    (URL_USER, ("://",)),
    (BEARER, ("bearer", "basic")),
    (SIGNATURE, ("sig=", "signature=", "auth=")),
    (KNOWN_FORM, ("hf_", "sk-", "gh", "pat_", "glpat-", "nvapi-", "pypi-", "xox", "akia", "aiza", "eyj")),
)
"""Secrets that tell by their own form or place, and what must stand in a line, in small letters, for a look."""


def masked_in(value: Any, *, limit: int | None = None) -> Any:  # noqa: ANN401 - every part of a value
    """The same value with every text in it masked, and cut to `limit` characters; sequences become tuples."""
    match value:
        case str():
            return masked(value if limit is None else value[: limit + LONGEST_CUT])[:limit]
        case dict():
            return {name: masked_in(part, limit=limit) for name, part in value.items()}
        case tuple() | list():
            return tuple(masked_in(part, limit=limit) for part in value)
        case _:
            return value
