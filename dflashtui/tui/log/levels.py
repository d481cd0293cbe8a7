"""How bad a line is: the journal's priority, raised by the text. Pure.

Engines write everything to stderr, which journald keeps as info (systemd-ssh facts, part 1).
"""

from __future__ import annotations

import re

from dflashtui.model.journal import Priority

ERROR_WORDS = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL)\b"
    r"|Traceback \(most recent call last\)"
    r"|CUDA error|CUDA out of memory|NVRM: Xid|NCCL WARN|[Ss]egmentation fault|core dumped|Killed process \d"
    r"|\b\w*(?:Error|Exception|Interrupt): "
    r"|\b\w+(?:Error|Exception)$"
    r"|Received sigquit from a child"
)
WARNING_WORDS = re.compile(r"\bWARN(?:ING)?\b|\b\w*Warning: |HTTP/[\d.]+\" 5\d\d\b")
ERROR_HINTS = (
    "rror",
    "ERROR",
    "xception",
    "FATAL",
    "CRITICAL",
    "Traceback",
    "CUDA",
    "Xid",
    "NCCL",
    "fault",
    "dumped",
    "illed",
    "nterrupt",
    "sigquit",
)
WARNING_HINTS = ("WARN", "arning", '" 5')
"""Parts that every match contains: looking for them first takes 1 µs, the expressions 40 µs a line."""
SHOWN_FROM = (None, Priority.INFO, Priority.NOTICE, Priority.WARNING, Priority.ERR)
"""What `L` cycles through; `None`: everything, debug included."""
WORDS = {
    Priority.INFO: "info+",
    Priority.NOTICE: "notice+",
    Priority.WARNING: "warning+",
    Priority.ERR: "errors",
}


def level_of(text: str, priority: Priority) -> Priority:
    """The worse of what journald was told and what the text says."""
    if priority <= Priority.ERR:
        return priority
    if _has(text, ERROR_HINTS) and ERROR_WORDS.search(text):
        return Priority.ERR
    if priority > Priority.WARNING and _has(text, WARNING_HINTS) and WARNING_WORDS.search(text):
        return Priority.WARNING
    return priority


def _has(text: str, hints: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, hints))


def next_limit(limit: Priority | None) -> Priority | None:
    """The lowest level shown after `L` was pressed."""
    return SHOWN_FROM[(SHOWN_FROM.index(limit) + 1) % len(SHOWN_FROM)]
