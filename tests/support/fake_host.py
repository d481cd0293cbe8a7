"""A host made of programs in a folder: what a local transport finds in PATH. It says whatever it is told to say."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

UID = 987_654
"""Of a user whose runtime folder does not exist, so that no bus of this machine is ever asked."""
BOOT = "0123456789abcdef0123456789abcdef"
RUN = "fedcba9876543210fedcba9876543210"
PROGRAMS = {
    "id": f'case "$*" in (-un) echo nobody;; (-Gn) echo systemd-journal;; (*) echo {UID};; esac',
    "test": "exit 0",
    "systemd-stdio-bridge": "exit 1",
    "systemctl": """
while [ "${1#--}" != "$1" ] && [ "$1" != --version ]; do shift; done
case "$1" in
(--version) echo "systemd 252 (252)";;
(show) case "$*" in (*--property=*) exec cat "$HERE/show";; (*) exec cat "$HERE/properties";; esac;;
(list-units|list-unit-files) exec cat "$HERE/names";;
(cat) exec cat "$HERE/unit-file";;
(is-system-running) echo running;;
(*) cat "$HERE/refusal" >&2; exit 1;;
esac""",
    "journalctl": """
case "$*" in
(*--lines=1\\ *|*--lines=1) head -n 1 "$HERE/journal";;
(*--follow*) cat "$HERE/journal"; exec sleep 60;;
(*--reverse*) exec cat "$HERE/journal-reversed";;
(*) exec cat "$HERE/journal";;
esac""",
    "nvidia-smi": 'case "$*" in (*compute-apps*) exec cat "$HERE/gpu-processes";; (*) exec cat "$HERE/gpus";; esac',
    "python3": 'cat "$HERE/refusal" >&2; exit 1',
    "sudo": 'cat "$HERE/refusal" >&2; exit 1',
    "ss": 'exec cat "$HERE/listeners"',
    "systemd-analyze": 'cat "$HERE/refusal" >&2; exit 1',
}


class FakeHost:
    """Programs, and the files that they print."""

    def __init__(self, folder: Path, unit: str) -> None:
        """`unit`: the one that is there."""
        self.unit = unit
        self.folder = folder
        (folder / "bin").mkdir(parents=True)
        for name, text in PROGRAMS.items():
            self.program(name, text)
        for name in ("show", "properties", "names", "unit-file", "refusal", "gpus", "gpu-processes", "listeners"):
            self.says(name, b"")
        self.says("names", f"{unit} loaded failed failed x\n".encode())
        self.logs(())

    @property
    def path(self) -> str:
        """For the environment variable PATH."""
        return f"{self.folder / 'bin'}:/usr/bin:/bin"

    def program(self, name: str, text: str) -> None:
        """Put a shell script in the place of a program."""
        file = self.folder / "bin" / name
        file.write_text(f"#!/bin/sh\nHERE={shlex.quote(str(self.folder))}\n{text}\n")
        file.chmod(0o755)

    def says(self, name: str, data: bytes) -> None:
        """What the programs print from the file of this name."""
        (self.folder / name).write_bytes(data)

    def shows(self, **properties: bytes) -> None:
        """What `systemctl show` says of the unit, beside what each unit has."""
        usual = {
            "Id": self.unit.encode(),
            "Names": self.unit.encode(),
            "LoadState": b"loaded",
            "ActiveState": b"failed",
            "SubState": b"failed",
            "Result": b"exit-code",
            "InvocationID": RUN.encode(),
            "NRestarts": b"3",
            "ExecMainCode": b"1",
            "ExecMainStatus": b"1",
            "StateChangeTimestamp": b"Tue 2026-12-01 04:33:12.201057 UTC",
            "ExecMainStartTimestamp": b"Tue 2026-12-01 04:33:02.201057 UTC",
            "ExecMainExitTimestamp": b"Tue 2026-12-01 04:33:12.201057 UTC",
        }
        told = b"".join(b"%s=%s\n" % (name.encode(), value) for name, value in {**usual, **properties}.items())
        self.says("show", told)
        self.says("properties", told)

    def logs(self, messages: Iterable[str | bytes], **fields: str) -> None:
        """The journal of the unit: one entry a message, in the form of `journalctl -o json`."""
        lines = [entry(self.unit, number, message, fields) for number, message in enumerate(messages)]
        self.says("journal", b"".join(lines))
        self.says("journal-reversed", b"".join(reversed(lines)))


def entry(unit: str, number: int, message: str | bytes, fields: Mapping[str, str] | None = None) -> bytes:
    """A line of `journalctl --output=json`; text that is no UTF-8 stands there as numbers."""
    found: dict[str, object] = {
        "__CURSOR": f"s={BOOT};i={number + 1:x};b={BOOT};m={number:x};t={number:x};x=1",
        "__REALTIME_TIMESTAMP": str(1_780_000_000_000_000 + number * 1000),
        "__MONOTONIC_TIMESTAMP": str(1_000_000 + number * 1000),
        "_BOOT_ID": BOOT,
        "_UID": str(UID),
        "_TRANSPORT": "stdout",
        "_PID": "4711",
        "PRIORITY": "6",
        "SYSLOG_IDENTIFIER": "python3",
        "_SYSTEMD_USER_UNIT": unit,
        "_SYSTEMD_INVOCATION_ID": RUN,
        "MESSAGE": _told(message),
    }
    return json.dumps({**found, **(fields or {})}).encode() + b"\n"


def _told(message: str | bytes) -> str | list[int]:
    if isinstance(message, str):
        return message
    try:
        return message.decode()
    except UnicodeDecodeError:
        return list(message)


def inventory(folder: Path, unit: str, more: Sequence[str] = ()) -> Path:
    """A hosts.toml with this machine alone, through a user's manager; `more`: lines of the unit's table."""
    file = folder / "hosts.toml"
    named = json.dumps(unit)
    file.write_text(
        f'[hosts.here]\ntransport = "local"\nmanager = "user"\nunits = [{named}]\n'
        + "\n".join((f"[units.{named}]", 'hosts = ["here"]', *more, ""))
    )
    return file
