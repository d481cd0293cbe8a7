"""Numbers that look measured and depend on their names alone, so that pictures can be repeated. Pure."""

from __future__ import annotations

from hashlib import blake2b
from math import floor

FULL = 2**64


def noise(*names: object) -> float:
    """0 <= x < 1, the same for the same names."""
    return int.from_bytes(blake2b(repr(names).encode(), digest_size=8).digest(), "big") / FULL


def between(low: float, high: float, *names: object) -> float:
    """`low` <= x < `high`, the same for the same names."""
    return low + (high - low) * noise(*names)


def moving(now: float, period_seconds: float, *names: object) -> float:
    """0 <= x < 1, moving smoothly with `now`; one new direction each period."""
    place = now / period_seconds
    step = floor(place)
    part = place - step
    eased = part * part * (3 - 2 * part)
    return noise(*names, step) * (1 - eased) + noise(*names, step + 1) * eased


def hex_id(digits: int, *names: object) -> str:
    """An identifier of that many hex digits."""
    return blake2b(repr(names).encode(), digest_size=(digits + 1) // 2).hexdigest()[:digits]
