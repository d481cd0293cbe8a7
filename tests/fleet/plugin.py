"""A pytest plugin, loaded by tests/conftest.py: three real hosts, booted once, put back after each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .harness import boot
from .harness.fleet import TestFleet
from .harness.shell import FleetUnavailableError

UNAVAILABLE = pytest.StashKey[str]()
ATTACH_TO = os.environ.get("DFLASHTUI_FLEET_INSTANCE")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for the fleet carries the marker."""
    for item in items:
        if _wants_fleet(item):
            item.add_marker("fleet")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build the hosts' image before the first test: the first time it takes longer than a test may."""
    config = session.config
    if ATTACH_TO or config.option.collectonly or not any(map(_wants_fleet, session.items)):
        return
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        reporter.write_line("test hosts: preparing their image (about 80 s the first time on a machine)")
    try:
        boot.prepare()
    except FleetUnavailableError as reason:
        config.stash[UNAVAILABLE] = f"no test fleet: {reason}"


def _wants_fleet(item: pytest.Item) -> bool:
    return "fleet" in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip where there can be no fleet (here, so that the report has one line for all); fail where it is required."""
    reason = item.config.stash.get(UNAVAILABLE, None)
    if reason is None or not _wants_fleet(item):
        return
    if os.environ.get("DFLASHTUI_FLEET") == "required":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def fleet() -> Iterator[TestFleet]:
    """Three real hosts: those of DFLASHTUI_FLEET_INSTANCE, else this run's own."""
    if ATTACH_TO:
        yield boot.attach(Path(ATTACH_TO))
        return
    with boot.running() as fleet:
        yield fleet


@pytest.fixture(autouse=True)
def _hosts_put_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """Undo what a test did to the hosts, after its own fixtures have ended."""
    if "fleet" not in request.fixturenames:
        yield
        return
    fleet: TestFleet = request.getfixturevalue("fleet")
    yield
    fleet.reset()
