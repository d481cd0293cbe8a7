"""Which Python program a unit's command starts. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.ops.preflight_question import Question

PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)(?:\d+(?:\.\d+)?t?)?\Z")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))\Z")
SHELLS = frozenset({"sh", "bash", "dash"})
WITH_VALUE = frozenset({"-X", "-W", "--check-hash-based-pycs"})
LETTERS = re.compile(r"-[a-zA-Z]+\Z")
THAT_MATTER = "IEsSPO"
"""Flags of the interpreter that change what it finds, or what a text means."""
SAFE = re.compile(r"-[a-zA-Z]*[IP]")
"""Flags that keep the program's own folder out of where modules are looked for."""
ENGINES = ("sglang", "vllm")


@dataclass(frozen=True, slots=True)
class Program:
    """One Python program, as it is started."""

    kind: Literal["module", "script"]
    target: str
    """A module's name, or a path."""
    flags: tuple[str, ...] = ()
    """Of the interpreter, as far as they matter to what it finds."""
    arguments: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Its own folder, or the working directory, is not looked in for modules."""
        return any(SAFE.match(flag) for flag in self.flags if not flag.startswith(tuple(WITH_VALUE)))

    @property
    def engine(self) -> str | None:
        """`sglang` or `vllm`, by the name of what is started."""
        stem = self.target.partition(".")[0] if self.kind == "module" else PurePosixPath(self.target).name
        return stem if stem in ENGINES else None


def program_of(question: Question) -> Program | None:
    """The program; `None`: the command does not say."""
    words = tuple(expanded(word, question.environment) for word in question.argv)
    return _program(_inner(words), question.interpreter)


def expanded(word: str, environment: Mapping[str, str]) -> str:
    """A word that is a variable alone, as systemd replaces it; others as they are."""
    found = VARIABLE.match(word)
    return environment.get(found[1] or found[2], word) if found else word


def _inner(words: Sequence[str]) -> tuple[str, ...]:
    """The command that a shell is given, as far as it is one plain command."""
    if not words or PurePosixPath(words[0]).name not in SHELLS:
        return tuple(words)
    text = next((words[at + 1] for at, word in enumerate(words[:-1]) if re.match(r"-\w*c\Z", word)), None)
    if text is None:
        return tuple(words)
    last = re.split(r"&&|;|\n", text.strip().rstrip(";"))[-1]
    try:
        inner = shlex.split(last)
    except ValueError:
        return tuple(words)
    return tuple(inner[1:] if inner[:1] == ["exec"] else inner)


def _program(words: Sequence[str], interpreter: str | None) -> Program | None:
    at = next((at for at, word in enumerate(words) if word == interpreter or PYTHON.match(word)), None)
    if at is not None:
        return _after_python(words[at + 1 :])
    folder = PurePosixPath(interpreter).parent if interpreter else None
    for position, word in enumerate(words):
        if word.startswith("/") and (position == 0 or PurePosixPath(word).parent == folder):
            return Program("script", word, (), tuple(words[position + 1 :]))
    return None


def _after_python(words: Sequence[str]) -> Program | None:
    flags: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in WITH_VALUE and left:
            flags += [word, left.pop(0)]
        elif word.startswith("-m") or re.match(r"-[a-zA-Z]*m\Z", word):
            attached = word[2:] if word.startswith("-m") else ""
            flags += [] if attached else _that_matter(word)
            name = attached or (left.pop(0) if left else "")
            return Program("module", name, tuple(flags), tuple(left)) if name else None
        elif not word.startswith("-"):
            return Program("script", word, tuple(flags), tuple(left))
        elif word == "-" or re.match(r"-[a-zA-Z]*c\Z", word):
            return None
        else:
            flags += _that_matter(word)
    return None


def _that_matter(word: str) -> list[str]:
    letters = [letter for letter in word[1:] if letter in THAT_MATTER] if LETTERS.match(word) else []
    return [f"-{''.join(letters)}"] if letters else []
