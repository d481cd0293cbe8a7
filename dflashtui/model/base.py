"""What all values have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Unknown is `None`, never 0; collections are tuples; times are aware UTC datetimes."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
