"""`systemctl` as a command: for what the bus cannot do, and where there is no bus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflashtui.errors import (
    ActionDenied,
    ActionRefused,
    CommandFailed,
    OutcomeUnknown,
    SourceUnavailable,
    TransportError,
)
from dflashtui.model.action import UnitAction, Verb
from dflashtui.source.systemd_show import blocks
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from dflashtui.transport.base import Completed, Transport

ANSWER_LIMIT_SECONDS = 10
TIMED_OUT = frozenset({124, 137})
"""What timeout(1) says when the limit has passed, the second after SIGKILL."""
DENIALS = ("interactive authentication required", "access denied", "permission denied")
SUDO_DENIALS = ("a password is required", "a terminal is required", "not allowed", "not in the sudoers")
NOTHING_TO_ENABLE = "no installation config"
NO_INSTALL_SECTION = "the unit file has no [Install] section, so there is nothing to enable"
JOB_WORDS = (
    ("canceled", "canceled"),
    ("a dependency job for", "dependency"),
    ("because a timeout was exceeded", "timeout"),
    ("job for", "failed"),
)
"""What systemctl writes about a job that did not end `done` (systemd's check_wait_response)."""


@dataclass(frozen=True, slots=True)
class Systemctl:
    """systemctl on one host, for the system's manager or a user's."""

    transport: Transport
    runtime_folder: str | None = None
    """`/run/user/UID` of a user's manager; `None`: the system's."""

    async def read(self, verb: str, *arguments: str) -> bytes:
        """The output of a question. Raises `CommandFailed`, `SourceUnavailable`, `TransportLost`."""
        limit = ("timeout", "-k", "1", str(ANSWER_LIMIT_SECONDS))
        question = (*self._program(), verb, *arguments)
        done = await self.transport.run((*self._environment(), *limit, *question))
        if done.exit_status in TIMED_OUT:
            silent = f"systemctl {verb} gave no answer within {ANSWER_LIMIT_SECONDS} s: the manager or its bus hangs"
            raise SourceUnavailable(done.host, "units", silent)
        return replace(done, argv=question).check().stdout

    async def unit_file(self, unit: str) -> str:
        """As `systemctl cat` shows it."""
        return decoded(await self.read("cat", "--", unit))

    async def properties(self, unit: str) -> dict[str, str]:
        """Every property, as text."""
        found = blocks(await self.read("show", "--", unit))
        return found[0] if found else {}

    async def perform(self, action: UnitAction) -> str:
        """The result of the action's job. Raises `ActionDenied`, `CommandFailed`, `OutcomeUnknown`."""
        prefix = (*self._environment(), *self._program(), "--no-ask-password")
        return job_result(action, await self._run(action, (*prefix, *action.argv[_options(action) :])), sudo=False)

    async def perform_by_sudo(self, action: UnitAction) -> str:
        """The same through `sudo -n`, worded as `action.command`, so that a sudoers line can name it."""
        if action.unit.startswith("-"):
            raise ActionRefused(f"{action.unit}: sudo systemctl would take this name for an option")
        argv = ("sudo", "-n", *(part for part in action.argv if part != "--"))
        return job_result(action, await self._run(action, argv), sudo=True)

    async def _run(self, action: UnitAction, argv: tuple[str, ...]) -> Completed:
        try:
            done = await self.transport.run(argv)
        except TransportError as lost:
            raise outcome_unknown(action, lost.reason) from lost
        if done.exit_status is None:
            raise outcome_unknown(action, "the connection ended before the result came")
        return done

    def _environment(self) -> tuple[str, ...]:
        plain = ("env", "LC_ALL=C", "TZ=UTC")
        return (*plain, f"XDG_RUNTIME_DIR={self.runtime_folder}") if self.runtime_folder else plain

    def _program(self) -> tuple[str, ...]:
        return ("systemctl", "--user") if self.runtime_folder else ("systemctl",)


def _options(action: UnitAction) -> int:
    """How many words of `action.argv` the program itself takes."""
    return 2 if action.manager == "user" else 1


def job_result(action: UnitAction, done: Completed, *, sudo: bool) -> str:
    """`done`, `failed`, `canceled`, `timeout`, `dependency`; stderr may begin with other programs' lines."""
    said = printable(decoded(done.stderr[-4000:]).strip().replace("\n", " · "))
    lower = said.lower()
    if done.exit_status == 0:
        if action.verb is Verb.ENABLE and NOTHING_TO_ENABLE in lower:
            raise refusal(done.host, action, NO_INSTALL_SECTION)
        return "done"
    if sudo and any(words in lower for words in SUDO_DENIALS):
        raise ActionDenied(sudo_denial(done.host, action, said))
    if any(words in lower for words in DENIALS):
        raise ActionDenied(denial(done.host, action))
    for words, result in JOB_WORDS:
        if words in lower:
            return result
    raise refusal(done.host, action, said, exit_status=done.exit_status or 1)


def refusal(host: str, action: UnitAction, words: str, *, exit_status: int = 1) -> CommandFailed:
    """The manager's own refusal, as systemctl would put it."""
    return CommandFailed(host, tuple(part for part in action.argv if part != "--"), exit_status, words)


def outcome_unknown(action: UnitAction, reason: str) -> OutcomeUnknown:
    """The request may have reached the host; nobody knows."""
    what = f"{action.host}: {action.command}: outcome unknown: {reason}"
    return OutcomeUnknown(f"{what}. Look at the unit before the next step.")


UNIT_FILE_VERBS = frozenset({"enable", "disable", "mask", "unmask"})


def denial(host: str, action: UnitAction) -> str:
    """Which polkit action is missing, and what can be done."""
    about = f"{host}: {action.command}: the host refused: not authorized"
    if action.verb.value in UNIT_FILE_VERBS:
        right = "org.freedesktop.systemd1.manage-unit-files and org.freedesktop.systemd1.reload-daemon"
    else:
        right = f'org.freedesktop.systemd1.manage-units with unit "{action.unit}" and verb "{action.verb.value}"'
    return f'{about}. Allow {right} in /etc/polkit-1/rules.d on the host, or set become = "sudo" in hosts.toml.'


def sudo_denial(host: str, action: UnitAction, said: str) -> str:
    """Which sudoers line is missing."""
    line = f"USER ALL=(root) NOPASSWD: /usr/bin/{action.command}"
    return f"{host}: sudo -n {action.command}: refused ({said}). Allow it in /etc/sudoers.d on the host: {line}"
