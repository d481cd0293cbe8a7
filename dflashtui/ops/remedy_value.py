"""What to do about a failure, in the words of its host."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Self

from dflashtui.diagnosis.remedies import Remedy
from dflashtui.model.action import Weight

if TYPE_CHECKING:
    from collections.abc import Iterable


class HostRemedy(Remedy):
    """One thing to do, with the facts behind it. Facts are the host's text: not yet `printable()`."""

    details: tuple[str, ...] = ()
    """Why this, and what is known: versions, pins, processes; a line each."""
    argv: tuple[str, ...] | None = None
    """What can be run on the host after a confirmation; `None`: a person has to do it elsewhere, or only look."""
    weight: Weight = Weight.NORMAL
    reasons: tuple[str, ...] = ()
    """Why it is heavy, in words."""
    is_cure: bool = False
    """The service may well start once this was done."""

    @classmethod
    def of(cls, title: str, argv: Iterable[str], details: Iterable[str] = (), reasons: Iterable[str] = ()) -> Self:
        """One that can be run, and cures; heavy if there are reasons."""
        words, why = tuple(argv), tuple(reasons)
        return cls(
            title=title,
            command=shlex.join(words),
            details=tuple(details),
            argv=words,
            weight=Weight.HEAVY if why else Weight.NORMAL,
            reasons=why,
            is_cure=True,
        )
