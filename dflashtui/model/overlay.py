"""Files laid over an installed package: how each of them stands."""

from __future__ import annotations

from enum import StrEnum

from dflashtui.model.base import Value


class OverlayState(StrEnum):
    """One file of an overlay on one host."""

    LAID = "laid"
    """As it shall be."""
    NOT_LAID = "not laid"
    """The package's own file is there, or none."""
    OUTDATED = "outdated"
    """An earlier version of the overlay is there."""
    WIPED = "wiped"
    """It was laid; the package's own file is back."""
    DRIFTED = "drifted"
    """Somebody changed it on the host since it was laid."""
    EXTRA = "extra"
    """It is laid, but the overlay has it no more."""


class OverlayFile(Value):
    """One file of an overlay on one host."""

    name: str
    """Its path within the package."""
    state: OverlayState
    here_sha256: str | None
    wanted_sha256: str | None


class OverlayLook(Value):
    """How one overlay stands on one host."""

    host: str
    unit: str
    package: str
    source: str
    """The folder beside hosts.toml."""
    folder: str
    """The package on the host."""
    version: str | None
    """Of the installed package."""
    named_version: str | None = None
    """The only one that the overlay is for, if it names one."""
    laid_version: str | None = None
    """The version that it was laid over, if one is known."""
    is_laid: bool = False
    """By us, whether or not it is still there."""
    is_writable: bool = True
    files: tuple[OverlayFile, ...] = ()

    @property
    def is_reinstalled(self) -> bool:
        """Whether the package was installed anew since: what was laid is gone."""
        if not self.is_laid:
            return False
        before = {OverlayState.WIPED, OverlayState.NOT_LAID}
        return self.laid_version != self.version or (bool(self.files) and {one.state for one in self.files} <= before)

    @property
    def changed(self) -> tuple[OverlayFile, ...]:
        """The files that a push would replace."""
        return tuple(one for one in self.files if one.state is not OverlayState.LAID)

    @property
    def drifted(self) -> tuple[OverlayFile, ...]:
        """The files that somebody changed."""
        return tuple(one for one in self.files if one.state is OverlayState.DRIFTED)
