"""Text from hosts at its worst, values that carry it, and what must hold for all that is drawn from them."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.gpu import Gpu, GpuProcess, Xid
from dflashtui.model.host import HostSnapshot, Link, LinkState, SourceState
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.tui.listing.draw import GUTTER, Painter, row_pieces
from dflashtui.tui.listing.table import slots
from dflashtui.tui.styled import STYLES, cut, measured, plain
from dflashtui.tui.themes import DEFAULTS
from tests.tui.stage import GIB, NOW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.strip import Strip

    from dflashtui.tui.listing.table import Row, Table
    from dflashtui.tui.styled import Cell

patient = settings(
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
"""No timed assertions; whatever hangs meets the limit of every test. Explaining a failure would trace every line."""
FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of which no character may reach a terminal; tab is one of them: it moves the cursor."""
PIECES = (
    "[/x]", "[red]no[/]", "[@click=app.quit]x[/]", "[INFO]", "\\[b]", "\x1b[2J", "\x1b]0;title\x07",
    "\x1b]52;c;eA==\x1b\\",
    "\x9b31m", "\x9d0;t\x9c", "\x90q", "\x07", "\x00", "\x7f", "\x85", "\r", "\n", "\t", "\x0b", "\u2028", "\u2029",
    "\u202ereversed\u202c", "\u2066x\u2069", "\u200b", "\u200d", "\ufeff", "\u00ad", "\ue000",
    "\U000e0041", "\ufe0f", "❤\ufe0f",
    "e\u0301\u0302\u0303", "\u0301", "\u20dd", "日本語", "한글",
    "👨\u200d👩\u200d👧", "🇩🇪", "\u1100\u1161", "\U0001f44d\U0001f3fd",
    "$x", "{x}", "%s", "sglang-a", "@", ".service", " ", "–", "…",
)  # fmt: skip
LONG = tuple(one * 10_000 for one in ("x", "漢", "[", "\x1b", "e\u0301", "\u0301", "a ", "\t", "\u202e"))
WIDTHS = st.integers(1, 300)

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.sampled_from(PIECES + LONG), st.text(max_size=30)
)
maybe = st.none() | texts
percents = st.none() | st.integers(0, 100)
counts = st.none() | st.integers(0, 2**50)
moments = st.none() | st.integers(-100, 10**8).map(lambda seconds: NOW - timedelta(seconds=seconds))
flags = st.none() | st.booleans()

