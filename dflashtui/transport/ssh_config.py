"""How ssh(1) would reach a host: the inventory's own words first, then ssh_config(5), then ssh's defaults."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import asyncssh

from dflashtui.config.model import Host
from dflashtui.errors import TransportMisconfigured
from dflashtui.transport.ssh_excerpt import excerpt
from dflashtui.transport.ssh_hostkey import host_key_algorithms
from dflashtui.transport.ssh_keys import KeyFiles, key_files, usual_files
from dflashtui.transport.ssh_known_hosts import Known, known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
SYSTEM_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
KEEPALIVE_SECONDS = 2.5
KEEPALIVES_UNANSWERED = 2
"""A silent peer is given up after 3 × 2.5 s, counted from its last byte."""
HOP = re.compile(
    r"(?:(?P<user>[^@]+)@)?(?:\[(?P<bracketed>[^]]+)]|(?P<name>[^]:@[]+)|(?P<bare>[0-9a-f:]+))(?::(?P<port>\d+))?",
    re.IGNORECASE,
)
CIPHERS = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "aes256-ctr",
    "aes192-ctr",
    "aes128-ctr",
    "chacha20-poly1305@openssh.com",
)
"""By speed here; chacha20 last, for without strict key exchange it is open to CVE-2023-48795."""
OURS = {
    "command": None,
    "env": None,
    "send_env": None,
    "request_pty": False,
    "agent_forwarding": False,
    "x11_forwarding": False,
    "agent_path": None,
    "pkcs11_provider": None,
    "password_auth": False,
    "kbdint_auth": False,
    "host_based_auth": False,
    "gss_host": None,
    "client_host_keys": None,
    "x509_trusted_certs": None,
    "preferred_auth": "publickey",
    "encoding": None,
    "connect_timeout": None,
    "keepalive_interval": KEEPALIVE_SECONDS,
    "keepalive_count_max": KEEPALIVES_UNANSWERED,
}
"""What no ssh_config may change about our connections: `RemoteCommand`, `SetEnv`, `RequestTTY force`, …"""


@dataclass(frozen=True)
class Route:
    """All that connecting to one host needs to know, read from the person's files."""

    name: str
    """As ssh(1) would be called: an alias, a name or an address."""
    address: str
    port: int
    user: str
    jumps: tuple[str, ...]
    """Hops of `ProxyJump`, nearest first, as `user@host:port`."""
    proxy_command: str | None
    known: Known
    keys: KeyFiles
    agent_path: str | None
    only_named_keys: bool
    options: asyncssh.SSHClientConnectionOptions
    versions: Mapping[Path, int | None]
    """The files that this was read from, with the time of their last change."""

    def is_current(self) -> bool:
        """Whether the files are what they were. Blocks."""
        return all(_version(path) == version for path, version in self.versions.items())

    @property
    def place(self) -> str:
        """`10.1.2.129:22`."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def route(host: Host) -> Route:
    """Read the person's files for one host. Blocks: call it aside. Raises `TransportMisconfigured`."""
    try:
        return _route(host)
    except OSError as unreadable:
        raise TransportMisconfigured(host.name, f"{unreadable.filename}: {unreadable.strerror}") from unreadable
    except RecursionError as endless:
        raise TransportMisconfigured(host.name, "ssh_config: its Include lines lead back to themselves") from endless
    except ValueError as wrong:
        raise TransportMisconfigured(host.name, str(wrong)) from wrong


def _route(host: Host) -> Route:
    name = host.address or host.name
    options = _options(host, name)
    said = options.config
    known_keys = known(_known_hosts(host, options), str(said.get("HostKeyAlias") or options.host), options.port)
    options = asyncssh.SSHClientConnectionOptions(
        options,
        config=None,
        reload=False,
        final=False,
        server_host_key_algs=() if said.get("HostKeyAlgorithms") else host_key_algorithms(known_keys),
        encryption_algs=() if said.get("Ciphers") else CIPHERS,
    )
    named, only_named = _named_keys(host, options)
    jump = cast("str | None", said.get("ProxyJump"))
    hops = tuple(spec.strip() for spec in jump.split(",")) if jump else ()
    for spec in hops:
        hop(spec)
    return Route(
        name=name,
        address=options.host,
        port=options.port,
        user=options.username,
        jumps=hops,
        proxy_command=cast("str | None", said.get("ProxyCommand")),
        known=known_keys,
        keys=key_files(named, _paths(said.get("CertificateFile"))),
        agent_path=_agent(options),
        only_named_keys=only_named,
        options=options,
        versions={path: _version(path) for path in (*_configs(), *known_keys.files, *named)},
    )


