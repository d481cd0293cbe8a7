"""`Exec…=` taken apart: programs, their prefixes and arguments (systemd.service(5), "Command lines")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.unitfile.words import Word, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.unitfile.reading import UnitFile

BLANKS = re.compile(r"[ \t\n\r]+")
PREFIXES = "-@:+!"
BRACED = re.compile(r"\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
WHOLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)\Z")
SPECIFIER = re.compile(r"%(.)", re.DOTALL)
INTERPRETER = re.compile(r"(?:^|/)(?:python|pypy)[0-9.]*t?\Z")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of an `Exec…=`."""

    prefixes: str
    program: str
    arguments: tuple[Word, ...]
    """As they are written: specifiers and variables not yet replaced."""
    line: int = 0

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments, `%%` and `$$` as one character; other specifiers and variables as they are."""
        return (settled(self.program), *(self._without_doubles(word) for word in self._rest))

    def argv_in(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """`argv` with `$NAME` (split at blanks) and `${NAME}` replaced as at run time; unset ones are empty."""
        if ":" in self.prefixes:
            return self.argv
        found = [settled(self.program)]
        for word in self._rest:
            if whole := WHOLE.match(word):
                found += filter(None, BLANKS.split(environment.get(whole[1], "")))
            else:
                found.append(BRACED.sub(lambda part: part[1] or environment.get(part[2], ""), word))
        return tuple(found)

    @property
    def _rest(self) -> tuple[str, ...]:
        """With `@` the first argument is what the program sees as its own name."""
        arguments = self.arguments[1:] if "@" in self.prefixes else self.arguments
        return tuple(settled(word.text) for word in arguments)

    def _without_doubles(self, word: str) -> str:
        return word if ":" in self.prefixes else word.replace("$$", "$")

    @property
    def is_python(self) -> bool:
        """The program is a Python interpreter."""
        return INTERPRETER.search(self.program) is not None


def commands(value: str, line: int = 0) -> tuple[Command, ...]:
    """The commands of one value: several where a `;` stands alone. Raises `UnbalancedQuotes`."""
    found: list[list[Word]] = [[]]
    for word in words(value):
        if word.raw == ";":
            found.append([])
        else:
            found[-1].append(Word(";", word.raw) if word.raw == r"\;" else word)
    return tuple(_command(each, line) for each in found if each)


def _command(found: list[Word], line: int) -> Command:
    first = found[0].text
    program = first.lstrip(PREFIXES)
    return Command(first[: len(first) - len(program)], program, tuple(found[1:]), line)


def start_commands(unit: UnitFile) -> tuple[Command, ...]:
    """What `ExecStart=` runs; lines that systemd would refuse are left out."""
    found: list[Command] = []
    for entry in unit.all("Service", "ExecStart"):
        try:
            found += commands(entry.value, entry.line)
        except ValueError:
            continue
    return tuple(found)


def settled(text: str, specifiers: Mapping[str, str] | None = None) -> str:
    """With `%%` as `%`, and those specifiers replaced that are known; others stay."""
    known = {"%": "%", **(specifiers or {})}
    return SPECIFIER.sub(lambda found: known.get(found[1], found[0]), text)
