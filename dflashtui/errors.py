"""Every exception of the package. Front ends branch on the class, never on prose."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class DflashError(Exception):
    """Anything this package raises on purpose."""

    transient: ClassVar[bool] = False
    """Whether waiting helps."""


class ConfigError(DflashError):
    """All that is wrong with one configuration file, found in one pass."""

    def __init__(self, problems: Sequence[str]) -> None:
        """`problems`: complete sentences that name file, line, key and what was expected."""
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class RenderError(ConfigError):
    """A unit's text cannot be made for a host: its template, its file or a value of hosts.toml is at fault."""

    def __init__(self, host: str, unit: str, problem: str) -> None:
        """`problem`: a sentence that names the file and the key, and what to do."""
        super().__init__([f"{problem} (rendering {unit} for {host})"])
        self.host = host
        self.unit = unit


class TransportError(DflashError):
    """The way to a host failed."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(f"{host}: {reason}")
        self.host = host
        self.reason = reason


class Unreachable(TransportError):
    """No connection could be made; waiting may help."""

    transient = True


class TransportLost(TransportError):
    """An established connection ended, or its outcome is unknown; waiting may help."""

    transient = True


class CommandTimeout(TransportError):
    """A command gave no answer within the caller's limit."""

    transient = True


class AuthDenied(TransportError):
    """The host refused the login. Retrying by itself would only earn a lock-out."""


class HostKeyRejected(TransportError):
    """The host key is unknown, changed or revoked: a person must decide outside of this program."""

    def __init__(self, host: str, reason: str, *, kind: str, fingerprints: Sequence[str] = (), line: str = "") -> None:
        """`kind`: `unknown`, `changed` or `revoked`; `fingerprints`: offered first; `line`: for known_hosts."""
        super().__init__(host, reason)
        self.kind = kind
        self.fingerprints = tuple(fingerprints)
        self.line = line


class OwnFault(TransportError):
    """This program failed where it should not have; the log has the traceback. One host's trouble stays its own."""

    transient = True


class TransportMisconfigured(TransportError):
    """The caller's own ssh_config, key or known_hosts file cannot be used; waiting does not help."""


class CommandFailed(DflashError):
    """A command ran on the host and ended with a status that is not 0."""

    def __init__(self, host: str, argv: Sequence[str], exit_status: int, stderr: str) -> None:
        last = stderr.strip().splitlines()[-1] if stderr.strip() else "no message"
        super().__init__(f"{host}: {shlex.join(argv)}: exit {exit_status}: {last}")
        self.host = host
        self.argv = tuple(argv)
        self.exit_status = exit_status
        self.stderr = stderr


class SourceUnavailable(DflashError):
    """One source of one host cannot be read: a state of that pane, not of the host."""

    def __init__(self, host: str, source: str, reason: str) -> None:
        super().__init__(f"{host}: {source}: {reason}")
        self.host = host
        self.source = source
        self.reason = reason


class NoSystemd(SourceUnavailable):
    """The host does not run systemd: a state of the host, whose other sources may still be read."""


class ManagerRefused(DflashError):
    """The service manager answered a call with a D-Bus error; `name` is the error's name, `words` the manager's."""

    def __init__(self, host: str, call: str, name: str, words: str) -> None:
        super().__init__(f"{host}: {call}: {words or name}")
        self.host = host
        self.call = call
        self.name = name
        self.words = words


class DecodeError(DflashError):
    """A source said something that its parser cannot read."""

    def __init__(self, source: str, data: bytes) -> None:
        super().__init__(f"{source}: cannot read {data[:200]!r}")
        self.source = source
        self.data = data


class OperationError(DflashError):
    """An action was not carried out."""


class ActionRefused(OperationError):
    """The action never left the console: read-only, unit name not valid, or not confirmed."""


class ActionDenied(OperationError):
    """The host refused the action; the message names the right that is missing."""


class OutcomeUnknown(OperationError):
    """The connection ended between request and answer: look at the host before the next step."""


class PushRefused(OperationError):
    """The host refused a step of a push; `kind` is the pusher's word (`changed`, `locked`, `no-space`, …)."""

    def __init__(self, host: str, kind: str, words: str) -> None:
        super().__init__(f"{host}: {words}")
        self.host = host
        self.kind = kind
        self.words = words
