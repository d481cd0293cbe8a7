"""Whether a reload could take in other changes: only what is younger than the last one counts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from dflashtui.pusher.pending import may_be_pending

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    units = tmp_path / "system"
    (units / "a.service.d").mkdir(parents=True)
    (units / "a.service").write_text("[Service]\n")
    (units / "a.service.d" / "x.conf").write_text("[Service]\n")
    (tmp_path / "linked.service").write_text("[Service]\n")
    (units / "linked.service").symlink_to(tmp_path / "linked.service")
    return units


def reload() -> float:
    """The manager reads everything, some time after what is there was written."""
    time.sleep(0.05)
    moment = time.time()
    time.sleep(0.05)  # the clock of file systems ticks every 4 to 10 ms
    return moment


def test_a_folder_that_rests_needs_no_question(folder: Path) -> None:
    assert not may_be_pending([str(folder), "/nowhere"], reload())
    assert may_be_pending([str(folder)], None)


@pytest.mark.parametrize("name", ["a.service", "a.service.d/x.conf", "linked.service"])
def test_a_changed_file_is_a_question(folder: Path, name: str) -> None:
    reloaded_at = reload()
    (folder / name).write_text("[Unit]\n")
    assert may_be_pending([str(folder)], reloaded_at)


def test_so_is_a_file_that_went_or_came_with_an_old_time(folder: Path, tmp_path: Path) -> None:
    reloaded_at = reload()
    (folder / "a.service").unlink()
    assert may_be_pending([str(folder)], reloaded_at)
    reloaded_at = reload()
    old = tmp_path / "old.service"
    old.write_text("[Service]\n")
    os.utime(old, (1, 1))
    old.rename(folder / "a.service")
    assert may_be_pending([str(folder)], reloaded_at)


def test_what_the_manager_writes_itself_does_not_count(tmp_path: Path) -> None:
    own = tmp_path / "transient"
    own.mkdir()
    reloaded_at = reload()
    (own / "session-1.scope").write_text("[Scope]\n")
    assert not may_be_pending([str(own)], reloaded_at)
