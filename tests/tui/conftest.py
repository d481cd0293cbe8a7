"""The console's tests speak UTC, whatever the machine's zone."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.loop_watch import loop_watch

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _loop_is_free() -> Iterator[None]:
    """Whatever is tested, nothing may hold the event loop."""
    with loop_watch():
        yield


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    time.tzset()
    yield
    os.environ.pop("TZ", None)
    time.tzset()
