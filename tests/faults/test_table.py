"""The page about faults says what the tests say."""

from __future__ import annotations

from tests.faults.catalogue import FAULTS
from tests.faults.table import TESTS, page, shown


def test_every_mark_can_be_read_and_names_a_fault_of_the_catalogue() -> None:
    for one in shown():
        assert one.number in FAULTS
        assert one.how, one.test
        assert one.result, one.test


def test_the_page_is_that_of_the_tests() -> None:
    assert (TESTS.parent / "docs/faults.md").read_text() == page(), "make faults writes it anew"
