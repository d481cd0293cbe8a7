"""The bytes of hosts.toml, and what is unwise about the file itself. Never waits: a FIFO is refused, not read."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.errors import ConfigError
from dflashtui.paths import config_folder
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "hosts.toml"
LARGEST_BYTES = 1 << 20
MARKS = {b"\xef\xbb\xbf": "a byte order mark", b"\xff\xfe": "a UTF-16 mark", b"\xfe\xff": "a UTF-16 mark"}
NOT_FILES = (
    (stat.S_ISDIR, "is a folder, not a file"),
    (stat.S_ISFIFO, "is a pipe; write what it gives to a file first"),
    (stat.S_ISSOCK, "is a socket, not a file"),
)


def find(explicit: Path | None) -> Path | None:
    """The file to read: the one asked for, `./hosts.toml`, the one in the person's own folder; `None`: none."""
    if explicit is not None:
        return explicit
    candidates = (Path(FILE_NAME), config_folder() / FILE_NAME)
    return next((path for path in candidates if os.path.lexists(path)), None)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file that could be read."""

    path: Path
    text: str
    warnings: tuple[str, ...] = ()


def read(path: Path) -> FileText:
    """The text of a regular UTF-8 file of at most 1 MiB. Raises `ConfigError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _refusal(path, f"cannot be opened: {_reason(error)}") from error
    try:
        status = os.fstat(descriptor)
        data = _content(path, descriptor, status)
    finally:
        os.close(descriptor)
    return FileText(path, _text(path, data), tuple(unwise(path, status)))


def _content(path: Path, descriptor: int, status: os.stat_result) -> bytes:
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(path, next((words for test, words in NOT_FILES if test(status.st_mode)), "is a device"))
    try:
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise _refusal(path, f"cannot be read: {_reason(error)}") from error


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _refusal(path: Path, problem: str) -> ConfigError:
    return ConfigError([f"{printable(str(path))}: {problem}"])


def _text(path: Path, data: bytes) -> str:
    if len(data) > LARGEST_BYTES:
        raise _refusal(path, f"is larger than {LARGEST_BYTES >> 20} MiB; what stands here is a few KiB")
    if mark := next((words for mark, words in MARKS.items() if data.startswith(mark)), None):
        raise _refusal(path, f"line 1: begins with {mark}; save it as UTF-8 without a mark")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(path, f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from error


def unwise(path: Path, status: os.stat_result) -> Iterator[str]:
    """Why others than the caller and root may have written the file: what it says is run on hosts."""
    name = printable(str(path))
    if status.st_mode & stat.S_IWOTH:
        yield f"{name}: any user of this machine may change it; run: chmod o-w {name}"
    if status.st_uid not in {0, os.geteuid()}:
        yield f"{name}: belongs to user {_user_name(status.st_uid)}, neither to you nor to root"


def _user_name(uid: int) -> str:
    with suppress(KeyError, ImportError):
        from pwd import getpwuid  # noqa: PLC0415 - for the warning alone

        return f"{getpwuid(uid).pw_name} ({uid})"
    return str(uid)
