"""A command line without its secrets."""

from __future__ import annotations

import re

LIMIT = 200
MASK = "***"
SECRET_WORDS = frozenset(
    {"key", "apikey", "keys", "token", "secret", "password", "passwd", "credential", "credentials"}
)
"""Words of an option's or a variable's name. Not `tokens`: those are counted, not hidden."""
ASSIGNED = re.compile(r"(?P<name>-{0,2}[A-Za-z][\w.-]*)=(?P<value>.+)", re.DOTALL)
KNOWN_SHAPE = re.compile(r"\b(?:hf_|sk-|ghp_|glpat-|nvapi-|xox[a-z]-)[\w-]{8,}")
IN_URL = re.compile(r"(?<=://)[^/@\s:]*:[^/@\s]+(?=@)")


def command_line(argv: list[str]) -> str:
    """The arguments on one line, values of secret options masked, at most `LIMIT` characters."""
    shown, hiding = [], False
    for argument in argv:
        is_option = argument.startswith("-")
        hiding = hiding and not is_option
        shown.append(MASK if hiding else _masked(argument))
        if is_option and "=" not in argument:
            hiding = _is_secret(argument)
    line = " ".join(" ".join(shown).split())
    return line if len(line) <= LIMIT else line[: LIMIT - 1] + "…"


def _masked(argument: str) -> str:
    assigned = ASSIGNED.match(argument)
    if assigned and _is_secret(assigned["name"]):
        return f"{assigned['name']}={MASK}"
    return IN_URL.sub(MASK, KNOWN_SHAPE.sub(MASK, argument))


def _is_secret(name: str) -> bool:
    return not SECRET_WORDS.isdisjoint(re.split(r"[-_.]", name.lower()))
