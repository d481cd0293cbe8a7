"""How the links and sources of simulated hosts stand. Pure."""

from __future__ import annotations

from dflashtui.demo.clock import moment
from dflashtui.demo.plan import HostFault
from dflashtui.model.host import Link, LinkState, SourceState

OFFERED = "SHA256:mVPwvezndPv/ARoIadVY98vAC0g+P/5633yTC4d/wXE"
KNOWN = "SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDyMW7vU5sm3T0Qp1k"
UNREAD = frozenset(
    {
        HostFault.NEVER_REACHED,
        HostFault.AUTH_FAILED,
        HostFault.HOSTKEY_CHANGED,
        HostFault.HOSTKEY_UNKNOWN,
        HostFault.CONNECTING,
    }
)
RETRY_SECONDS = 30
LOST_SECONDS_AGO = 185
STEP_SECONDS_AGO = 9


def is_read(fault: HostFault) -> bool:
    """Whether the host has ever told its values."""
    return fault not in UNREAD


def link(fault: HostFault, born: float, now: float) -> Link:
    """The link of a host with that fault."""
    since = moment(born)
    retry_at = moment(now - (now - born) % RETRY_SECONDS + RETRY_SECONDS)
    attempt = int((now - born) // RETRY_SECONDS) + 1
    match fault:
        case HostFault.CONNECTING:
            return Link(state=LinkState.CONNECTING, since=since, step="handshake")
        case HostFault.NEVER_REACHED:
            error = "connect: no route to host; is it switched on and is the address right?"
            return Link(state=LinkState.UNREACHABLE, since=since, error=error, attempt=attempt, retry_at=retry_at)
        case HostFault.LOST:
            error = "connection lost: no answer to 3 keepalives"
            lost = moment(born - LOST_SECONDS_AGO)
            return Link(state=LinkState.UNREACHABLE, since=lost, error=error, attempt=attempt + 4, retry_at=retry_at)
        case HostFault.AUTH_FAILED:
            error = "login as root refused (publickey); add the key to ~/.ssh/authorized_keys there, then ctrl+r"
            return Link(state=LinkState.AUTH_FAILED, since=since, error=error, attempt=1)
        case HostFault.HOSTKEY_CHANGED:
            error = "the host key is not the one in known_hosts: reinstalled, or not the host it claims to be"
            return Link(
                state=LinkState.HOSTKEY_CHANGED, since=since, error=error, attempt=1, fingerprints=(OFFERED, KNOWN)
            )
        case HostFault.HOSTKEY_UNKNOWN:
            error = "the host key is in no known_hosts file; compare the fingerprint, then add the line"
            return Link(
                state=LinkState.HOSTKEY_UNKNOWN,
                since=since,
                error=error,
                attempt=1,
                fingerprints=(OFFERED,),
                known_hosts_line="10.1.2.9 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDemoDemoDemoDemoDemoDemoDemoDemoDemoDemoDemo",
            )
        case _:
            return Link(state=LinkState.UP, since=since, latency_ms=0.4)


def sources(fault: HostFault) -> tuple[SourceState, ...]:
    """How each source is read, by name."""
    if not is_read(fault):
        return ()
    gpus, journal = SourceState(source="gpus", via="sampler"), SourceState(source="journal", via="journalctl")
    if fault is HostFault.NO_DRIVER:
        gpus = SourceState(source="gpus", problem="no NVIDIA driver (libnvidia-ml.so.1 not found)", is_absent=True)
    if fault is HostFault.NO_JOURNAL:
        problem = "no permission; add the user to the group systemd-journal: usermod -aG systemd-journal USER"
        journal = SourceState(source="journal", problem=problem)
    kernel = SourceState(source="kernel", via="journalctl", problem=journal.problem)
    return (gpus, journal, kernel, SourceState(source="units", via="bus"))
