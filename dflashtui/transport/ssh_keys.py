"""The person's keys: from the agent, from files; never a password, never a prompt."""

from __future__ import annotations

import asyncio
import copy
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import asyncssh

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

USUAL_NAMES = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa")
AGENT_SECONDS = 2.0
AGENT_SHUNNED_SECONDS = 30.0
MOST_KEYS = 6
"""sshd's `MaxAuthTries`: after so many refusals it hangs up, and newer ones lock the address out."""


@dataclass(frozen=True)
class KeyFiles:
    """Keys read from files, and what could not be read."""

    pairs: tuple[asyncssh.SSHKeyPair, ...] = ()
    wanted: frozenset[bytes] = frozenset()
    """Public parts of all named files, also of those whose private part has a passphrase."""
    notes: tuple[str, ...] = ()


@dataclass
class KeyRing:
    """What is offered in one login, and words about it for a refusal."""

    pairs: list[asyncssh.SSHKeyPair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_read_files: dict[tuple[Path, tuple[Path, ...], int], tuple[asyncssh.SSHKeyPair, ...]] = {}
_read_lock = threading.Lock()
_shunned_agents: dict[str, float] = {}


def usual_files() -> tuple[Path, ...]:
    """`~/.ssh/id_ed25519` and the like, those that exist."""
    folder = Path("~/.ssh").expanduser()
    return tuple(folder / name for name in USUAL_NAMES if (folder / name).is_file())


def key_files(paths: Sequence[Path], certificates: Sequence[Path]) -> KeyFiles:
    """The keys in files; each file is parsed once in a version. Blocks. Raises `OSError` or `ValueError`."""
    pairs: list[asyncssh.SSHKeyPair] = []
    wanted: set[bytes] = set()
    notes: list[str] = []
    for path in paths:
        found = _pairs(path, tuple(certificates))
        pairs += found
        wanted |= {pair.key_public_data for pair in found}
        if not found:
            notes.append(f"{path} has a passphrase: add it to the agent with ssh-add")
            wanted |= _public_part(path)
    return KeyFiles(tuple(pairs), frozenset(wanted), tuple(notes))


def _pairs(path: Path, certificates: tuple[Path, ...]) -> tuple[asyncssh.SSHKeyPair, ...]:
    with _read_lock:
        version = (path, certificates, path.stat().st_mtime_ns)
        if version not in _read_files:
            try:
                _read_files[version] = tuple(
                    asyncssh.load_keypairs([path], certlist=list(certificates), ignore_encrypted=True)
                )
            except asyncssh.KeyImportError as bad:
                raise ValueError(f"{path}: {bad}") from bad
        return _read_files[version]


def _public_part(path: Path) -> set[bytes]:
    """Of a private key with a passphrase: from the file beside it, or from its own head."""
    for place in (path.with_name(f"{path.name}.pub"), path):
        try:
            return {asyncssh.read_public_key(place).public_data}
        except (OSError, ValueError):
            continue
    return set()


@asynccontextmanager
async def key_ring(agent_path: str | None, files: KeyFiles, *, only_files: bool) -> AsyncIterator[KeyRing]:
    """Keys for one login, agent first. The agent stays open while they are used for signing.

    `only_files`: of the agent's keys those alone that are named by files. A dead or mute agent is a note.
    """
    ring = KeyRing(notes=list(files.notes))
    agent = asyncssh.SSHAgentClient(agent_path) if agent_path else None
    try:
        if agent is not None and agent_path:
            offered = await _asked(agent, agent_path, ring)
            ring.pairs += [pair for pair in offered if not only_files or pair.key_public_data in files.wanted]
        held = {pair.public_data for pair in ring.pairs}
        # copies: asyncssh notes in a pair which signature one server wants
        ring.pairs += [copy.copy(pair) for pair in files.pairs if pair.public_data not in held]
        del ring.pairs[MOST_KEYS:]
        yield ring
    finally:
        if agent is not None:
            agent.close()


async def _asked(agent: asyncssh.SSHAgentClient, path: str, ring: KeyRing) -> list[asyncssh.SSHKeyPair]:
    """The agent's keys. One that was mute is left alone for a while: a hundred hosts need not wait for it."""
    try:
        async with asyncio.timeout(AGENT_SECONDS if monotonic() > _shunned_agents.get(path, 0.0) else 0.0):
            return list(await agent.get_keys())
    except TimeoutError:
        _shunned_agents[path] = monotonic() + AGENT_SHUNNED_SECONDS
        ring.notes.append(f"the agent at {path} does not answer")
    except (OSError, ValueError):
        ring.notes.append(f"no agent answers at {path}")
    return []