def _version(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _configs() -> tuple[Path, ...]:
    return Path("~/.ssh/config").expanduser(), SYSTEM_CONFIG


def hop(spec: str) -> Host:
    """One hop of `ProxyJump`, `user@host:port`, as a host to reach. Raises `ValueError`."""
    found = HOP.fullmatch(spec.removeprefix("ssh://").removesuffix("/"))
    if found is None:
        raise ValueError(f"ssh_config: ProxyJump {spec!r} is not of the form user@host:port")
    name = found["bracketed"] or found["name"] or found["bare"]
    return Host(name=name, user=found["user"], port=int(found["port"]) if found["port"] else None)


def _options(host: Host, name: str) -> asyncssh.SSHClientConnectionOptions:
    """The options of asyncssh, with ssh_config read and nothing else yet."""
    paths = [path for path in _configs() if path.exists()]
    with ExitStack() as stack:
        excerpts = {path: stack.enter_context(excerpt(path, name)) for path in paths}
        try:
            return _read(host, name, list(excerpts.values()))
        except ValueError as wrong:
            words = str(wrong)
            for path, part in excerpts.items():
                words = words.replace(str(part), str(path))
            raise ValueError(words) from wrong


def _read(host: Host, name: str, config: Sequence[Path]) -> asyncssh.SSHClientConnectionOptions:
    options = asyncssh.SSHClientConnectionOptions(
        config=config,
        host=name,
        port=host.port if host.port is not None else (),
        username=host.user if host.user is not None else (),
        client_keys=None,
        known_hosts=b"",
        **OURS,
    )
    if options.config.has_match_final():
        options.update(reload=True, final=True)
    return options


def _known_hosts(host: Host, options: asyncssh.SSHClientConnectionOptions) -> tuple[Path, ...]:
    """The files that ssh(1) would look into; the inventory's own file alone, if it names one."""
    if host.known_hosts is not None:
        return (host.known_hosts.expanduser(),)
    users = cast("Sequence[str] | None", options.config.get("UserKnownHostsFile"))
    systems = cast("Sequence[str] | None", options.config.get("GlobalKnownHostsFile"))
    users = USER_KNOWN_HOSTS if users is None else users
    systems = SYSTEM_KNOWN_HOSTS if systems is None else systems
    return _paths([*users, *systems]) or _paths(USER_KNOWN_HOSTS[:1])


def _named_keys(host: Host, options: asyncssh.SSHClientConnectionOptions) -> tuple[tuple[Path, ...], bool]:
    """Key files, and whether they are all that may be offered. ssh_config may name files that do not exist."""
    if host.identity_file is not None:
        return (host.identity_file.expanduser(),), True
    only_named = bool(options.config.get("IdentitiesOnly"))
    named = _paths(options.config.get("IdentityFile"))
    return (tuple(path for path in named if path.exists()) if named else usual_files()), only_named


def _agent(options: asyncssh.SSHClientConnectionOptions) -> str | None:
    """The agent's socket: `IdentityAgent`, else `SSH_AUTH_SOCK`."""
    named = options.config.get("IdentityAgent", "SSH_AUTH_SOCK")
    if named == "SSH_AUTH_SOCK":
        return os.environ.get("SSH_AUTH_SOCK") or None
    return str(Path(str(named)).expanduser()) if named else None


def _paths(names: object) -> tuple[Path, ...]:
    return tuple(Path(name).expanduser() for name in cast("Sequence[str]", names or ()))
