"""What log writers put before a text, in any order and number (crash-log forms, part 3).

Adding a writer: one `Token` in `TOKENS`, and a sample log beside it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["time", "level", "source", "process", "rank", "container", "writer", "separator", "name"]

MAX_TOKENS = 12
LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE"
_DATE = r"\d{4}[-/]\d\d[-/]\d\d"
_TIME = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z\b|UTC|[+-]\d\d:?\d\d))?"
_MONTH = r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d"
_GLUED = r"[A-Z]\w{2,60}(?:Error|Exception)\b"
_MONTH_ABROAD = r"(?:\d{1,2}[月월]|[^\W\d_]{3,5}\.?)"
"""journalctl's short form has the language of the shell."""
_RANKS = r"(?: ?(?:[A-Z][A-Z_]*\d+))"
_SOURCE_FILE = r"[\w./<>~+-]{1,200}\.(?:py|pyx|cpp|cc|cu|cuh|hpp|h|c|go|rs)"


class Token(NamedTuple):
    """One thing a prefix is made of; `pattern` is matched where the text begins.

    Named groups: `label` (who writes), `pid`, `level`, `identifier`, `host`.
    `starts`: the characters it can begin with. `after`: the kinds one of which has to stand before it, if any.
    """

    kind: Kind
    starts: str
    pattern: re.Pattern[str]
    after: tuple[Kind | None, ...] = ()


DIGITS = "0123456789"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL = "abcdefghijklmnopqrstuvwxyz"
CYRILLIC = "янфмаисод"


def _token(kind: Kind, starts: str, pattern: str, after: tuple[Kind | None, ...] = ()) -> Token:
    return Token(kind, starts, re.compile(pattern), after)


