"""One host in detail, and what to do when it cannot be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.model.host import LinkState
from dflashtui.text import human_span, printable
from dflashtui.tui import cells
from dflashtui.tui.details.parts import facts, foreign, heading, moment, wrapped
from dflashtui.tui.glyphs import link_state
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.host import HostSnapshot, Link

ADVICE = {
    LinkState.UNREACHABLE: "It is tried again by itself; ctrl+r tries at once.",
    LinkState.AUTH_FAILED: (
        "It is not tried again by itself, for that could lock the login. Mend user, key or agent, then ctrl+r."
    ),
    LinkState.HOSTKEY_UNKNOWN: "Compare the fingerprint with the host's own, add the line to known_hosts, then ctrl+r.",
    LinkState.HOSTKEY_CHANGED: (
        "Someone may be in between, or the host was installed anew. Find out which before you change known_hosts."
    ),
    LinkState.NO_SYSTEMD: "Units and journals cannot be read here.",
    LinkState.MISCONFIGURED: "Mend ssh_config, key or known_hosts on this machine, then ctrl+r.",
}


def host_lines(host: HostSnapshot, now: datetime, width: int) -> tuple[Cell, ...]:
    """Everything about a host but its units and GPUs."""
    state = link_state(host.link, now)
    title: Cell = (
        (f"{state.glyph} ", state.role),
        (printable(host.name), "title"),
        ("  ", ""),
        (state.word, state.role),
    )
    return (
        title,
        *link_trouble(host.link, now, width),
        EMPTY,
        *_facts(host, now),
        *_sources(host, width),
    )


def link_trouble(link: Link, now: datetime, width: int) -> tuple[Cell, ...]:
    """What came back, and what to do: for a host that is not up."""
    if link.state in {LinkState.UP, LinkState.CONNECTING}:
        return ()
    due = (link.retry_at - now).total_seconds() if link.retry_at else None
    tried = f"Attempt {link.attempt}; next in {human_span(due)}." if due is not None and due > 0 else ""
    keys = [
        ("offered key" if place == 0 else "known key", cell(printable(key)))
        for place, key in enumerate(link.fingerprints)
    ]
    return (
        *wrapped(link.error or "no reason was given", width),
        *wrapped(f"{ADVICE.get(link.state, '')} {tried}", width, "dim"),
        *((EMPTY, *facts(*keys)) if keys else ()),
        *(
            (EMPTY, cell("line for known_hosts (c copies it)", "dim"), *_chunks(link.known_hosts_line, width))
            if link.known_hosts_line
            else ()
        ),
    )


def _chunks(text: str, width: int) -> tuple[Cell, ...]:
    """A long line without blanks, cut at the width: it is copied with a key, not from the screen."""
    safe = printable(masked(text))
    return tuple(cell(safe[start : start + width], "strong") for start in range(0, len(safe), max(1, width)))


def _facts(host: HostSnapshot, now: datetime) -> tuple[Cell, ...]:
    latency = host.link.latency_ms
    skew = host.clock_skew_seconds
    shm = cells.share(host.shm_used_bytes, host.shm_total_bytes) if host.shm_total_bytes else None
    return facts(
        ("address", foreign(host.address)),
        ("group", foreign(host.group)),
        ("protected", cell("yes: every change asks for a typed word", "warn") if host.protected else None),
        ("read-only", cell("yes: nothing can be changed here", "warn") if host.read_only else None),
        ("round trip", None if latency is None else cells.number(latency, "ms", digits=1)),
        ("last seen", moment(host.observed_at, now) or cells.UNKNOWN),
        ("systemd", None if host.systemd_version is None else cell(str(host.systemd_version))),
        ("driver", foreign(host.driver_version)),
        ("CUDA driver", foreign(host.cuda_driver_version)),
        ("clock", None if skew is None else cell(f"{skew:+.1f} s", "warn" if abs(skew) > 1 else "dim")),
        ("/dev/shm", shm),  # noqa: S108 - a label
        ("boot", foreign(host.boot_id, "dim")),
        ("channels", None if host.channels is None else cell(str(host.channels), "dim")),
        ("lines dropped", cell(str(host.journal_dropped_count), "warn") if host.journal_dropped_count else None),
    )


def _sources(host: HostSnapshot, width: int) -> tuple[Cell, ...]:
    if not host.sources:
        return ()
    lines: list[Cell] = [*heading("sources")]
    for source in host.sources:
        via = printable(source.via or "–")
        lines += facts(
            (printable(source.source, limit=13), cell("not read", "warn") if source.problem else cell(via, "dim"))
        )
        lines += wrapped(source.problem, width, "warn") if source.problem else ()
    return tuple(lines)