processes = st.builds(GpuProcess, pid=st.integers(1, 2**22), unit=maybe, memory_used_bytes=counts, command=maybe)
xids = st.builds(
    Xid,
    pci_bus_id=texts,
    xid=st.integers(0, 200),
    at=st.just(NOW - timedelta(seconds=9)),
    pid=st.none() | st.integers(1, 99999),
    process_name=maybe,
    message=texts,
)
gpus = st.builds(
    Gpu,
    index=st.integers(0, 15),
    uuid=maybe,
    name=maybe,
    pci_bus_id=maybe,
    lost=maybe,
    utilization_percent=percents,
    utilization_memory_percent=percents,
    memory_used_bytes=counts,
    memory_reserved_bytes=counts,
    memory_total_bytes=counts,
    power_watts=st.none() | st.floats(0, 2000),
    power_limit_watts=st.none() | st.floats(0, 2000),
    temperature_celsius=percents,
    temperature_slowdown_celsius=percents,
    clock_sm_mhz=percents,
    fan_percent=percents,
    clocks_event_reasons=st.lists(texts, max_size=2).map(tuple),
    ecc_uncorrected_count=counts,
    remapped_rows_uncorrectable=counts,
    remapped_rows_pending=flags,
    remapped_rows_failed=flags,
    mig_enabled=flags,
    compute_capability=maybe,
    processes=st.none() | st.lists(processes, max_size=3).map(tuple),
    last_xid=st.none() | xids,
)
units = st.builds(
    UnitStatus,
    name=texts,
    load_state=st.sampled_from(LoadState),
    load_error=maybe,
    active_state=st.sampled_from(ActiveState),
    sub_state=texts | st.just("auto-restart"),
    description=texts,
    result=maybe,
    unit_file_state=maybe,
    fragment_path=maybe,
    drop_in_paths=st.lists(texts, max_size=2).map(tuple),
    main_pid=st.none() | st.integers(1, 2**22),
    invocation_id=maybe,
    n_restarts=st.none() | st.integers(0, 99),
    exec_main_code=st.none() | st.integers(0, 9),
    exec_main_status=st.none() | st.integers(0, 255),
    since=moments,
    started_at=moments,
    next_restart_at=moments,
    needs_reload=flags,
    memory_current_bytes=counts,
    memory_max_bytes=counts,
    cpu_usage_nsec=counts,
    cpu_percent=st.none() | st.floats(0, 10**5),
    tasks_current=counts,
    control_group=maybe,
    readiness=st.sampled_from(Readiness),
    readiness_detail=maybe,
    readiness_at=moments,
)
links = st.builds(
    Link,
    state=st.sampled_from(LinkState),
    since=moments,
    step=maybe,
    error=maybe,
    retry_at=moments,
    latency_ms=st.none() | st.floats(0, 10**4),
    fingerprints=st.lists(texts, max_size=2).map(tuple),
    known_hosts_line=maybe,
)
hosts = st.builds(
    HostSnapshot,
    name=texts,
    group=maybe,
    address=maybe,
    protected=st.booleans(),
    read_only=st.booleans(),
    link=links,
    observed_at=moments,
    boot_id=maybe,
    clock_skew_seconds=st.none() | st.floats(-(10**6), 10**6),
    driver_version=maybe,
    cuda_driver_version=maybe,
    gpus=st.none() | st.lists(gpus, max_size=2).map(tuple),
    units=st.none() | st.lists(units, max_size=2).map(tuple),
    shm_used_bytes=st.none() | st.integers(0, 999 * GIB),
    shm_total_bytes=st.none() | st.integers(0, 999 * GIB),
    xids=st.lists(xids, max_size=1).map(tuple),
    sources=st.lists(st.builds(SourceState, source=st.just("gpus"), via=maybe, problem=maybe), max_size=2).map(tuple),
    channels=st.none() | st.integers(0, 9),
    journal_dropped_count=st.integers(0, 10**9),
)
events = st.builds(
    Event,
    at=st.just(NOW),
    kind=st.sampled_from(EventKind),
    severity=st.sampled_from(Severity),
    host=maybe,
    unit=maybe,
    message=texts,
)


def forbidden_in(text: str) -> list[str]:
    """The characters that a terminal could act upon."""
    return [ascii(char) for char in text if unicodedata.category(char) in FORBIDDEN]


def check_pieces(pieces: Cell) -> None:
    """Safe text, and tones that exist."""
    for text, tone in pieces:
        assert not forbidden_in(text), (text, tone)
        assert set(tone.split()) <= set(STYLES), tone


def check_lines(lines: Iterable[Cell], width: int) -> None:
    """Safe, and not wider than the pane."""
    for line in lines:
        check_pieces(line)
        assert measured(line) <= width, line


def words_of(row: Row, table: Table, name: str) -> str:
    """What one cell of a row says."""
    place = next(place for place, column in enumerate(table.columns) if column.id == name)
    return plain(row.cells[place])


def drawn(row: Row, table: Table, width: int) -> Strip:
    """A row as its list draws it."""
    body = () if row.heading else row.cells
    widest = {place: measured(body[place]) for place, column in enumerate(table.columns) if body and column.middle}
    columns = slots(table.columns, width - GUTTER, widest)
    return Painter(DEFAULTS).strip(cut(row_pieces(row, columns, "› ", width), width), Style(), width)


def check_row(row: Row, table: Table, width: int) -> None:
    """One line, as wide as was asked for, of text that is safe to print."""
    if not row.heading:
        assert len(row.cells) == len(row.values) == len(table.columns)
    strip = drawn(row, table, width)
    assert strip.cell_length == sum(cell_len(segment.text) for segment in strip) == width
    assert not forbidden_in(strip.text), strip.text
