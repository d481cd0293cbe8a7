"""Exit codes of every command (contract, part 2)."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """With several hosts the worst wins: 64, 2, 3, 1, 0."""

    OK = 0
    """All well, ready, same, pushed."""
    WARNING = 1
    """Warnings only, still loading when time ran out, differs."""
    FAILED = 2
    """A unit failed or is crash-looping, a probe found a crash, an action was refused."""
    UNKNOWN = 3
    """Could not look: unreachable, login refused, host key unknown, no permission."""
    USAGE = 64
    """Bad option, bad hosts.toml."""
    INTERRUPTED = 130


RANKING = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.FAILED,
    ExitCode.UNKNOWN,
    ExitCode.WARNING,
    ExitCode.OK,
)


def worst(*codes: ExitCode) -> ExitCode:
    """The code that stands for all of them; none at all is `OK`."""
    return min(codes, key=RANKING.index, default=ExitCode.OK)
