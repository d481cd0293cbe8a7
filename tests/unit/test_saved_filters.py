"""Filters of logs, kept by name from one start of the console to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.ops.saved_filters import SavedFilters

if TYPE_CHECKING:
    from pathlib import Path


def test_names_are_kept_replaced_and_forgotten_from_one_start_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "filters.json"
    SavedFilters(path).keep("mine", ("alpha", "!β\x1b"))
    SavedFilters(path).keep("other", ("x",))
    SavedFilters(path).keep("mine", ("beta", "!β\x1b"))
    assert SavedFilters(path).all() == {"mine": ("beta", "!β\x1b"), "other": ("x",)}
    SavedFilters(path).keep("other", None)
    assert SavedFilters(path).all() == {"mine": ("beta", "!β\x1b")}


@pytest.mark.parametrize("rubbish", [b"", b"{", b"\xff", b'{"mine": 5}', b"[1]"])
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path, rubbish: bytes) -> None:
    path = tmp_path / "filters.json"
    path.write_bytes(rubbish)
    assert SavedFilters(path).all() == {}


def test_without_a_file_they_last_as_long_as_the_console() -> None:
    filters = SavedFilters(None)
    filters.keep("mine", ("alpha",))
    assert filters.all() == {"mine": ("alpha",)}
