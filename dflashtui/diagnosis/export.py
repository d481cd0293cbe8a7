"""`journalctl -o export`: fields as lines, binary ones with a length (systemd.io/JOURNAL_EXPORT_FORMATS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE_BYTES = 8
FIELD_LIMIT_BYTES = 16 * 2**20
KEPT_BYTES = 512 * 1024


class ExportReader:
    """Chunks in, the fields of whole entries out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._fields: dict[str, str] = {}

    def feed(self, chunk: bytes) -> Iterator[dict[str, str]]:
        """The entries that the chunk completed."""
        self._buffer += chunk
        at = 0
        while (end := self._buffer.find(b"\n", at)) >= 0:
            if end == at:
                at += 1
                if self._fields:
                    yield self._fields
                    self._fields = {}
                continue
            after = self._field(at, end)
            if after is None:
                break
            at = after
        del self._buffer[:at]

    def _field(self, at: int, end: int) -> int | None:
        """Read one field; where the next begins. `None`: its bytes have not all come."""
        name, equals, value = bytes(self._buffer[at:end]).partition(b"=")
        if equals:
            self._set(name, value)
            return end + 1
        size = int.from_bytes(self._buffer[end + 1 : end + 1 + SIZE_BYTES], "little")
        begin = end + 1 + SIZE_BYTES
        if size > FIELD_LIMIT_BYTES:  # no such field: the bytes are not in this form, go on at the next line
            return end + 1
        if len(self._buffer) < begin + size + 1:
            return None
        self._set(name, bytes(self._buffer[begin : begin + size]))
        return begin + size + 1

    def _set(self, name: bytes, value: bytes) -> None:
        key = name.decode("ascii", "replace")
        if key not in self._fields:
            self._fields[key] = decoded(value[:KEPT_BYTES])
