"""What can be taken out of the log pane: lines, blocks, entries, all that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.log import messages
from dflashtui.tui.log.looking import Looking
from dflashtui.tui.log.ranges import Range
from dflashtui.tui.log.saving import Form, as_json, saved, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.record import Record


class Taking(Looking):
    """Copies, and wishes that go up."""

    def items_shown(self) -> tuple[JournalItem, ...]:
        """What is shown now, oldest first, one for each row: for saving as JSON."""
        return tuple(record.item for record in self._model.view.records if record.item is not None)

    def text_shown(self) -> str:
        """What is shown now as plain text with UTC times: for saving."""
        return self.saved_shown(Form.TEXT).decode()

    def saved_shown(self, form: Form) -> bytes:
        """What is shown now, filters applied, in a form that can be kept."""
        return saved(self._model.view.records, form, self.place)

    def _chosen(self) -> Sequence[Record]:
        """What was selected by keys, else the line under the cursor."""
        here = self._model.cursor
        return self._model.selected or ((here,) if here is not None else ())

    def action_select(self) -> None:
        """Begin a selection at this line, or drop it."""
        self._model.select()
        self._lines.refresh()

    def action_copy(self) -> None:
        """What is selected, by mouse or keys; else the line."""
        by_mouse = self.screen.get_selected_text()
        self._copy(by_mouse or "\n".join(map(shown, self._chosen())))

    def action_copy_block(self) -> None:
        """The whole exception, or the block, under the cursor."""
        here = self._model.cursor
        if here is not None:
            self._copy("\n".join(map(shown, here.whole_block)))

    def action_copy_json(self) -> None:
        """The entries as JSON lines, as they were written."""
        self._copy("\n".join(as_json(record.item) for record in self._chosen() if record.item is not None))

    def _copy(self, text: str) -> None:
        if text:
            self.post_message(messages.CopyWanted(self, self.host, self.unit, text))

    def action_range(self, key: str) -> None:
        """Another part of the journal."""
        if self.unit:
            self.post_message(messages.RangeWanted(self, self.host, self.unit, Range(key)))

    def action_open(self) -> None:
        """All fields of the entry."""
        here = self._model.cursor
        if here is not None and here.entry is not None:
            place = here.source or self.place
            self.post_message(messages.EntryOpened(self, place.host, place.unit, here.entry))

    def on_log_lines_entered(self) -> None:
        """By a double click."""
        self.action_open()

    def action_runs(self) -> None:
        """The runs of the unit."""
        if self.unit:
            self.post_message(messages.RunsWanted(self, self.host, self.unit))

    def action_boots(self) -> None:
        """The boots of the host."""
        if self.unit:
            self.post_message(messages.BootsWanted(self, self.host, self.unit))

    def action_kernel(self) -> None:
        """Kernel lines beside the unit's, or not."""
        if self.unit:
            self.post_message(messages.KernelWanted(self, self.host, self.unit))
