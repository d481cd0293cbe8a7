"""The log pane's searches and filters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from textual.actions import SkipAction

from dflashtui.tui.log import messages
from dflashtui.tui.log.filters import NO_NAME
from dflashtui.tui.log.moving import Moving
from dflashtui.tui.log.pattern import Pattern

if TYPE_CHECKING:
    from dflashtui.tui.log.prompt import LogPrompt
    from dflashtui.tui.log.record import Record


class Narrowing(Moving):
    """What is looked for, and what is hidden."""

    _typed_filter = False
    """Whether the newest filter is the one that is being typed."""

    def on_log_prompt_typed(self, event: LogPrompt.Typed) -> None:
        """Search or filter as it is typed."""
        pattern = Pattern(event.text) if event.text else None
        if event.kind == "&":
            self._filter_as_typed(pattern)
        else:
            self._model.search(pattern)
            if pattern is not None:
                self._model.nearest_hit()
        self._renew()

    def _filter_as_typed(self, pattern: Pattern | None) -> None:
        patterns = self._model.filters.patterns
        before = patterns[:-1] if self._typed_filter else patterns
        self._typed_filter = pattern is not None
        self._model.narrow(self._model.filters.with_patterns((*before, *((pattern,) if pattern else ()))))

    def on_log_prompt_kept(self, event: LogPrompt.Kept) -> None:
        """A moment to go to."""
        if event.kind == "@" and event.text.strip():
            self.post_message(messages.MomentWanted(self, self.host, self.unit, event.text.strip()))

    def on_log_prompt_closed(self) -> None:
        """Keys go to the lines again."""
        self._typed_filter = False
        self._lines.focus()

    def action_prompt(self, kind: str) -> None:
        """Open the line for a search (`/`), one more filter (`&`) or a moment (`@`)."""
        query = self._model.view.query
        self._typed_filter = False
        self._prompt.open(kind, query.text if query and kind == "/" else "")

    @property
    def patterns(self) -> tuple[str, ...]:
        """The filters that hold, as they were typed."""
        return tuple(pattern.text for pattern in self._model.filters.patterns)

    def filter_by(self, patterns: tuple[str, ...]) -> None:
        """Other filters in place of those that hold."""
        self._model.narrow(self._model.filters.with_patterns([Pattern(text) for text in patterns]))
        self._renew()

    def action_level(self) -> None:
        """Hide the least bad lines."""
        self._model.show_level()
        self._moved()

    def action_process(self) -> None:
        """Choose a process, or all again."""
        if self._model.filters.process is not None:
            self.show_process(None)
            return
        counts = Counter(record.process for record in self._model.buffer.records if not record.is_ours)
        self.post_message(messages.ProcessesOffered(self, self.host, self.unit, tuple(counts.most_common())))

    def show_process(self, name: str | None) -> None:
        """Only the lines of one process, by its own name; empty: of those without one; `None`: all."""
        self._model.narrow(self._model.filters.with_process(NO_NAME if name == "" else name))
        self._renew()

    def action_further(self) -> None:
        """Go on with the search at the host, beyond what is kept."""
        query, oldest = self._model.view.query, self._oldest
        if query is None or query.is_inverted:
            self.notify("nothing is searched for that a host could look for; / begins", markup=False, timeout=3)
        elif oldest is not None and self.unit:
            self.post_message(messages.FurtherWanted(self, self.host, self.unit, query, oldest.at))

    @property
    def _oldest(self) -> Record | None:
        return next(iter(self._model.buffer.records), None)

    def action_back(self) -> None:
        """One step back: progress, selection, search, newest filter, process, level; then it is the screen's key."""
        filters = self._model.filters
        if self.progress:
            self.post_message(messages.CancelWanted(self, self.host, self.unit))
        elif self._model.anchor is not None:
            self._model.anchor = None
        elif self._model.view.query is not None:
            self._model.search(None)
        elif filters.patterns:
            self._model.narrow(filters.with_patterns(filters.patterns[:-1]))
        elif filters.process is not None:
            self._model.narrow(filters.with_process(None))
        elif filters.limit is not None:
            self._model.narrow(filters.with_level(None))
        else:
            raise SkipAction
        self._renew()
