"""How long to wait before the next attempt."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FIRST_SECONDS = 1.0
CAP_SECONDS = 60.0
STAYED_UP_SECONDS = 30.0


@dataclass(slots=True)
class Backoff:
    """Doubles with jitter up to a cap and never gives up; starts over after a link that *stayed* up."""

    rng: random.Random = field(default_factory=random.Random)
    attempts: int = 0

    def next_seconds(self, *, lived_seconds: float) -> float:
        """The wait after a link that lived that long (0: it never came up)."""
        if lived_seconds >= STAYED_UP_SECONDS:
            self.attempts = 0
        longest = min(CAP_SECONDS, FIRST_SECONDS * 2.0**self.attempts)
        self.attempts += 1
        return longest * self.rng.uniform(0.5, 1.0)

    def reset(self) -> None:
        """A person asked: start over."""
        self.attempts = 0
