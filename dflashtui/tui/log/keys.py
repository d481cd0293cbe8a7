"""The keys of the log pane (console conventions, part 2)."""

from __future__ import annotations

from textual.binding import Binding

from dflashtui.tui.log.ranges import Range

MOVE = Binding.Group("move")
LOOK = Binding.Group("show")
FIRST_KEYS = [
    Binding("F,equals_sign", "follow", "Follow", id="log.follow", tooltip="Follow the newest line, or stay here"),
    Binding("slash", "prompt('/')", "Search", id="log.search", tooltip="Search as you type"),
    Binding("ampersand", "prompt('&')", "Filter", id="log.filter", tooltip="Only lines that match; !word: that do not"),
    Binding("e", "error(1)", "Error", id="log.next_error", tooltip="Next error"),
    Binding("L", "level", "Level", id="log.level", tooltip="Lowest level shown"),
    Binding("t", "stamp", "Times", id="log.times", tooltip="Clock, since start, gap to the line before, ago, off"),
    Binding("w", "wrap", "Wrap", id="log.wrap", tooltip="Wrap long lines"),
    Binding("c", "copy", "Copy", id="log.copy", tooltip="Copy the line, or what is selected"),
]
"""In the footer."""
MOVES = [
    ("E", "error(-1)", "Previous error", "previous_error"),
    ("x", "exception(1)", "Next exception", "next_exception"),
    ("X", "exception(-1)", "Previous exception", "previous_exception"),
    ("at", "prompt('@')", "Go to a time, in every log", "moment"),
    ("n", "hit(1)", "Next match", "next_match"),
    ("N", "hit(-1)", "Previous match", "previous_match"),
    ("m", "mark", "Mark, or take the mark away", "mark"),
    ("apostrophe", "next_mark", "Next mark", "next_mark"),
    ("down,j", "step(1)", "Down", "down"),
    ("up,k", "step(-1)", "Up", "up"),
    ("ctrl+d", "page(0.5)", "Half a page down", "half_down"),
    ("ctrl+u", "page(-0.5)", "Half a page up", "half_up"),
    ("pagedown", "page(1)", "Page down", "page_down"),
    ("pageup", "page(-1)", "Page up", "page_up"),
    ("home,g", "first", "The oldest line that is kept", "first"),
    ("end,G", "now", "The newest line, and follow", "now"),
    ("right", "shift(1)", "Further into long lines", "right"),
    ("left", "shift(-1)", "Back to the start of long lines", "left"),
]
LOOKS = [
    ("v", "colours", "The service's own colours, or none", "colours"),
    ("S", "further", "Search further back, on the host", "further"),
    ("o", "process", "Only the lines of one process, or all", "process"),
    ("h", "prefixes", "Process names in a column, prefixes hidden; or all as it is", "prefixes"),
    ("z", "fold", "Close or open the block; elsewhere all of them", "fold"),
    ("i", "histogram", "Lines and errors over time; ← → walk", "histogram"),
    ("r", "runs", "The runs of the unit; compare two", "runs"),
    ("b", "boots", "The boots of the host; go to the begin of one", "boots"),
    ("K", "kernel", "Lines of the kernel (Xid, out of memory) mixed in, or not", "kernel"),
    ("V", "select", "Select from here", "select"),
    ("C", "copy_block", "Copy the whole exception or block", "copy_block"),
    ("J", "copy_json", "Copy as JSON, as it was written", "copy_json"),
    ("enter", "open", "All fields of this entry", "open"),
    ("escape", "back", "Drop the search, then the newest filter, then the level", "back"),
    *((one.value, f"range('{one.value}')", one.words.capitalize(), f"range_{one.value}") for one in Range),
]
LOG_KEYS = [
    *FIRST_KEYS,
    *(
        Binding(key, action, words, show=False, id=f"log.{name}", tooltip=words, group=group)
        for table, group in ((MOVES, MOVE), (LOOKS, LOOK))
        for key, action, words, name in table
    ),
]
