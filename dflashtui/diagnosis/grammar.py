"""Shapes of the lines of a Python traceback (crash-log forms, part 4). Every pattern takes linear time."""

from __future__ import annotations

import re
from typing import NamedTuple

HEADER = "Traceback (most recent call last)"
GROUP_HEADER = "Exception Group Traceback (most recent call last)"
CAUSED = "The above exception was the direct cause of the following exception:"
DURING = "During handling of the above exception, another exception occurred:"

_NAME = r"[A-Za-z_]\w{0,120}"
EXCEPTION = re.compile(
    rf"(?P<type>{_NAME}(?:\.(?:{_NAME}|"
    rf"<locals>)){{0,15}}(?:\[[\w, .]{{1,80}}\])?(?:\([\w., ]{{1,120}}\))?)(?P<colon>:(?: (?P<text>.*))?)?\s*$",
    re.DOTALL,
)
SURE_NAME = re.compile(
    r"(?:.*[a-z0-9_A-Z])?(?:Error|Exception|Interrupt|Exit|ExceptionGroup|Warning|Failure|Timeout|"
    r"NotFound|Denied|Unavailable)\b"
    r"|.*\bNVMLError_\w+|.*\bStopIteration\b|.*\bPanic\w*$|.*\bFull$|.*\bEmpty$"
)
LOWER_NAME = re.compile(r"(?:error|timeout|exception)$")
"""`socket.gaierror`, `struct.error`: only behind a module's name."""
MARGIN = re.compile(r"[ |]*\| ?")
LEAF = re.compile(r"[ |]*\+(?:-\+)?-{4,40} (?:\d{1,6}|\.\.\.) -{4,40}$")
GROUP_END = re.compile(r"[ |]*\+-{10,60}$")
GROUP_TEXT = re.compile(r"\(\d+ sub-exceptions?\)")
MARKERS = re.compile(r"[\s~^]+$")
ELLIPSIS = re.compile(r"\s+\.\.\.<\d+ lines>\.\.\.$")
REPEATED_FRAME = re.compile(r"\s+\[Previous line repeated \d+ more times?\]$")
ORDINARY_WORDS = frozenset(
    [
        "Loading",
        "Starting",
        "Started",
        "Stopping",
        "Using",
        "Usage",
        "Warning",
        "Note",
        "Info",
        "Debug",
        "Message",
        "Arguments",
        "Example",
        "Available",
        "Error",
        "Failed",
        "Waiting",
        "Running",
        "Downloading",
        "Options",
        "Commands",
        "Process",
        "Detected",
        "Model",
        "Found",
        "Setting",
        "Initializing",
        "Capturing",
        "Fetching",
        "Killed",
        "Aborted",
    ]
)


class ExceptionLine(NamedTuple):
    """`pkg.mod.Type: text`."""

    type: str
    text: str
    is_sure: bool
    """The name alone says that it is an exception."""
    is_bare: bool = False
    """There is no message, on the next lines neither."""


def exception_line(text: str) -> ExceptionLine | None:
    """What an unindented line behind frames says, if it is an exception's line."""
    match = EXCEPTION.match(text)
    if match is None:
        return None
    name = match["type"]
    last = name.partition("(")[0].rpartition(".")[2]
    is_sure = SURE_NAME.match(last) is not None or ("." in name and LOWER_NAME.search(last) is not None)
    if not is_sure and (not last[:1].isupper() or last.isupper() or last in ORDINARY_WORDS):
        return None
    if not is_sure and match["colon"] is None and "." not in name:
        return None
    return ExceptionLine(name, (match["text"] or "").rstrip(), is_sure, match["colon"] is None)


def is_group(name: str) -> bool:
    """`ExceptionGroup` and its kin, which say nothing themselves."""
    return name.rpartition(".")[2] in {"ExceptionGroup", "BaseExceptionGroup"}


def unmargined(text: str) -> str:
    """A line of an exception group without its margin."""
    match = MARGIN.match(text)
    return text[match.end() :] if match else text
