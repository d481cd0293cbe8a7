"""Hostile and broken logs: bounded time and memory, no exception, no invented failure."""

import io
import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflashtui.diagnosis.diagnosis import diagnose_lines
from dflashtui.diagnosis.forms import FORMS
from dflashtui.diagnosis.kinds import kind_of, module_of
from dflashtui.diagnosis.line import Line
from dflashtui.diagnosis.reading import diagnose_bytes
from tests.diagnosis.samples import NAMES, log
from tests.faults.marks import fault

LINEAR_SECONDS = 0.9
"""Of the processor: a quadratic form takes twice as long, a linear one a fifth of it."""
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PIECES = (
    *(
        "Traceback (most recent call last):",
        '  File "x.py", line 1, in f',
        "ValueError: x",
        "    raise x",
        "\r",
        "\x1b[31m",
        "\x00",
        " | ",
        "  | ",
    ),
    *(
        "+-+---------------- 1 ----------------",
        "(EngineCore_DP0 pid=77) ",
        "[2026-12-01 02:03:04 TP0] ",
        "ERROR 12-01 02:03:04 [core.py:708] ",
    ),
    *(
        "terminate called after throwing an instance of 'x'",
        "  what():  y",
        "panic: z",
        "Fatal Python error: Aborted",
        "{",
        '{"message": "a\\nb"}',
    ),
    *(
        "╭─── Traceback (most recent call last) ───╮",
        "│ /srv/x.py:12 in f │",
        "╰───╯",
        "NVRM: Xid (PCI:0000:00:06): 79, x",
        "| a | 1 | UNAVAILABLE: x |",
    ),
    *(
        "During handling of the above exception, another exception occurred:",
        "x.service: Failed with result 'signal'.",
        "a" * 3000,
        "(" * 500,
        "\\" * 500,
    ),
)
ANYTHING = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=40), st.just("\n")), max_size=60).map("".join)


@FUZZ
@given(ANYTHING)
def test_any_text_is_diagnosed(text: str) -> None:
    verdict = diagnose_bytes([text.encode("utf-8", "surrogatepass")])
    assert verdict.fatal == (verdict.cause is not None)


@FUZZ
@given(st.binary(max_size=4000))
def test_any_bytes_are_diagnosed(data: bytes) -> None:
    diagnose_bytes([data])
    diagnose_bytes([b"__CURSOR=x\n" + data])


@FUZZ
@given(st.sampled_from(NAMES), st.data())
def test_cut_and_mutated_logs_are_diagnosed(name: str, data: st.DataObject) -> None:
    text = log(name)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    noise = data.draw(st.binary(max_size=9))
    diagnose_bytes([text[begin:end], noise, text[end:]])


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            " ",
            "A1",
            "a.",
            "a:",
            "(",
            "[",
            "|",
            " |",
            "-",
            "\\",
            '"',
            "'",
            "::a",
            "A_1 ",
            "x=",
            'x="',
            "\\x",
            "~",
            "^",
            "1:",
            "[1] ",
        ),
        *(
            "ERROR ",
            "a: ",
            "No module named ",
            "not found ",
            "File ",
            'File "',
            "Caught a in ",
            "pip install ",
            "1 ",
            ", line 1",
            "lib",
            "-> ",
        ),
        *(
            "architecture ",
            "allocating ",
            "exit code",
            "error: ",
            "assert",
            "/a.so",
            "A.b",
            "0000-00-00 00:00:00 ",
            "[rank1]: ",
            "\u2500",
            "engine ",
        ),
    ],
)
@pytest.mark.timeout(20)
@fault("I9", how="every pattern against its worst lines", result="linear time")
def test_no_pattern_takes_more_than_linear_time(unit: str) -> None:
    """As much as one piece of a line may hold: a pattern in quadratic time would take minutes."""
    text = unit * (65_000 // len(unit))
    kind_of.__wrapped__("RuntimeError", text)
    kind_of.__wrapped__(None, text)
    for kind in ("missing-module", "import-error", "abi-mismatch"):
        module_of(kind, text)
    header, frame = "Traceback (most recent call last):", '  File "/srv/a.py", line 1, in f'
    for around in (
        (text,),
        (header, text),
        (header, frame, text),
        (header, frame, "KeyError: 1", text),
        (f"x: {text}",),
    ):
        diagnose_lines([Line(line, number) for number, line in enumerate(around, 1)])


@pytest.mark.parametrize("name", sorted({form.name for form in FORMS}))
@pytest.mark.timeout(20)
def test_no_form_takes_more_than_linear_time(name: str) -> None:
    """A form is asked only of lines that hold its word: here behind one long word."""
    for form in (one for one in FORMS if one.name == name):
        began = time.process_time()
        form.pattern.search(f"{'a' * 30_000}{form.word}")
        assert time.process_time() - began < LINEAR_SECONDS, form.pattern.pattern


def test_a_line_of_ten_megabytes_is_read_in_bounded_memory() -> None:
    stream = io.BytesIO(
        b"x" * 10_000_000 + b"\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 1, in f\nKeyError: 'b'\n"
    )
    tracemalloc.start()
    verdict = diagnose_bytes(iter(lambda: stream.read(65536), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert verdict.cause
    assert (verdict.cause.exception, verdict.cause.lines) == ("KeyError", (2, 4))
    assert peak < 12_000_000


def test_memory_does_not_grow_with_the_log() -> None:
    """A service that logs tracebacks all day."""
    text = log("chain-lookup") + b'INFO:     10.0.0.1:5000 - "GET /health HTTP/1.1" 200 OK\n' * 3
    diagnose_bytes(text for _ in range(20))
    tracemalloc.start()
    verdict = diagnose_bytes(text for _ in range(250))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not verdict.fatal
    assert peak < 3_000_000


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\x00", b"INFO: all well\n" * 3, b"\xff\xfe", b"{}", b"-- No entries --\n"]
)
def test_no_failure_is_said_so(data: bytes) -> None:
    verdict = diagnose_bytes([data])
    assert not verdict.fatal
    assert verdict.cause is None
    assert verdict.others == ()
