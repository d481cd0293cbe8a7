"""The lock file has everything that pyproject.toml asks for, pinned and hashed, and names no place to get it from."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dflashtui.paths import PACKAGE

ROOT = PACKAGE.parent
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINNED = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==(\S+) \\$", LOCK, re.MULTILINE)
}
WANTED = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["dependency-groups"]["dev"],
    *PROJECT["build-system"]["requires"],
]


@pytest.mark.parametrize("wanted", WANTED)
def test_what_is_asked_for_is_pinned_within_its_bounds(wanted: str) -> None:
    requirement = Requirement(wanted)
    pinned = PINNED.get(canonicalize_name(requirement.name))
    assert pinned, f"not in requirements.lock: run make lock for {requirement.name}"
    assert pinned in requirement.specifier, f"run make lock: {requirement} is locked to {pinned}"


def test_every_pin_has_a_hash() -> None:
    pins = re.findall(r"^\S+==\S+(.*(?:\n    --hash=sha256:[0-9a-f]{64}.*)+)?", LOCK, re.MULTILINE)
    assert len(pins) == len(PINNED)
    assert all(pins)


def test_no_address_and_no_path() -> None:
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    assert [line for line in lines if "://" in line or line.startswith(("-", "/", "."))] == []