TOKENS: tuple[Token, ...] = (
    _token("separator", ">", r">(?: |$)", after=(None,)),  # pasted as a quotation
    # [2031-01-02 03:04:05 DP1 TP3] of sglang, [… +0000] of gunicorn
    _token("time", "[", rf"\[(?:{_DATE}[T ])?{_TIME}{_ZONE}(?P<label>{_RANKS}*)\](?: |$)"),
    _token("time", DIGITS, rf"{_DATE}[T ]{_TIME}{_ZONE}(?= |$|:)"),
    _token("time", DIGITS, rf"(?:\d\d[-/.]\d\d(?:[-/.]\d{{2,4}})?[ T]|\d{{8}} )?{_TIME}(?= |$|\[|{_GLUED})"),
    _token(
        "time",
        "[",
        rf"\[(?:{_DATE}|\d\d/[A-Z][a-z][a-z]/\d{{4}}|\d\d/\d\d/\d{{4}}-|"
        rf"\d\d[-/]\d\d(?:[-/]\d\d)?)?[ :T]?{_TIME}{_ZONE}\](?: |$)",
    ),
    _token("rank", CAPITALS, rf"{_MONTH} {_TIME} \d{{4}}\[\d+,(?P<label>\d+)\]<std(?:err|out)>:"),  # mpirun
    _token("rank", "[", r"\[\d+,(?P<label>\d+)\]<std(?:err|out)>:"),
    _token("time", CAPITALS, rf"(?:[A-Z][a-z]{{2}} {_DATE} {_TIME} [A-Z]{{2,5}}|{_MONTH} {_TIME})(?= )"),
    _token("level", DIGITS, r"\d{1,4}\.\d\d\.\d{3}\.\d{3} (?P<level>[IWED]) "),  # llama.cpp's own
    _token("time", CAPITALS + SMALL + DIGITS + CYRILLIC, rf"{_MONTH_ABROAD} {{1,2}}\d{{1,2}} {_TIME}(?= )"),
    _token("time", DIGITS, r"\d{9,10}\.\d{3,9}(?= )"),
    _token("time", "[", r"\[ *\d+\.\d{6}\] "),
    # journalctl's short form, after the time
    _token(
        "writer",
        CAPITALS + SMALL + DIGITS + "(_",
        r"(?:(?P<host>[\w.-]{1,255}) )?(?P<identifier>[\w@./\\()+-][\w@./\\()+:-]{0,99})\[(?P<pid>\d{1,10})\]: ?",
        after=("time",),
    ),
    _token(
        "writer",
        CAPITALS + SMALL + DIGITS,
        r"(?P<host>[\w.-]{1,255}) (?P<identifier>kernel|systemd): ?",
        after=("time",),
    ),
    # Rust's tracing: level, spans, target
    _token(
        "level",
        "TDIWE",
        r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR) (?:[a-z][\w-]{1,60}(?:::\w{1,60}){0,8}(?:\{[^}]{0,300}\})?: ?){1,8}",
        after=("time",),
    ),
    _token("level", CAPITALS, rf"(?P<level>{LEVELS}):[\w.]{{1,80}}:(?=\S)", after=(None,)),  # logging.basicConfig
    _token("level", CAPITALS, rf"(?P<level>{LEVELS})(?::\s{{0,9}}|\s{{1,9}}|$)(?!=)"),
    # of oslo.log, whose TRACE is a traceback's line: TIME 71 TRACE pump.api
    _token("name", DIGITS, r"\d{1,7} TRACE [\w.-]{1,80}(?: |$)", after=("time",)),
    _token("level", DIGITS, rf"\d{{1,7}} (?P<level>{LEVELS}) [\w.-]{{1,80}} (?:\[[^\]]{{0,200}}\] )?", after=("time",)),
    _token("level", "[", rf"\[ ?(?P<level>{LEVELS}|trace|debug|info|warning|warn|error|fatal) ?\]:?\s{{0,9}}"),
    # TensorRT-LLM and turbomind: a name and a level, each in brackets
    _token("level", "[", rf"\[[A-Za-z][\w-]{{0,30}}\] ?\[(?P<level>{LEVELS}|[IWEF])\] ?"),
    # of glog and torchrun: E0102 03:04:05.6 71 pump.cc:7]
    _token(
        "level",
        "IWEF",
        r"(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d{1,9}\s+(?:(?P<pid>\d+)\s+)?[\w./<>-]{1,200}:\d+\] ?",
    ),
    _token("rank", "[", rf"\[[A-Za-z][\w-]{{0,30}}\] ?\[RANK (?P<label>\d+)\] ?\[(?P<level>{LEVELS}|[IWEF])\] ?"),
    # of C++ in torch: [E ProcessGroupNCCL.cpp:7], [rank2]:[E102 03:04:05.6 ProcessGroupNCCL.cpp:7]
    _token("level", "[", r"\[(?P<level>[IWEF])(?:\d{3,4} [\d:.]{8,20})? [\w./]{1,80}\.(?:cpp|cc|cu|hpp|h):\d+\] ?"),
    _token("level", CAPITALS, rf"(?P<level>{LEVELS}) \([\w.]{{1,80}}\): {{1,9}}"),
    _token("source", "[", rf"\[{_SOURCE_FILE}:\d+\] ?"),
    _token("source", CAPITALS + SMALL + "/<_~", rf"{_SOURCE_FILE}:\d+\] ?"),
    _token(
        "source", CAPITALS + SMALL + "/<_~", rf"{_SOURCE_FILE}:\d+(?: - |: | \| )", after=("time", "level", "separator")
    ),
    _token("source", CAPITALS + SMALL + "_", r"[\w.<>]{1,120}:[\w<>]{1,80}:\d+ - ", after=("separator",)),  # loguru
    _token(
        "process",
        "(",
        r"\((?P<label>[A-Za-z][\w.:<>-]{0,99}(?: rank=\d+| [A-Z]+\d+)?),? pid=(?P<pid>\d+)(?:, ip=[\w.:-]+)?\) ?",
    ),
    _token("process", "(", r"\((?P<label>raylet|autoscaler|gcs_server|dashboard)(?:, ip=[\w.:-]+)?\) ?"),
    _token("process", "[", rf"\[(?P<label>{_RANKS}+)\] "),
    _token("rank", "[", r"\[[Rr]ank ?(?P<label>\d+)\](?::| ) ?(?:\[[IWEF]\d+ [^\]]{1,200}\] ?)?"),
    _token("rank", "[", r"\[(?P<label>(?:default|worker|trainer|local_rank|node)\d+)\]: ?"),
    _token("container", "[", r"\[(?P<label>pod/[\w.-]+/[\w.-]+)\] "),
    _token("container", CAPITALS + SMALL, r"(?P<label>[\w.-]{1,100}) {1,60}\| ?", after=(None,)),
    _token("container", CAPITALS + SMALL, r"(?P<label>[\w.-]{1,100}[-_]\d{1,4}) {1,60}\| ?", after=("time", "writer")),
    _token("separator", "s", r"(?:stderr|stdout)(?:: ?| [FP] )"),
    _token("container", CAPITALS + SMALL + DIGITS, r"(?P<label>[\w.-]{1,100}) STD(?:OUT|ERR): ?", after=(None,)),
    _token("separator", "-|", r"(?:-|\|(?!.*\|$)) +", after=("time", "level", "source", "name", "writer")),
    _token("name", CAPITALS + SMALL + "_", rf"[\w.:<>-]{{1,120}} +[-|] +(?=(?:{LEVELS})\b)", after=("separator",)),
    _token("name", CAPITALS + SMALL + "_", r"[\w.:<>-]{1,120} +\| +", after=("separator",)),
    _token("name", "[", r"\[(?P<pid>\d{1,10})\]:? +", after=("time", "level", "name")),
    _token(
        "name",
        "[",
        r"\[(?:MainThread|MainProcess|(?!sgl_kernel\])[a-z][\w.]{2,60})\]:? +",
        after=("time", "level", "name"),
    ),
)
BY_START: dict[str, tuple[Token, ...]] = {
    start: tuple(token for token in TOKENS if start in token.starts)
    for start in {char for token in TOKENS for char in token.starts}
}
SHORT_LEVELS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL", "D": "DEBUG"}
REPEATED = re.compile(r" \[repeated \d+x across cluster\].*$")
BEFORE_LEVEL = re.compile(rf":? {{0,9}}(?=(?:{LEVELS})\b)")
TRAILING_RANK = re.compile(r"(?:^|\s)rank=(\d+)$")
GLUED_TIME = re.compile(rf"\[{_DATE}[T ]{_TIME}{_ZONE}{_RANKS}*\] ")


