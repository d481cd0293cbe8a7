"""What the log pane wishes from its owner: it does no I/O of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from datetime import datetime

    from textual.widget import Widget

    from dflashtui.model.journal import JournalEntry
    from dflashtui.tui.log.pattern import Pattern
    from dflashtui.tui.log.ranges import Range
    from dflashtui.tui.log.record import Record, Source

    Around = tuple[str | None, str | None]


class LogMessage(Message):
    """From one log pane."""

    def __init__(self, pane: Widget, host: str, unit: str) -> None:
        super().__init__()
        self.pane = pane
        self.host = host
        self.unit = unit

    @property
    def control(self) -> Widget:
        """The pane."""
        return self.pane


class OlderWanted(LogMessage):
    """A person reads back beyond what is kept: answer with `LogPane.prepend`, with nothing if there is no more."""

    def __init__(self, pane: Widget, host: str, unit: str, before_cursor: str) -> None:
        super().__init__(pane, host, unit)
        self.before_cursor = before_cursor


class HoleReached(LogMessage):
    """A person came to lines that are missing: answer with `LogPane.fill`.

    They stand after and before these cursors (`None`: to the end); `from_below`: the newer ones are wanted first.
    """

    def __init__(self, pane: Widget, place: Source, hole: Record, around: Around, *, from_below: bool) -> None:
        super().__init__(pane, place.host, place.unit)
        self.hole = hole
        self.after, self.before = around
        self.from_below = from_below


class FurtherWanted(LogMessage):
    """The search is to go on at the host, further back than what is kept."""

    def __init__(self, pane: Widget, host: str, unit: str, pattern: Pattern, before: datetime) -> None:
        super().__init__(pane, host, unit)
        self.pattern = pattern
        self.before = before


class CancelWanted(LogMessage):
    """What is in progress is not wanted any more."""


class MomentWanted(LogMessage):
    """Every log is to show a moment, as it was typed: `12:04`, `-10m`, `last start`."""

    def __init__(self, pane: Widget, host: str, unit: str, text: str) -> None:
        super().__init__(pane, host, unit)
        self.text = text


class BootsWanted(LogMessage):
    """The boots of the host are to be listed."""


class RunsWanted(LogMessage):
    """The runs of the unit are to be listed."""


class ProcessesOffered(LogMessage):
    """One of these processes is to be chosen: answer with `LogPane.show_process`."""

    def __init__(self, pane: Widget, host: str, unit: str, counts: tuple[tuple[str, int], ...]) -> None:
        """`counts`: lines of each process, by its own name; the empty name: those that give none."""
        super().__init__(pane, host, unit)
        self.counts = counts


class KernelWanted(LogMessage):
    """Lines of the kernel are to be mixed in, or left out."""


class RangeWanted(LogMessage):
    """Another part of the journal is wanted (`0` … `6`): answer with `LogPane.show`."""

    def __init__(self, pane: Widget, host: str, unit: str, wanted: Range) -> None:
        super().__init__(pane, host, unit)
        self.wanted = wanted


class EntryOpened(LogMessage):
    """All fields of an entry are wanted."""

    def __init__(self, pane: Widget, host: str, unit: str, entry: JournalEntry) -> None:
        super().__init__(pane, host, unit)
        self.entry = entry


class CopyWanted(LogMessage):
    """A line, or what was selected, is to be copied; the text is safe to print."""

    def __init__(self, pane: Widget, host: str, unit: str, text: str) -> None:
        super().__init__(pane, host, unit)
        self.text = text
