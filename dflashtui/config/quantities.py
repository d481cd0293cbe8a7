"""Ports, time spans, GPUs, listening addresses, URLs. Each function raises `ValueError` with what was expected."""

from __future__ import annotations

import re

from dflashtui.config import names
from dflashtui.config.words import kind, shown

HIGHEST_PORT = 65535
LONGEST_SPAN_SECONDS = 7 * 86400.0
SPAN_SECONDS = {
    **dict.fromkeys(("ms", "msec"), 0.001),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
"""The words of systemd.time(7) that make sense for a time limit; a bare number is seconds."""
SPAN_PART = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)\s*")
GPU_UUID = re.compile(r"(?:GPU|MIG)-[0-9A-Za-z/-]{1,120}\Z")
LISTEN = re.compile(r"(?:\[(?P<ipv6>[^\]]*:[^\]]*)\]|(?P<host>[^:\[\]]*)):(?P<port>[0-9]{1,5})\Z")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
FLAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
DEEPEST_ARGUMENT = 8


def port(value: object) -> int:
    """A TCP port."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= HIGHEST_PORT:
        return value
    hint = ": write it without quotes" if isinstance(value, str) else ""
    raise ValueError(f"expected a port from 1 to {HIGHEST_PORT}, not {shown(value)}{hint}")


def span_seconds(value: object) -> float:
    """A time limit: `"15m"`, `"1h 30min"`, or a number of seconds; more than nothing, at most a week."""
    seconds = _spelled_seconds(value) if isinstance(value, str) else value
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= LONGEST_SPAN_SECONDS:
        return float(seconds)
    raise ValueError(f'expected a time span such as "90s", "15m" or "1h30m", at most 7d, not {shown(value)}')


def _spelled_seconds(text: str) -> float | None:
    total, end = 0.0, 0
    while part := SPAN_PART.match(text, end):
        if part[2] not in SPAN_SECONDS:
            return None
        total, end = total + float(part[1]) * SPAN_SECONDS[part[2]], part.end()
    return total if end == len(text) else None


def gpu(value: object) -> int | str:
    """A GPU by index, or by the UUID that `nvidia-smi -L` prints (MIG devices too)."""
    match value:
        case bool():
            pass
        case int() if value >= 0:
            return value
        case str() if GPU_UUID.match(value):
            return value
    raise ValueError(f'expected a GPU index from 0 on, or a UUID "GPU-…" or "MIG-…", not {shown(value)}')


def listen(text: str) -> str:
    """`HOST:PORT`, with brackets round an IPv6 address."""
    parts = LISTEN.match(text)
    if parts is None:
        raise ValueError(f'expected HOST:PORT, such as "0.0.0.0:30000" or "[::]:30000", not {shown(text)}')
    port(int(parts["port"]))
    names.address(parts["host"] if parts["ipv6"] is None else parts["ipv6"])
    return text


def http_url(text: str) -> str:
    """A URL that can be asked: http or https, with a host, and no login in it."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - few files need it

    try:
        parts = urlsplit(line(text))
        good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and parts.username is None
    except ValueError:
        good = False
    if not good or " " in text:
        raise ValueError('expected a URL such as "http://127.0.0.1:30000/health", without a login in it')
    return text


def line(text: str) -> str:
    """One line of text: not empty, no control characters."""
    if not text.strip() or CONTROL.search(text):
        raise ValueError(f"expected one line of text, not empty, without control characters, not {shown(text)}")
    return text


def argument(text: str) -> str:
    """What can be an argument or an environment value: anything but NUL. Never shown: it may be a secret."""
    if "\0" in text:
        raise ValueError("expected text without NUL characters")
    return text


def variable(text: str) -> str:
    """The name of an environment variable."""
    if VARIABLE.match(text):
        return text
    raise ValueError(f"expected the name of an environment variable, not {shown(text)}")


def flag(text: str) -> str:
    """An engine's option by its name."""
    if FLAG.match(text):
        return text
    hint = ": write it without the leading dashes" if text.startswith("-") else ""
    raise ValueError(f"expected the name of an option, not {shown(text)}{hint}")


def flag_value(value: object, depth: int = 0) -> object:
    """What an engine's option may be set to: text, number, true or false, and lists and tables of them (as JSON)."""
    match value:
        case str():
            return argument(value)
        case float() if value - value != 0:  # infinity and NaN alone
            raise ValueError("expected a finite number")
        case int() | float():
            return value
        case list() if depth < DEEPEST_ARGUMENT:
            return [flag_value(item, depth + 1) for item in value]
        case dict() if depth < DEEPEST_ARGUMENT:
            return {argument(name): flag_value(item, depth + 1) for name, item in value.items()}
        case _:
            raise ValueError(f"expected text, a number, true or false, or a list or table of them, not {kind(value)}")


def host_path(text: str) -> str:
    """An absolute path on a host."""
    if line(text).startswith("/"):
        return text
    raise ValueError(f"expected an absolute path on the host, not {shown(text)}")


def local_path(text: str) -> str:
    """A path on this machine; `~` and `~user` are replaced."""
    from pathlib import Path  # noqa: PLC0415 - kept beside its only use

    try:
        return str(Path(line(text)).expanduser())
    except RuntimeError as no_home:
        raise ValueError(f"expected a path, not {shown(text)}: the home folder is unknown") from no_home
