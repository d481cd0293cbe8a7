"""A unit as it is rendered, and as it stands on its hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.ops.diff import grouped, unit_diff
from dflashtui.ops.overlay import overlay_files
from dflashtui.ops.push import Terms, wanted_text
from dflashtui.ops.pushing import PushJob, doubts, look_everywhere
from dflashtui.ops.render import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.ops.diff import DiffGroup
    from dflashtui.ops.overlay import OverlayFiles
    from dflashtui.ops.pushing import Seen
    from dflashtui.ops.render import Rendered


class Looked:
    """What was found of one unit, by host; a failure is that host's alone."""

    def __init__(self, config: Config, unit: str) -> None:
        self.unit = unit
        self.texts: dict[str, Rendered] = {}
        self.seen: dict[str, Seen] = {}
        self.failures: dict[str, str] = {}
        self.overlays: tuple[OverlayFiles, ...] = ()
        self._config = config

    @property
    def hosts(self) -> tuple[str, ...]:
        """Those that could be looked at."""
        return tuple(self.seen)

    @property
    def groups(self) -> tuple[DiffGroup, ...]:
        """Hosts with the same difference together."""
        return grouped(unit_diff(self.texts[one], seen.look, seen.overlays) for one, seen in self.seen.items())

    def jobs(self, *, force: bool) -> list[PushJob]:
        """What a push would do, bound to what was seen."""
        return [self._job(host, force=force) for host in self.hosts]

    @property
    def doubts(self) -> list[str]:
        """What only a person can decide."""
        return [one for job in self.jobs(force=False) for one in doubts(job, self.seen[job.host.name])]

    def _job(self, host: str, *, force: bool) -> PushJob:
        text, target = self.texts[host], self.seen[host].look.target
        wanted = wanted_text(host, self.unit, text.text, text.origin)
        terms = Terms(force=force, seen_sha256=target.sha256)
        return PushJob(self._config.host(host), wanted, terms, self.overlays)


async def look_at(fleet: Fleet, config: Config, unit: str, hosts: Sequence[str]) -> Looked:
    """Render for each host, and ask each how its file stands. Changes nothing, raises nothing."""
    looked = Looked(config, unit)
    try:
        looked.overlays = overlay_files(config, unit)
    except DflashError as failure:
        looked.failures = dict.fromkeys(hosts, str(failure))
        return looked
    for host in hosts:
        try:
            looked.texts[host] = rendered(config, unit, host)
        except DflashError as failure:
            looked.failures[host] = str(failure)
    found = await look_everywhere(fleet, [config.host(one) for one in looked.texts], unit, looked.overlays)
    for host, seen in found.items():
        if isinstance(seen, DflashError):
            looked.failures[host] = str(seen).removeprefix(f"{host}: ")
        else:
            looked.seen[host] = seen
    return looked
