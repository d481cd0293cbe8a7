"""Whatever stands in the file: values, or a ConfigError of printable sentences that name the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.config.read import load
from dflashtui.errors import ConfigError
from dflashtui.paths import shared
from dflashtui.text import printable
from tests.unit.config_text import FULL, written

LINES = [*FULL.splitlines(), *shared("hosts.toml").read_text().splitlines()]
PIECES = [
    "[",
    "]",
    "=",
    '"',
    "'''",
    "\\",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "#",
    "-",
    "true",
    "nan",
    "1979-05-27",
    "é",
    "\0",
    "\x1b[2J",
    "99",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "hosts.toml"


def judge(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        load(path)
    except ConfigError as error:
        problems = error.problems
    else:
        return
    assert problems
    assert [
        problem for problem in problems if not problem.startswith(f"{path}:") or printable(problem) != problem
    ] == []


@given(data=st.binary(max_size=200))
def test_any_bytes(path: Path, data: bytes) -> None:
    judge(path, data)


@given(lines=st.lists(st.sampled_from(LINES), max_size=30))
def test_any_order_of_good_lines(path: Path, lines: list[str]) -> None:
    judge(path, "\n".join(lines).encode())


@given(
    cuts=st.lists(st.tuples(st.integers(0, len(FULL)), st.integers(0, 12), st.sampled_from([*PIECES, ""])), max_size=4)
)
def test_a_good_file_with_parts_replaced(path: Path, cuts: list[tuple[int, int, str]]) -> None:
    text = FULL
    for start, length, piece in cuts:
        text = text[:start] + piece + text[start + length :]
    judge(path, text.encode())


KEYS = [
    "hosts",
    "group",
    "template",
    "file",
    "vars",
    "args",
    "units",
    "ct129",
    "a.service",
    "readiness",
    "timeout",
    "port",
    "listen",
]
keys = st.text(max_size=8) | st.sampled_from(KEYS)
tables = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.text(max_size=12),
        st.dates(),
        st.sampled_from(KEYS),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(data=st.dictionaries(st.sampled_from(["defaults", "groups", "hosts", "units", "console", "x"]), tables))
def test_any_tables(path: Path, data: dict[str, object]) -> None:
    judge(path, "".join(f"{key} = {written(value)}\n" for key, value in data.items()).encode())