class Stripped(NamedTuple):
    """A text without its prefixes, and what these said."""

    text: str
    process: str | None = None
    """The process's own name for itself; before a rank, before a container's name."""
    pid: int | None = None
    level: str | None = None
    shape: str = ""
    """Which prefixes, without times: lines of one record have one shape."""
    identifier: str | None = None
    host: str | None = None
    is_record: bool = False
    """A logger's line: it has a time or a level, so that it is not the rest of a message."""


def strip(text: str) -> Stripped:
    """Take prefixes off until none matches."""
    if text[2:3] in {"月", "월"}:  # the month's own blank
        text = text.lstrip()
    first = text[:1]
    if first not in BY_START:
        return Stripped(text)
    labels: dict[str, str] = {}
    shape: list[str] = []
    end, is_record = 0, False
    for token, match, position in _tokens(text):
        end = position
        is_record |= token.kind in {"time", "level"}
        for name, value in match.groupdict().items():
            if value:
                labels[token.kind if name == "label" else name] = value.strip()
        shape.append(_shape(token, match))
    if not end:
        return Stripped(text)
    rest = REPEATED.sub("", text[end:]) if "repeated" in text else text[end:]
    return _stripped(rest, labels, "".join(shape), is_record=is_record)


def _shape(token: Token, match: re.Match[str]) -> str:
    """What this token has in common with those of the same record's other lines."""
    found = match.groupdict()
    if found.get("pid") or found.get("label"):
        return " ".join(filter(None, (found.get("label"), found.get("level"), found.get("pid"))))
    match token.kind:
        case "time":
            return "@"
        case "level":
            return found["level"] or ""
        case "separator":
            return ""
        case _:
            return match.group()


def _stripped(rest: str, labels: dict[str, str], shape: str, *, is_record: bool) -> Stripped:
    rank = labels.get("rank")
    level = labels.get("level")
    return Stripped(
        rest,
        labels.get("process")
        or labels.get("time")
        or (f"rank{rank}" if rank and rank.isdigit() else rank)
        or labels.get("container"),
        int(labels["pid"]) if "pid" in labels else None,
        SHORT_LEVELS.get(level, level.upper()) if level else None,
        shape,
        labels.get("identifier"),
        labels.get("host"),
        is_record,
    )


def _tokens(text: str) -> Iterator[tuple[Token, re.Match[str], int]]:
    """The tokens, and where the text goes on behind each."""
    position: int = 0
    before: Kind | None = None
    for _ in range(MAX_TOKENS):
        found = _token_at(text, position, before)
        if found is None:
            return
        token, match = found
        position, before = match.end(), token.kind
        if token.kind == "time":
            position = _behind_time(text, position)
        yield token, match, position
        if position >= len(text):
            return


def _behind_time(text: str, position: int) -> int:
    """One blank belongs to the time; more than one only before a level, for frames are indented by blanks."""
    level = BEFORE_LEVEL.match(text, position)
    if level:
        return level.end()
    return position + 1 if text[position : position + 1] == " " and text[position - 1] != " " else position


def _token_at(text: str, position: int, before: Kind | None) -> tuple[Token, re.Match[str]] | None:
    for token in BY_START.get(text[position : position + 1], ()):
        if token.after and before not in token.after:
            continue
        match = token.pattern.match(text, position)
        if match:
            return token, match
    return None
