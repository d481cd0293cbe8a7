"""What asyncssh, the resolver and the kernel raise, as the errors of this package: most specific first."""

from __future__ import annotations

import errno
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncssh

from dflashtui.errors import AuthDenied, TransportError, TransportLost, TransportMisconfigured, Unreachable
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONNECT_SECONDS = 10.0
"""From the first packet to the first byte of an answer."""
LOGIN_SECONDS = 15.0
"""From there until the login is done."""


class DroppedEarlyError(Exception):
    """Closed before the login was decided: sshd had too many logins at once, or a filter stands before it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to one login, in words."""

    host: str
    """Whom the failure is told for: the name in the inventory."""
    place: str
    """`10.1.2.129:22`."""
    via: str = ""
    """Puts the blame on a jump host: a prefix of every reason."""

    def reason(self, words: str) -> str:
        """The whole sentence."""
        return f"{self.via}{self.place} {words}"


@contextmanager
def connecting(attempt: Attempt) -> Iterator[None]:
    """Failures on the way to a login."""
    try:
        yield
    except (asyncssh.Error, OSError, ValueError) as failure:
        raise _meaning(attempt, failure) from failure


@contextmanager
def connected(host: str, reason: Callable[[], str]) -> Iterator[None]:
    """Failures on an established connection are its loss. `reason` gives what is known about it by then."""
    try:
        yield
    except (asyncssh.Error, OSError) as failure:
        raise TransportLost(host, reason()) from failure


def _meaning(attempt: Attempt, failure: Exception) -> Exception:
    return next(meaning(attempt, failure) for kind, meaning in _MEANINGS if isinstance(failure, kind))


def _denied(attempt: Attempt, failure: Exception) -> TransportError:
    return AuthDenied(attempt.host, attempt.reason(f"refused the login: {said(failure)}"))


def _unsafe(attempt: Attempt, failure: Exception) -> TransportError:
    return TransportMisconfigured(attempt.host, attempt.reason(f"offers no safe SSH: {said(failure)}"))


def _dropped(attempt: Attempt, failure: Exception) -> Exception:  # noqa: ARG001 - one of many alike
    return DroppedEarlyError(attempt.place)


def _disconnected(attempt: Attempt, failure: Exception) -> TransportError:
    """A farewell of sshd, or a breach of the protocol that asyncssh noticed."""
    words = said(failure)
    if "too many authentication failures" in words.lower():
        advice = "name the right key by identity_file in hosts.toml"
        return AuthDenied(attempt.host, attempt.reason(f"refused the login: {words}; {advice}"))
    if "banner" in words.lower() or "version" in words.lower():
        return Unreachable(attempt.host, attempt.reason(f"answers, but not as an SSH server ({words})"))
    return Unreachable(attempt.host, attempt.reason(f"broke off: {words}"))


def _unnamed(attempt: Attempt, failure: Exception) -> TransportError:
    words = failure.strerror if isinstance(failure, OSError) else None
    return Unreachable(attempt.host, attempt.reason(f"is no name that can be resolved: {words}"))


def _late(attempt: Attempt, failure: Exception) -> TransportError:  # noqa: ARG001 - one of many alike
    return Unreachable(attempt.host, attempt.reason(f"did not answer within {CONNECT_SECONDS:.0f} s"))


def _refused(attempt: Attempt, failure: Exception) -> TransportError:  # noqa: ARG001 - one of many alike
    return Unreachable(attempt.host, attempt.reason("refused the connection: no sshd listens there"))


def _not_passed_on(attempt: Attempt, failure: Exception) -> TransportError:
    return Unreachable(attempt.host, attempt.reason(f"is not reached from there: {said(failure)}"))


def _of_kernel(attempt: Attempt, failure: Exception) -> TransportError:
    if isinstance(failure, OSError) and failure.errno in {errno.EHOSTUNREACH, errno.ENETUNREACH}:
        return Unreachable(attempt.host, attempt.reason("has no route to it"))
    return Unreachable(attempt.host, attempt.reason(f"cannot be reached: {said(failure)}"))


_MEANINGS: tuple[tuple[type[Exception], Callable[[Attempt, Exception], Exception]], ...] = (
    (asyncssh.PermissionDenied, _denied),
    (asyncssh.KeyExchangeFailed, _unsafe),
    (asyncssh.ProtocolNotSupported, _unsafe),
    (asyncssh.ConnectionLost, _dropped),
    (asyncssh.DisconnectError, _disconnected),
    (asyncssh.ChannelOpenError, _not_passed_on),
    (socket.gaierror, _unnamed),
    (TimeoutError, _late),
    (ConnectionRefusedError, _refused),
    (ConnectionError, _dropped),
    (OSError, _of_kernel),
    (Exception, _of_kernel),
)


def said(failure: BaseException) -> str:
    """The words of a failure, harmless: they may come from the other side."""
    if isinstance(failure, asyncssh.Error):
        words = failure.reason
    else:
        words = (failure.strerror if isinstance(failure, OSError) else None) or str(failure)
    return printable(words or type(failure).__name__, limit=500)
