"""The page about faults says what the tests say."""

from __future__ import annotations

from tests.faults.catalogue import FAULTS
from tests.faults.table import shown


def test_every_mark_can_be_read_and_names_a_fault_of_the_catalogue() -> None:
    for one in shown():
        assert one.number in FAULTS
        assert one.how, one.test
        assert one.result, one.test
