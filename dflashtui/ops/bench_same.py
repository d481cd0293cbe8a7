"""The same prompt, greedy, of two services: is it the same text? Pure (inference-engines, part 8.2, item 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.bench import Difference, Sameness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.bench import LevelRun

EARLY_WORDS = 8
"""Ties of floating point are rare: in the first words of an answer they are hardly seen."""
EARLY_PERCENT = 10
FREQUENT_PERCENT = 50
EXCERPT = 60
LOOP_WORDS = 24
"""So many words in a row out of one or two are no answer."""


def sameness(first: Sequence[LevelRun], second: Sequence[LevelRun]) -> Sameness:
    """Compare what both said at the lowest level, turn by turn and prompt by prompt."""
    ours, theirs = _texts(first), _texts(second)
    pairs = [(key, text, theirs[key]) for key, text in ours.items() if key in theirs]
    found = [_difference(key, one, other) for key, one, other in pairs if one != other]
    return Sameness(
        pairs=len(pairs),
        identical=len(pairs) - len(found),
        differences=tuple(sorted(found, key=lambda one: one.at_word)),
        broken=(*_broken("A", ours), *_broken("B", theirs)),
    )


_Key = tuple[int, int, str]


def _texts(runs: Sequence[LevelRun]) -> dict[_Key, str]:
    return {
        (run.turn, place, one.prompt): one.text
        for run in runs
        for place, one in enumerate(run.requests)
        if one.is_ok and one.text is not None
    }


def _difference(key: _Key, one: str, other: str) -> Difference:
    turn, _, prompt = key
    at = _common_length(one, other)
    return Difference(
        prompt=prompt,
        turn=turn,
        at_character=at,
        at_word=len(one[:at].split()),
        before=one[max(0, at - EXCERPT) : at],
        first=one[at : at + EXCERPT],
        second=other[at : at + EXCERPT],
    )


def _common_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _broken(label: str, texts: dict[_Key, str]) -> Iterator[str]:
    for (turn, _, prompt), text in texts.items():
        words = text.split()
        if not words:
            yield f"{label}: {prompt}, turn {turn + 1}: empty"
        elif len(words) >= LOOP_WORDS and len(set(words[-LOOP_WORDS:])) <= 2:  # noqa: PLR2004 - one or two words
            yield f"{label}: {prompt}, turn {turn + 1}: {words[-1]!r} again and again"


def objections(found: Sameness) -> Iterator[str]:
    """Why these texts forbid a comparison."""
    if not found.pairs:
        yield "no answer of the two could be compared"
        return
    early = [one for one in found.differences if one.at_word < EARLY_WORDS]
    if len(early) > 1 and 100 * len(early) >= EARLY_PERCENT * found.pairs:
        yield (
            f"{len(early)} of {found.pairs} answers differ within their first {EARLY_WORDS} words: "
            "the two do not compute the same"
        )
    elif 100 * len(found.differences) > FREQUENT_PERCENT * found.pairs:
        yield f"{len(found.differences)} of {found.pairs} answers differ: too many for ties of floating point"
    if found.broken:
        yield f"{len(found.broken)} answers are broken, the first: {found.broken[0]}"


def remarks(found: Sameness) -> Iterator[str]:
    """What to know of the texts where a comparison stands."""
    if found.differences:
        one = found.differences[0]
        yield (
            f"{found.identical} of {found.pairs} answers are the same; the first difference is at word {one.at_word} "
            f"of {one.prompt}: late ones come of floating point in other batch shapes"
        )
