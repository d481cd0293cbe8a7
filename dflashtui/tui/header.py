"""What header and footer say. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.host import LinkState
from dflashtui.text import human_span, printable
from dflashtui.tui import cells
from dflashtui.tui.picture import totals
from dflashtui.tui.styled import EMPTY, Cell, cell, join, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.tui.picture import Picture, Totals

SLOW_AFTER_SECONDS = 6.0
"""Hosts in view are sampled every 2 s."""


def header_left(picture: Picture, place: str, room: int) -> Cell:
    """Name, where we are, and the counts; the longest form that fits into `room` cells."""
    total = totals(picture)
    long, short = (
        ((" ", ""), (_name(picture), "title"), (f"  {place}", "dim"), ("    ", "")),
        ((f" {place}", "title"), ("  ", "")),
    )
    alarms = _alarms(total)
    worded, plain = _counts(total, with_words=True), _counts(total, with_words=False)
    forms = (
        (long, (*worded, *alarms), "   "),
        (long, (*plain, *alarms), "   "),
        (short, (*plain, *alarms), "  "),
        (short, (*plain[:2], *alarms), "  "),
        (short, (*alarms, *plain), "  "),
    )
    shapes = [(*start, *join(parts, separator)) for start, parts, separator in forms]
    return next((shape for shape in shapes if measured(shape) <= room), shapes[-1])


def _alarms(total: Totals) -> tuple[Cell, ...]:
    return (
        _alarm(total.alarms, "alarm", "bad"),
        cell(f"{total.unseen} unseen", "stale") if total.unseen else EMPTY,
        _alarm(total.warnings, "warning", "warn"),
    )


def _counts(total: Totals, *, with_words: bool) -> tuple[Cell, ...]:
    return (
        _count("hosts", total.hosts_up, total.hosts, " up" * with_words, is_alarm=True),
        _count("services", total.ready, total.services, " ready" * with_words, is_alarm=True),
        _count("GPUs", total.gpus_used, total.gpus, " in use" * with_words, is_alarm=False),
    )


def _name(picture: Picture) -> str:
    groups = {host.group for host in picture.hosts if host.group}
    return printable(groups.pop(), limit=24) if len(groups) == 1 else "dflashtui"


def _count(noun: str, part: int, whole: int, words: str, *, is_alarm: bool) -> Cell:
    if not whole:
        return ((f"{noun} ", "dim"), ("–", "dim"))
    tone = "warn" if is_alarm and part < whole else ""
    return ((f"{noun} ", "dim"), (f"{part}/{whole}", tone), (words, "dim"))


def _alarm(count: int, noun: str, role: str) -> Cell:
    return cell(f"{count} {noun}{'s' if count > 1 else ''}", role) if count else EMPTY


def header_right(picture: Picture) -> Cell:
    """Badges, the freeze, and the clock; without seconds, for they would draw the whole screen anew each time."""
    frozen = picture.frozen_since
    marks = (
        cell(f" FROZEN since {frozen.astimezone():%H:%M:%S} ", "badge") if frozen else EMPTY,
        cell(" DEMO ", "badge") if picture.is_demo else EMPTY,
        cell(" READ-ONLY ", "badge") if picture.read_only else EMPTY,
    )
    return (*join(marks, " "), (f" {picture.now.astimezone():%H:%M} ", "dim"))


def footer_right(picture: Picture, looked_at: Sequence[str]) -> Cell:
    """The age of the oldest value of a live host in view, the channels in use, and the lines that were dropped."""
    up = [host for host in picture.hosts if host.link.state is LinkState.UP]
    ages = [cells.age_seconds(host, picture.now) or 0.0 for host in up if host.name in looked_at]
    oldest = max(ages, default=0.0)
    channels = [host.channels for host in up if host.channels is not None]
    dropped = sum(host.journal_dropped_count for host in picture.hosts)
    parts = (
        cell(f"oldest value {human_span(oldest)}", "stale") if oldest >= SLOW_AFTER_SECONDS else EMPTY,
        cell(f"{sum(channels)} channels", "dim") if channels else EMPTY,
        cell(f"{dropped} lines dropped", "warn") if dropped else EMPTY,
    )
    return (*join(parts, " · "), (" ", ""))


def footer_left(keys: Iterable[tuple[str, str]], room: int) -> Cell:
    """`enter open  a actions`: keys that work now, whole ones only; the one for help is never left out."""
    parts = [((key, "accent"), (f" {words}", "dim")) for key, words in keys]
    last = [part for part in parts if part[1][0] == " help"]
    shown = [part for part in parts if part not in last]
    while shown and measured(_footer(shown + last)) > room:
        shown.pop()
    return _footer(shown + last)


def _footer(parts: Iterable[Cell]) -> Cell:
    return ((" ", ""), *join(parts, "  "))
