"""The lock of a push: who looks at it is nobody who holds it."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from dflashtui.pusher import lock as locks
from dflashtui.pusher.lock import Lock
from dflashtui.pusher.trouble import Refusal
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where somebody has pushed before."""
    first = Lock(str(tmp_path))
    first.take("somebody before")
    first.release()
    return tmp_path


@contextmanager
def looked_at(state: Path) -> Iterator[int]:
    """As `Lock.holder` does, for longer."""
    descriptor = os.open(state / "lock", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@fault("B13", how="a push begins in the moment of another's look", result="it takes the lock, nobody is blamed")
def test_a_look_refuses_no_push(state: Path) -> None:
    lock = Lock(str(state))
    with looked_at(state) as descriptor:
        end = threading.Timer(locks.ASK_AGAIN_SECONDS, fcntl.flock, (descriptor, fcntl.LOCK_UN))
        end.start()
        lock.take("anna")
        end.join()
    assert lock.is_held
    lock.release()


def test_two_looks_take_each_other_for_nobody(state: Path) -> None:
    with looked_at(state):
        assert Lock(str(state)).holder() is None


def test_a_holder_is_named_and_gone_with_its_end(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LOOKED_AT_SECONDS", 0.01)
    first, second = Lock(str(state)), Lock(str(state))
    first.take("anna")
    assert (second.holder() or {})["who"] == "anna"
    with pytest.raises(Refusal, match="anna since"):
        second.take("ben")
    first.release()
    assert second.holder() is None
    second.take("ben")
    second.release()
