"""Every sample log gives the cause that its reader would give, whole, in small chunks, and line by line."""

import pytest

from dflashtui.diagnosis.diagnosis import diagnose_lines
from dflashtui.diagnosis.line import Line
from dflashtui.diagnosis.reading import diagnose_bytes
from tests.diagnosis.samples import FOLDER, NAMES, expected, log, told


def test_there_are_enough() -> None:
    assert len(NAMES) >= 60
    assert {path.stem for path in FOLDER.glob("*.json")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_cause(name: str) -> None:
    assert told(diagnose_bytes([log(name)])) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_chunks_do_not_matter(name: str) -> None:
    text = log(name)
    chunks = [text[at : at + 97] for at in range(0, len(text), 97)]
    assert told(diagnose_bytes(chunks)) == expected(name)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(("-json", "-export"))])
def test_lines_do_not_matter(name: str) -> None:
    lines = log(name).decode("utf-8", "replace").removesuffix("\n").split("\n")
    assert told(diagnose_lines(Line(text, number) for number, text in enumerate(lines, 1))) == expected(name)
