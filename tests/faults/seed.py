"""The seed of what is random in the long tests: printed at the start, and the same again with `DFLASHTUI_SEED`."""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("DFLASHTUI_SEED") or random.SystemRandom().randrange(2**32))


def seeded(name: str) -> random.Random:
    """A source of chances of its own for each test, whichever run together."""
    return random.Random(f"{SEED} {name}")  # noqa: S311 - not a secret
