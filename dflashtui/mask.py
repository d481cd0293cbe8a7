"""Secrets made unreadable before a text is stored or shown. Pure."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
_WORD = r"(?:api[_-]?key|key|token|secret|passwd|password|passphrase|credentials?)"
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;]+)"""
# bounded repeats from a word's first letter on, so that no hostile text makes the search slow
_NAME = rf"(?:[\w-]{{0,64}}[_-])?{_WORD}(?:[_-][\w-]{{0,64}})?"
NAMED = re.compile(
    rf"""((?<![\w-])(?:(?<!#)|(?![\w-]{{1,64}}:\s\d+\b)){_NAME}["']?\s{{0,4}}[=:]\s{{0,4}})({_VALUE})""", re.IGNORECASE
)
OPTION = re.compile(rf"""((?<![\w-])--?{_NAME}(?:\s{{1,4}}|["']\s{{0,2}},\s{{0,4}}))(?!-)({_VALUE})""", re.IGNORECASE)
BEARER = re.compile(r"\b((?:bearer|basic)\s{1,4})([\w.~+/=-]{6,})", re.IGNORECASE)
URL_PASSWORD = re.compile(r"(://[^\s/:@]{0,128}:)([^\s/@]{1,256})(?=@)")
KNOWN_FORM = re.compile(
    r"\b(?:hf_\w{8,}|sk-[\w-]{8,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|nvapi-[\w-]{16,}"
    r"|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})"
)


def masked(text: str) -> str:
    """`text` with the values of keys, tokens and passwords replaced by `***`; names stay, so that it still tells.

    `--api-key X`, `HF_TOKEN=X`, `"password": "X"`, `https://user:X@host`, `Bearer X`, and tokens of known form.
    Counts such as `--max-tokens 4096`, `#new-token: 17` and paths such as `--ssl-keyfile F` stay.
    """
    for pattern in (URL_PASSWORD, BEARER, NAMED, OPTION):
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return KNOWN_FORM.sub(MASK, text)


def masked_in(value: Any, *, limit: int | None = None) -> Any:  # noqa: ANN401 - every part of a value
    """The same value with every text in it masked, and cut to `limit` characters; sequences become tuples."""
    match value:
        case str():
            return masked(value[:limit])
        case dict():
            return {name: masked_in(part, limit=limit) for name, part in value.items()}
        case tuple() | list():
            return tuple(masked_in(part, limit=limit) for part in value)
        case _:
            return value
