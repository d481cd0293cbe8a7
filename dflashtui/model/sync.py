"""Making the packages of one host like those of another: what is to be done, and what came of it."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.base import Value

Way = Literal["same", "install", "copy", "refused"]


class SyncFile(Value):
    """One file that has to go over."""

    path: str
    """From the folder of packages, as RECORD has it."""
    sha256: str
    size: int
    """Bytes."""
    mode: int


class SyncStep(Value):
    """One package."""

    package: str
    way: Way
    there: str | None
    """How it stands where it shall come from, in words."""
    here: str | None
    """How it stands where it shall go; `None`: it is not there."""
    why: str
    """Why this way."""
    spec: str | None = None
    """To install: `xgrammar==0.1.32`."""
    files: tuple[SyncFile, ...] = ()
    """To copy: those that differ."""
    remove: tuple[str, ...] = ()
    """To copy: files of the version that is there now, which the other one does not have."""
    installed: tuple[str, ...] = ()
    """The package's files that are there now."""

    @property
    def bytes(self) -> int:
        """What has to go over."""
        return sum(file.size for file in self.files)


class SyncPlan(Value):
    """What makes `target` like `source`, package by package."""

    source: str
    target: str
    steps: tuple[SyncStep, ...]
    id: str
    """Of its contents: the same plan goes on where it was cut."""

    def of(self, way: Way) -> tuple[SyncStep, ...]:
        """The steps that go one way."""
        return tuple(step for step in self.steps if step.way == way)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.of("install") and not self.of("copy")
