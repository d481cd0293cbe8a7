"""Whatever is read: a value, or the error that its reader promises; in time that grows as the text does."""

from __future__ import annotations

import time

import pytest

from dflashtui.text import printable
from tests.faults.marks import fault
from tests.faults.parsers import BOOTS, PARSERS, Parser
from tests.faults.seed import seeded
from tests.support.byte_fuzz import PIECES, spoilt

FEW, MANY = 60, 10_000
SMALL, LARGE = 8_000, 32_000
MOST_RATIO = 9.0
"""Of the time for four times as much: 4 where it is linear, 16 where it is quadratic."""
LEAST_SECONDS = 0.004
"""Less than this is not measured well."""
parsers = pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.name)


def require_promise(parser: Parser, data: bytes) -> None:
    try:
        parser.read(data)
    except parser.raises:
        return
    except Exception as wrong:
        raise AssertionError(f"{parser.name}: {type(wrong).__name__}: {wrong!s:.200} for {data[:400]!r}") from wrong


DEEP = b"[" * 100_000
BITTEN = (
    ("sampler", DEEP),
    ("sampler's hello", b'{"a":' * 100_000),
    ("answers of services", DEEP),
    ("journal JSON", DEEP),
    ("nvidia-smi GPUs", b"0, GPU-1, 00000000:01:00.0, 5, %b, 600, 120.50, NVIDIA H200" % (b"9" * 400)),
    ("nvidia-smi processes", b"1, %b, GPU-1, x" % (b"9" * 400)),
    ("nvidia-smi processes", b"%b, 1, GPU-1, x" % (b"9" * 5000)),
    ("nvidia-smi processes", "²³, 1, GPU-1, x".encode()),
    ("journal boots", BOOTS.replace(b"04:33", b"04:73")),
    ("what is shown", "\ud800".encode("utf-8", "surrogatepass") * 3000),
)


@pytest.mark.parametrize(("name", "data"), BITTEN, ids=range(len(BITTEN)))
@fault("I2", how="JSON nested 100 000 deep, numbers of 400 digits, times that are none", result="refused or left out")
def test_what_has_bitten_before(name: str, data: bytes) -> None:
    require_promise(next(one for one in PARSERS if one.name == name), data)


def test_a_limit_is_kept_where_characters_grow() -> None:
    """An unseen one is shown as up to ten."""
    assert len(printable("\ue000" * 50, limit=50)) == 50


@parsers
@fault("I2", how="spoilt bytes to every reader", result="a value or the promised error")
def test_spoilt_bytes_are_read_or_refused(parser: Parser) -> None:
    for data in spoilt(parser.samples, seeded(parser.name), FEW):
        require_promise(parser, data)


@parsers
@pytest.mark.long
@pytest.mark.timeout(600)
@fault("I2", how="10 000 spoilt texts to every reader", result="a value or the promised error")
def test_ten_thousand_spoilt_texts(parser: Parser) -> None:
    for data in spoilt(parser.samples, seeded(parser.name), MANY):
        require_promise(parser, data)


@parsers
@pytest.mark.long
@pytest.mark.timeout(600)
@fault("I9", how="each piece again and again to every reader, once and four times as long", result="linear time")
def test_time_grows_as_the_text_does(parser: Parser) -> None:
    slow = []
    for piece in (*PIECES, *parser.samples, b"a", b"a=", b"(", b"eyJ-", b"key=", b"\\\\", b"\x1b[", b"://a:"):
        few, many = (_seconds(parser, piece * (size // len(piece) + 1)) for size in (SMALL, LARGE))
        if many > LEAST_SECONDS and many / few > MOST_RATIO:
            slow.append((piece[:20], round(few * 1000, 2), round(many * 1000, 2)))
    assert slow == []


def _seconds(parser: Parser, data: bytes) -> float:
    return min(_once(parser, data) for _ in range(3))


def _once(parser: Parser, data: bytes) -> float:
    began = time.process_time()
    require_promise(parser, data)
    return time.process_time() - began
