"""Moments as a person types them: `12:04`, `12-01 03:00`, `-10m`, `boot`, `last start`. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

WORDS = ("now", "boot", "last start", "last failure")
SPAN = re.compile(r"-?\s*(?=\d)(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m(?:in)?)?\s*(?:(\d+)s)?\s*(?:ago)?\Z")
CLOCK = re.compile(
    r"(?:(?:(\d{4})-)?(\d{1,2})-(\d{1,2})[T ])?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?\s*(Z|UTC)?\Z"
)
DAY = re.compile(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})\Z")
EXPECTED = "expected 12:04, 12-01 03:00, -10m, boot, last start, last failure or now"


class MomentError(ValueError):
    """It cannot be understood; the message says what was expected."""


def moment(text: str, now: datetime, zone: tzinfo | None = None) -> datetime | str:
    """The moment, or one of `WORDS`. A clock time without a day is the last such time. Raises `MomentError`.

    `zone`: that times are typed in; `None`: the console's own.
    """
    words = " ".join(text.lower().split())
    known = next((one for one in WORDS if words and one.startswith(words) and len(words) > 1), None)
    if known:
        return known
    try:
        return _span(words, now) or _clock(text.strip(), now, zone)
    except (ValueError, OverflowError):
        raise MomentError(f"'{text}' is no time; {EXPECTED}") from None


def _span(words: str, now: datetime) -> datetime | None:
    found = SPAN.match(words)
    if found is None or not (words.startswith("-") or words.endswith("ago")) or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return now - timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _clock(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    found = CLOCK.match(text)
    day = found or DAY.match(text)
    if day is None:
        raise ValueError(text)
    here = now.astimezone(UTC if found and found[8] else zone)
    hour, minute, second = (int(part or 0) for part in (found.groups()[3:6] if found else (0, 0, 0)))
    fraction = int((found[7] or "0").ljust(6, "0")) if found else 0
    wanted = here.replace(hour=hour, minute=minute, second=second, microsecond=fraction)
    year, month, date = day.groups()[:3]
    if month is None:
        return (wanted if wanted <= here else wanted - timedelta(days=1)).astimezone(UTC)
    wanted = wanted.replace(year=int(year or here.year), month=int(month), day=int(date))
    is_to_come = wanted > here and not year
    return (wanted.replace(year=wanted.year - 1) if is_to_come else wanted).astimezone(UTC)
