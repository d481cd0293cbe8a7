"""What a survey tells of a program's imports."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.environment import Told


class Link(Told):
    """One step on the way to an import."""

    module: str
    file: str
    line: int


class ImportFault(Told):
    """An import that cannot be met."""

    fault: Literal["missing-module", "missing-name", "syntax", "unreadable", "raises"]
    module: str
    """What is missing; for `syntax`, `unreadable` and `raises`: the module that cannot be imported."""
    name: str | None = None
    """For `missing-name`."""
    words: str | None = None
    """The interpreter's own, where it has some."""
    status: Literal["certain", "conditional", "late"]
    """`certain`: the program ends here; `conditional`: under an `if` that only a run decides; `late`: in a function."""
    by: str
    """The module that imports it."""
    file: str
    line: int
    chain: tuple[Link, ...] = ()
    """From the program to `by`."""
    owner: str | None = None
    """The installed distribution that the module's top-level package comes with."""
    unreadable: str | None = None
    """A folder where it might be, that the unit's user cannot read."""

    @property
    def top(self) -> str:
        """Its top-level package."""
        return self.module.partition(".")[0]

    @property
    def words_of_python(self) -> str:
        """As the interpreter would say it."""
        if self.fault == "missing-module":
            return f"No module named '{self.module}'"
        if self.fault == "missing-name":
            return f"cannot import name '{self.name}' from '{self.module}'"
        return self.words or self.fault


class Shadow(Told):
    """A file that is found in place of a module of the standard library."""

    module: str
    folder: str


class ImportSweep(Told):
    """All of it."""

    faults: tuple[ImportFault, ...] = ()
    shadows: tuple[Shadow, ...] = ()
    no_entry: str | None = None
    """Why the program itself could not be looked at."""
    is_entry_missing: bool = False
    """It is not there: a start ends at once."""
    files: int = 0
    parsed: int = 0
    """Files that were not known from an earlier sweep."""
    unknown: int = 0
    """Names and modules that only a run could tell of."""
    seconds: float = 0.0
    shortfall: str | None = None
    """Why this is not all."""
