"""A row of the tables that tell kinds."""

from __future__ import annotations

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """`kind`, if the exception's type and the message say so; an empty pattern asks nothing."""

    kind: str
    text: re.Pattern[str] | None
    type: re.Pattern[str] | None = None


def rule(kind: str, *wordings: str, types: tuple[str, ...] = ()) -> Rule:
    """`wordings` are searched in the message, whatever its case; `types` in the exception's qualified name."""
    text = re.compile("|".join(wordings), re.IGNORECASE) if wordings else None
    return Rule(kind, text, re.compile("|".join(types)) if types else None)
