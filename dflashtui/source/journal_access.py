"""Whether and how the login may read the journal: a user without rights sees an empty one, without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import SourceUnavailable
from dflashtui.source.journal_argv import PLACE, JournalAccess
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.transport.base import Completed, Transport

READING_GROUPS = frozenset({"root", "systemd-journal", "adm", "wheel"})
"""journalctl(1), ACCESS CONTROL."""
SUDO = ("sudo", "-n", "--")
NOT_FOUND = 127


async def journal_access(
    transport: Transport, *, manager: ManagerKind = "system", become: str = "none"
) -> JournalAccess:
    """How the journal can be read here.

    Raises `SourceUnavailable` that names the group to join, `TransportLost`.
    """
    uid = await _uid(transport)
    if uid == 0 or READING_GROUPS & set(await _words(transport, "id", "-Gn")):
        return JournalAccess(manager, uid)
    if await _sees(transport, JournalAccess(manager, uid), "_PID=1"):
        return JournalAccess(manager, uid)
    if manager == "user" and await _sees(transport, JournalAccess(manager, uid), f"_UID={uid}"):
        return JournalAccess(manager, uid, kernel=False)
    if become == "sudo":
        return await _with_sudo(transport, JournalAccess(manager, uid, SUDO))
    raise await _refusal(transport)


async def _uid(transport: Transport) -> int:
    words = await _words(transport, "id", "-u")
    if len(words) != 1 or not words[0].isdecimal():
        raise SourceUnavailable(transport.host, "journal", f"id -u answered {printable(' '.join(words), limit=80)!r}")
    return int(words[0])


async def _words(transport: Transport, *argv: str) -> list[str]:
    done = await transport.run(argv, output_limit_bytes=2**16)
    return decoded(done.check().stdout).split()


async def _sees(transport: Transport, access: JournalAccess, match: str) -> bool:
    """Whether an entry that must be there is shown; other users' entries need rights."""
    done = await transport.run(access.argv(*PLACE, "--lines=1", match), output_limit_bytes=2**20)
    return bool(complete(done, transport.host).stdout.strip())


async def _with_sudo(transport: Transport, access: JournalAccess) -> JournalAccess:
    done = await transport.run(access.argv(*PLACE, "--lines=1"), output_limit_bytes=2**20)
    if done.exit_status == 0:
        return access
    raise await _refusal(transport, f"; sudo -n journalctl is refused too: {complaint(done)}")


async def _refusal(transport: Transport, more: str = "") -> SourceUnavailable:
    user = printable(" ".join(await _words(transport, "id", "-un")), limit=80)
    reason = f"may not read the journal: add {user} to group systemd-journal (usermod -aG systemd-journal {user})"
    return SourceUnavailable(transport.host, "journal", reason + more)


def complete(done: Completed, host: str) -> Completed:
    """The same. Raises `SourceUnavailable` where there is no journalctl, `TransportLost` as `check` does."""
    if done.exit_status is None:
        done.check()
    if done.exit_status == NOT_FOUND:
        raise SourceUnavailable(host, "journal", "journalctl was not found on the host")
    return done


def complaint(done: Completed) -> str:
    """The last thing that a failed command said, made safe."""
    lines = decoded(done.stderr[-2000:]).strip().splitlines()
    return printable(lines[-1] if lines else f"exit {done.exit_status}", limit=200)
