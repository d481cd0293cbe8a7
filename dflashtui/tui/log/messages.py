"""What the log pane wishes from its owner: it does no I/O of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from textual.widget import Widget

    from dflashtui.model.journal import JournalEntry
    from dflashtui.tui.log.ranges import Range


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
