"""What is wrong with a unit's arguments, by the list of options that its engine takes. Pure.

It judges as argparse would: unique beginnings are taken for the whole, several are refused.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from dflashtui.engines.flag_lists import versions_with
from dflashtui.model.base import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.model.flag import Flag, FlagList

NEGATIVE = re.compile(r"-\d+(?:\.\d*)?(?:e[+-]?\d+)?\Z")
LEAST_LIKE = 0.72
SURELY_LIKE = 0.83
MODEL = ("--model-path", "--model", "--config")


class ArgumentFault(Value):
    """One word, or one that lacks."""

    flag: str
    level: Literal["fatal", "warning", "note"]
    message: str
    evidence: tuple[str, ...] = ()
    instead: str | None = None
    """What was probably meant."""


def argument_faults(known: FlagList, words: Sequence[str], moved: Mapping[str, str]) -> tuple[ArgumentFault, ...]:
    """Every fault of `words`, the arguments behind the program and its subcommand. `moved`: new names of options."""
    return tuple(_Judge(known, words, moved).faults())


class _Judge:
    """Goes through the words once."""

    def __init__(self, known: FlagList, words: Sequence[str], moved: Mapping[str, str]) -> None:
        self._known = known
        self._moved = moved
        self._words = words
        self._by_name = {name: flag for flag in known.flags for name in flag.names}

    def faults(self) -> Iterator[ArgumentFault]:
        """In the order of the words."""
        position = 0
        while position < len(self._words):
            word = self._words[position]
            position += 1
            if word == "--":
                return
            if not _is_option(word):
                continue
            name, equals, value = word.partition("=")
            flag, fault = self._flag(name)
            if fault:
                yield fault
            if flag is None or flag.takes == "unknown":
                continue
            following = self._words[position] if position < len(self._words) else None
            if flag.takes == "one" and not equals:
                value = following or ""
                position += 1 if following is not None and not _is_option(following) else 0
            yield from self._valued(flag, name, value if equals else None, following)
        yield from self._lacking()

    def _flag(self, name: str) -> tuple[Flag | None, ArgumentFault | None]:
        spelt = self._spelt(name)
        if spelt in self._by_name:
            flag = self._by_name[spelt]
            return flag, _deprecated(name) if flag.is_deprecated else None
        if not name.startswith("--"):
            return None, None
        longer = sorted(one for one in self._by_name if one.startswith(spelt))
        meant = {self._by_name[one].names for one in longer}
        if len(meant) == 1:
            return self._by_name[longer[0]], _shortened(name, longer[0])
        return None, self._ambiguous(name, longer) if meant else self._unrecognized(name, spelt)

    def _spelt(self, name: str) -> str:
        """VLLM takes underscores for hyphens, and `--config.key` for a part of a setting."""
        if self._known.engine != "vllm" or not name.startswith("--"):
            return name
        return name.partition(".")[0].replace("_", "-").rstrip("+")

    def _unrecognized(self, name: str, spelt: str) -> ArgumentFault:
        moved = self._moved.get(spelt, "")
        close = get_close_matches(spelt, self._by_name, n=3, cutoff=LEAST_LIKE)
        is_there = moved.partition(" ")[0] in self._by_name
        likeliest = next(iter(get_close_matches(spelt, close, n=1, cutoff=SURELY_LIKE)), None)
        instead = moved if is_there else likeliest
        had = versions_with(self._known.engine, spelt)
        evidence = (
            *((f"{self._known.engine} {', '.join(had)} had it",) if had else ()),
            *((f"it is like {', '.join(close)}",) if close else ()),
        )
        level: Literal["fatal", "warning"] = "fatal" if self._known.is_whole else "warning"
        message = f"{self._release} has no option {name}"
        return ArgumentFault(flag=name, level=level, message=message, evidence=evidence, instead=instead)

    @property
    def _release(self) -> str:
        return f"{self._known.engine} {self._known.version or 'here'}"

    def _ambiguous(self, name: str, longer: Sequence[str]) -> ArgumentFault:
        message = f"{name} may mean {', '.join(longer[:6])}: {self._release} refuses it"
        return ArgumentFault(flag=name, level="fatal", message=message, instead=longer[0])

    def _valued(self, flag: Flag, name: str, given: str | None, following: str | None) -> Iterator[ArgumentFault]:
        """`given`: behind `=`."""
        if flag.takes == "nothing":
            if given is not None:
                yield ArgumentFault(flag=name, level="fatal", message=f"{name} takes no value, and is given {given!r}")
            return
        value = given if given is not None else following
        if value is None or (given is None and _is_option(value)):
            yield ArgumentFault(flag=name, level="fatal", message=f"{name} lacks its value")
        elif not value.startswith("$"):
            yield from _of_value(flag, name, value)

    def _lacking(self) -> Iterator[ArgumentFault]:
        if self._known.engine != "sglang" or not self._by_name.keys() & set(MODEL):
            return
        names = [self._flag(word.partition("=")[0])[0] for word in self._words if _is_option(word)]
        is_positional = bool(self._words) and not _is_option(self._words[0])
        if not is_positional and not any(flag and set(flag.names) & set(MODEL) for flag in names):
            yield ArgumentFault(flag="--model-path", level="fatal", message="the required --model-path lacks")


def _of_value(flag: Flag, name: str, value: str) -> Iterator[ArgumentFault]:
    if flag.choices and value not in flag.choices:
        close = get_close_matches(value, flag.choices, n=1, cutoff=0.6)
        yield ArgumentFault(
            flag=name,
            level="fatal",
            message=f"{name} does not take {value!r}",
            evidence=(f"it takes {', '.join(flag.choices)}",),
            instead=f"{name} {close[0]}" if close else None,
        )
    elif flag.type_name and not _is_number(value, flag.type_name):
        yield ArgumentFault(
            flag=name, level="fatal", message=f"{name} wants {_article(flag.type_name)}, and is given {value!r}"
        )


def _is_option(word: str) -> bool:
    """As argparse tells: not a number, and no word with a space in it."""
    return word.startswith("-") and len(word) > 1 and not NEGATIVE.match(word) and " " not in word.partition("=")[0]


def _is_number(value: str, kind: str) -> bool:
    try:
        return bool((int if kind == "int" else float)(value) or True)
    except ValueError:
        return False


def _article(kind: str) -> str:
    return "a whole number" if kind == "int" else "a number"


def _shortened(name: str, whole: str) -> ArgumentFault:
    message = f"{name} is taken for {whole}: another release may take it for something else"
    return ArgumentFault(flag=name, level="note", message=message, instead=whole)


def _deprecated(name: str) -> ArgumentFault:
    return ArgumentFault(flag=name, level="note", message=f"{name} is deprecated: a later release will not have it")
