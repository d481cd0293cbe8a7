"""What a stand-in says: the same words for the same prompt, however many tokens come at once."""

from __future__ import annotations

import zlib
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engine.settings import Settings

SENTENCE = (
    "the model answers with care and in order of thought; größe → 日本語 ünïcode naïve “quoted” 🚀 sum of parts is "
    "four plus nine, then a list of names follows, each with its reason, until nothing is left to say ."
)
WORDS = SENTENCE.split()


def answer(settings: Settings, prompt: str, limit: int) -> tuple[list[str], str]:
    """The tokens, and why they end: `stop` or `length`."""
    if "empty" in settings.faults:
        return [], "stop"
    seed = zlib.crc32(prompt.encode())
    wanted = max(1, settings.tokens * (75 + seed % 51) // 100)
    tokens = [f" {word}" for word in _words(settings, seed, wanted)]
    return tokens[:limit], "stop" if wanted <= limit else "length"


def _words(settings: Settings, seed: int, count: int) -> list[str]:
    if "repeats" in settings.faults:
        return ["again"] * count
    words = [WORDS[(seed + place * (1 + seed % 7)) % len(WORDS)] for place in range(count)]
    if "differs-early" in settings.faults:
        words[1:] = [f"x{word}" for word in words[1:]]
    if "differs-late" in settings.faults and seed % 4 == 0:
        words[-3:] = ["otherwise"]
    return words


def steps(settings: Settings, tokens: list[str]) -> Iterator[list[str]]:
    """One token of the prefill, then what each decoding step accepts."""
    yield tokens[:1]
    place = 1
    for count in cycle(settings.accept):
        if place >= len(tokens):
            return
        yield tokens[place : place + count]
        place += count
