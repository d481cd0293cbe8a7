"""Columns beside the time: where a line comes from, and which process wrote it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from dflashtui.ops.logs_format import host_number
from dflashtui.text import printable, shortened
from dflashtui.tui.log.sgr import HOST_STYLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from dflashtui.tui.log.record import Record, Source

MOST_SOURCE_CELLS = 24
MOST_PROCESS_CELLS = 16
KERNEL = "kernel"
SUFFIX = ".service"


@dataclass(frozen=True)
class Columns:
    """Widths in cells, with the blank after each; 0: no such column."""

    source: int = 0
    process: int = 0
    has_hosts: bool = True
    has_units: bool = False
    """What is said of a source: only what is not the same for all."""
    styles: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Of each host."""

    @property
    def width(self) -> int:
        """Of all."""
        return self.source + self.process

    def source_cell(self, record: Record) -> str:
        """Host, and unit where there are several."""
        source = record.source
        words = source_name(source, with_host=self.has_hosts, with_unit=self.has_units) if source else ""
        return set_cell_size(shortened(words, self.source - 1), self.source)

    def process_cell(self, record: Record) -> str:
        """The process's own name."""
        return set_cell_size(shortened(record.process, self.process - 1), self.process)


def columns_of(sources: Sequence[Source], processes: Iterable[str], *, has_processes: bool) -> Columns:
    """As wide as what is in them, within bounds."""
    has_hosts = len({source.host for source in sources}) > 1
    has_units = len({source.unit for source in sources if not source.kernel}) > 1
    names = [source_name(source, with_host=has_hosts, with_unit=has_units) for source in sources]
    source = min(MOST_SOURCE_CELLS, max(map(cell_len, names), default=-1) + 1)
    process = min(MOST_PROCESS_CELLS, max(map(cell_len, processes), default=0) + 1) if has_processes else 0
    styles = host_styles({source.host for source in sources})
    return Columns(0 if source <= 1 else source, 0 if process == 1 else process, has_hosts, has_units, styles)


def source_name(source: Source, *, with_host: bool, with_unit: bool) -> str:
    """`gpu07`, `gpu07 sglang-a`, `gpu07 kernel`, `sglang-a`, `kernel`."""
    host = printable(source.host, limit=64) if with_host else ""
    unit = printable(source.unit, limit=64).removesuffix(SUFFIX) if with_unit else ""
    return " ".join(filter(None, (host, KERNEL if source.kernel else unit)))


def host_styles(hosts: Collection[str]) -> dict[str, str]:
    """A host has the same colour in every log and every session, unless one before it by name has it already."""
    styles: dict[str, str] = {}
    for host in sorted(hosts):
        first = host_number(host, len(HOST_STYLES))
        order = (*HOST_STYLES[first:], *HOST_STYLES[:first])
        styles[host] = next((style for style in order if style not in styles.values()), order[0])
    return styles
