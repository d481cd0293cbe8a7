"""The host's key: seen in the handshake, compared with what is known, never accepted by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import asyncssh

from dflashtui.errors import HostKeyRejected

if TYPE_CHECKING:
    from dflashtui.transport.ssh_known_hosts import Known

ALGORITHMS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
"""What a host's key may be; SHA-1 and DSA are not among them."""
CERTIFICATE = "-cert-v01@openssh.com"

HostKeys = tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]


class Introduction(asyncssh.SSHClient):
    """Stands beside one handshake: keeps the key that the host offered, and the way the connection ended."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._offered: asyncssh.SSHKey | None = None
        self.connection: asyncssh.SSHClientConnection | None = None
        self.lost: Exception | None = None

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The transport is there, nothing was said yet."""
        self.connection = conn

    def connection_lost(self, exc: Exception | None) -> None:
        """Remember why."""
        self.lost = exc

    @property
    def has_answered(self) -> bool:
        """Whether an SSH server said who it is."""
        return self.connection is not None and self.connection.get_extra_info("server_version") is not None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - asyncssh's signature
        """Asked only about a key that is not trusted; it stays so."""
        self._offered = key
        return False

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - asyncssh's signature
        """Asked only about an authority that is not trusted; it stays so."""
        self._offered = key
        return False

    def trusted_keys(self, host: str, addr: str, port: int | None) -> HostKeys:  # noqa: ARG002 - asyncssh's signature
        """For asyncssh's `known_hosts`: by name alone, as ssh(1) does, for an address is easily taken over.

        A revoked key of the host itself is left out, so that it is refused as one to report.
        """
        revoked = list(self._known.revoked) if self._known.authorities else []
        return list(self._known.trusted), list(self._known.authorities), revoked

    def rejection(self, host: str, via: str, said: str) -> HostKeyRejected:
        """Why the key was refused, for a person: both fingerprints, and what to do. `said`: asyncssh's words."""
        key = self._offered
        if key is None:
            return HostKeyRejected(host, f"{via}host key of {self._known.identity}: {said}", kind="unknown")
        if key in self._known.revoked:
            return self._refused(host, via, key, "revoked")
        is_known = self._known.is_own and (self._known.trusted or self._known.authorities)
        return self._refused(host, via, key, "changed" if is_known else "unknown")

    def _refused(self, host: str, via: str, key: asyncssh.SSHKey, kind: str) -> HostKeyRejected:
        known = self._known.trusted or self._known.authorities if kind == "changed" else ()
        words = {"unknown": self._if_unknown, "changed": self._if_changed, "revoked": self._if_revoked}[kind]
        line = f"{self._known.identity} {_text(key)}" if kind == "unknown" else ""
        prints = tuple(fingerprint(each) for each in (key, *known))
        return HostKeyRejected(host, via + words(key), kind=kind, fingerprints=prints, line=line)

    def _if_unknown(self, key: asyncssh.SSHKey) -> str:
        place = str(self._known.files[0])
        return (
            f"host key of {self._known.identity} is not known: it offers {fingerprint(key)}. Compare that with "
            f"`ssh-keygen -lf` on the host itself, then add the line to "
            f"{place if place != os.devnull else 'a file, and name that by known_hosts in hosts.toml'}"
        )

    def _if_changed(self, key: asyncssh.SSHKey) -> str:
        known = self._known.trusted or self._known.authorities
        place = self._known.place_of(known[0])
        return (
            f"host key of {self._known.identity} CHANGED: it offers {fingerprint(key)}, {place} says "
            f"{fingerprint(known[0])}. Either somebody stands between, or the host was reinstalled: in that case "
            f"`ssh-keygen -f {place.rpartition(':')[0]} -R {self._known.identity}` forgets the old key"
        )

    def _if_revoked(self, key: asyncssh.SSHKey) -> str:
        return (
            f"host key of {self._known.identity} is revoked: {fingerprint(key)} is marked @revoked "
            f"in {self._known.place_of(key)}. Give the host a new key"
        )


def host_key_algorithms(known: Known) -> list[str]:
    """For asyncssh's `server_host_key_algs`: known types first, so that a host offers the key that is known.

    Certificates only where an authority is known, for nobody could check others.
    """
    known_types = {key.get_algorithm() for key in known.trusted}
    keys = sorted(ALGORITHMS, key=lambda name: _key_type(name) not in known_types)
    return [*(name + CERTIFICATE for name in ALGORITHMS if known.authorities), *keys]


def _key_type(algorithm: str) -> str:
    return "ssh-rsa" if algorithm.startswith("rsa-") else algorithm


def fingerprint(key: asyncssh.SSHKey) -> str:
    """`ssh-ed25519 SHA256:…`, as ssh-keygen(1) shows it."""
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


def _text(key: asyncssh.SSHKey) -> str:
    """Type and base64, without a comment."""
    return " ".join(key.export_public_key().decode().split()[:2])
