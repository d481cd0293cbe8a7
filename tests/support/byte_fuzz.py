"""Good bytes made bad: cut, doubled, flipped, and with pieces in them that have hurt programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

PIECES = (
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"\x1b]52;c;eA==\x07", b"\x9b31m", b"\xc2\x9b31m"),
    *(b"\n", b"\r", b"\t", b" ", b'"', b"'", b"\\", b",", b"=", b":", b"{", b"}", b"[", b"]", b"null", b"NaN", b"-1"),
    *(b"\\ud800", b"\\u0000", b"\\u001b[2J", b"1e999", b"18446744073709551616", b"9" * 5000, b"-Infinity"),
    *(b"[" * 3000, b'{"a":' * 3000, "\u202e\u200d\u2028".encode(), ("e" + "\u0301" * 40).encode(), b"%n%s{x}$x"),
    *(b"[/x]", b"[@click=app.quit]x[/]", b"0000-99-99 99:99:99 UTC", b"[not set]", b"infinity", b"+", b"x" * 300),
)


def spoilt(samples: Sequence[bytes], chance: random.Random, count: int) -> Iterator[bytes]:
    """`count` cases, each a sample with up to five changes."""
    for _ in range(count):
        data = bytearray(chance.choice(samples))
        for _ in range(chance.randint(1, 5)):
            _change(data, chance)
        yield bytes(data)


def _change(data: bytearray, chance: random.Random) -> None:
    start = chance.randint(0, len(data))
    end = min(len(data), start + chance.choice((0, 0, 1, 2, 8, 40, 10**6)))
    match chance.randrange(4):
        case 0:
            data[start:end] = chance.choice(PIECES)
        case 1:
            del data[start:end]
        case 2:
            data[start:start] = data[start:end][:4000]
        case _:
            data[start:end] = chance.randbytes(min(8, end - start))
