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
DOWN = {
    HostFault.NEVER_REACHED: Link(
        state=LinkState.UNREACHABLE, error="connect: no route to host; is it switched on and is the address right?"
    ),
    HostFault.LOST: Link(state=LinkState.UNREACHABLE, error="connection lost: no answer to 3 keepalives"),
    HostFault.AUTH_FAILED: Link(
        state=LinkState.AUTH_FAILED,
        error="login as root refused (publickey); add the key to ~/.ssh/authorized_keys there, then ctrl+r",
    ),
    HostFault.HOSTKEY_CHANGED: Link(
        state=LinkState.HOSTKEY_CHANGED,
        error="the host key is not the one in known_hosts: reinstalled, or not the host it claims to be",
        fingerprints=(OFFERED, KNOWN),
    ),
    HostFault.HOSTKEY_UNKNOWN: Link(
        state=LinkState.HOSTKEY_UNKNOWN,
        error="the host key is in no known_hosts file; compare the fingerprint, then add the line",
        fingerprints=(OFFERED,),
        known_hosts_line="gpu09 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDemoDemoDemoDemoDemoDemo",
    ),
}
RETRY_SECONDS = 30
LOST_SECONDS_AGO = 185


def is_read(fault: HostFault) -> bool:
    """Whether the host has ever told its values."""
    return fault not in UNREAD


def link(fault: HostFault, born: float, now: float) -> Link:
    """The link of a host with that fault."""
    if fault is HostFault.CONNECTING:
        return Link(state=LinkState.CONNECTING, since=moment(born), step="handshake")
    if fault not in DOWN:
        return Link(state=LinkState.UP, since=moment(born), latency_ms=0.4)
    down = DOWN[fault]
    retries = int((now - born) // RETRY_SECONDS) + 1
    if down.state is not LinkState.UNREACHABLE:
        return down.model_copy(update={"since": moment(born), "attempt": 1})
    lost = born - LOST_SECONDS_AGO if fault is HostFault.LOST else born
    retry_at = moment(born + retries * RETRY_SECONDS)
    return down.model_copy(update={"since": moment(lost), "attempt": retries, "retry_at": retry_at})


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
