"""Which processes are started on the test hosts: the kernel tells of every fork (connector(9), linux/cn_proc.h)."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

NETLINK_CONNECTOR, PROC, MESSAGE_DONE, LISTEN = 11, 1, 3, 1
SO_RCVBUFFORCE = 33
"""socket(7); Python has no name for it."""
BUFFER_BYTES = 32 << 20
HEADERS = 16 + 20
EVENT, IDS = struct.Struct("=IIQ"), struct.Struct("=IIII")
FORK, EXEC = 0x1, 0x2


class Starts:
    """Counts processes, not threads, that descend from a host's own: what enters it from outside is not among them."""

    def __init__(self, cgroups: Iterable[Path]) -> None:
        self._known = {int(pid) for cgroup in cgroups for pid in _pids(cgroup)}
        self.names: dict[int, str] = {}
        """The processes started since `forget`, by pid; the name as far as they lived long enough to be asked."""
        self._events = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR)
        self._events.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        self._events.bind((0, PROC))
        self._events.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self._events.send(struct.pack("=IHHII", HEADERS + 4, MESSAGE_DONE, 0, 0, os.getpid()) + _wish(LISTEN))

    def read(self) -> None:
        """Take in what happened until now; to be called every second. Raises `OSError` (ENOBUFS) if it was too late."""
        while True:
            try:
                packet = self._events.recv(4096)
            except BlockingIOError:
                return
            self._take(packet)

    def forget(self) -> None:
        """Begin to count here."""
        self.read()
        self.names.clear()

    def _take(self, packet: bytes) -> None:
        what, _, _ = EVENT.unpack_from(packet, HEADERS)
        if what == FORK:
            _, parent, thread, process = IDS.unpack_from(packet, HEADERS + EVENT.size)
            if parent in self._known and thread == process:
                self._known.add(process)
                self.names[process] = _name(process)
        elif what == EXEC:
            _, process = struct.unpack_from("=II", packet, HEADERS + EVENT.size)
            if process in self.names:
                self.names[process] = _name(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()


def _wish(operation: int) -> bytes:
    return struct.pack("=IIIIHHI", PROC, PROC, 0, 0, 4, 0, operation)


def _pids(cgroup: Path) -> list[str]:
    return [pid for procs in cgroup.rglob("cgroup.procs") for pid in procs.read_text().split()]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"
