"""A push that is killed at any of its moments leaves the old or the new file, whole, and the next push cleans up."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.marks import fault

MEMORY = Path("/dev/shm")  # noqa: S108 - a private folder is made in it


@fault(
    "E8",
    how="killed before each call that changes a file, and in the middle of each write",
    result="old or new file, whole; the next push cleans up",
)
@fault(
    "B6", how="the same, of pushes, roll-backs, removals, overlays", result="never half a file", stand_in="power loss"
)
def test_killed_at_each_moment_of_a_push() -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        argv = (sys.executable, "-m", "tests.support.push_cuts", folder)
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["scenario"] for line in found] == ["new", "replaced", "rolled back", "removed", "overlay"]
    assert [line for line in found if line["wrong"]] == []
    assert all(line["moments"] > 20 for line in found), found
    assert sum(line["moments"] for line in found) >= 200, found
