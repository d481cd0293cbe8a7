"""Watched units over the bus: what the signals leave in doubt is read again, and nothing else.

Signals only mark; values come from `GetAll` after the last signal, so a burst cannot leave a stale state. Reading a
unit that is not loaded makes the manager load it, tell of it (`UnitNew`, `UnitRemoved`, `PropertiesChanged` of its
neighbours) and forget it again: signals that say nothing new must not cause a read, or reads would cause each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

from dbus_fast.unpack import unpack_variants

from dflashtui.errors import ManagerRefused, SourceUnavailable
from dflashtui.source.systemd_bus import NO_OWNER, SYSTEMD, SYSTEMD_PATH
from dflashtui.source.systemd_names import covered, is_glob, is_template, matches, unit_name, unit_path
from dflashtui.source.systemd_values import PROPERTIES, SILENT, Values, unit_status

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    from dflashtui.model.unit import UnitStatus
    from dflashtui.source.systemd_bus import Bus, Signal

QUIET_SECONDS = 0.03
"""Pause between two reads in a burst, so that it is read a few times and not a thousand times."""
READS_WITHOUT_PAUSE = 6
"""A start that fails makes a handful of changes within milliseconds: these are told without delay."""
LOOK_OVER_SECONDS = 20.0
"""How often to ask for what sends no signal (`NeedDaemonReload`), which also shows that the bus still answers."""
OWNER_LIMIT_SECONDS = 30.0
READS_AT_ONCE = 32
UNIT = f"{SYSTEMD}.Unit"
OF_A_RUN = frozenset(
    {
        "ActiveState",
        "InvocationID",
        "StateChangeTimestamp",
        "Result",
        "NRestarts",
        "ExecMainCode",
        "ExecMainStatus",
        "ExecMainStartTimestamp",
        "ExecMainExitTimestamp",
    }
)


class Watch:
    """The units that some patterns cover, kept equal to what the manager says."""

    def __init__(self, bus: Bus, patterns: Sequence[str], *, look_over_seconds: float = LOOK_OVER_SECONDS) -> None:
        """`patterns`: full ones, see `systemd_names.full_pattern`."""
        self._bus = bus
        self._look_over_seconds = look_over_seconds
        self._patterns = tuple(patterns)
        self._known: dict[str, Values] = {}
        self._ids: dict[str, str] = {}
        self._said: dict[str, Values] = {}
        self._runs: dict[str, Values] = {}
        self._dirty: set[str] = set()
        self._removed: set[str] = set()
        self._all_in_doubt = True
        self._wake = asyncio.Event()
        self._reads: deque[float] = deque(maxlen=READS_WITHOUT_PAUSE)

    async def follow(self) -> AsyncGenerator[tuple[UnitStatus, ...], None]:
        """All units, first at once, then whenever one changed. Raises `TransportLost`, `SourceUnavailable`."""
        last = None
        while True:
            await self._settle()
            now = self._units()
            if now != last:
                last = now
                yield now
            await asyncio.sleep(self._pause_seconds())
            await self._until_in_doubt()

    def _pause_seconds(self) -> float:
        now = monotonic()
        self._reads.append(now)
        is_burst = (
            len(self._reads) == READS_WITHOUT_PAUSE and now - self._reads[0] < READS_WITHOUT_PAUSE * QUIET_SECONDS
        )
        return QUIET_SECONDS if is_burst else 0.0

    def doubt_all(self) -> None:
        """Have everything read again."""
        self._all_in_doubt = True
        self._wake.set()

    def on_lost(self) -> None:
        """The bus is gone: the next step raises."""
        self._wake.set()

    def on_signal(self, signal: Signal) -> None:
        """Note what a signal leaves in doubt."""
        match signal.member, signal.body:
            case "PropertiesChanged", [_, dict(changed), list(invalidated)]:
                self._on_changed(unit_name(signal.path) or "", changed, invalidated)
            case "UnitNew", [str(name), *_] if name not in self._ids:
                self._doubt(name)
            case "UnitRemoved", [str(name), *_] if name in self._ids and not self._bus.is_reloading:
                self._removed.add(name)
                self._wake.set()
            case "JobRemoved", [_, _, str(name), *_]:
                self._doubt(name)
            case (("UnitFilesChanged" | "OwnerChanged"), _):
                self.doubt_all()
            case "Reloading", [False]:
                self.doubt_all()

    def _on_changed(self, name: str, changed: Mapping[str, object], invalidated: Iterable[str]) -> None:
        said = {key: unpack_variants(value) for key, value in changed.items() if key in PROPERTIES}
        unit = self._ids.get(name, name)
        self._note_run(unit, said)
        if unit in self._said:
            self._said[unit].update(said)
        elif _contradicts(self._known.get(unit, {}), said) or not PROPERTIES.keys().isdisjoint(invalidated):
            self._doubt(unit)

    def _note_run(self, unit: str, values: Values) -> None:
        """Keep what tells of the last run: systemd forgets it as soon as it unloads a unit that has ended.

        A signal holds every property of one interface; one without times speaks of a unit that was loaded afresh.
        """
        if values.get("StateChangeTimestamp") or values.get("ExecMainStartTimestamp"):
            self._runs.setdefault(unit, {}).update((key, values[key]) for key in OF_A_RUN if key in values)

    def _doubt(self, name: str) -> None:
        if name in self._ids or covered(self._patterns, name):
            self._dirty.add(name)
            self._wake.set()

    async def _until_in_doubt(self) -> None:
        while not (self._all_in_doubt or self._dirty or self._removed):
            self._bus.require()
            self._wake.clear()
            try:
                async with asyncio.timeout(self._look_over_seconds):
                    await self._wake.wait()
            except TimeoutError:
                await self._look_over()

    async def _settle(self) -> None:
        """Read once what is in doubt, however often the manager leaves meanwhile; new doubts wait for their turn."""
        while True:
            await self._until_manager_is_back()
            try:
                return await self._read_doubtful()
            except ManagerRefused as refused:
                if refused.name not in NO_OWNER:
                    raise SourceUnavailable(self._bus.host, "units", f"{refused.call}: {refused.words}") from refused
                self._all_in_doubt = True
                await asyncio.sleep(QUIET_SECONDS)

    async def _until_manager_is_back(self) -> None:
        """The manager executes itself anew, or its bus does: `OwnerChanged` tells when it is done."""
        self._bus.require()
        try:
            async with asyncio.timeout(OWNER_LIMIT_SECONDS):
                while not self._bus.has_manager:
                    self._bus.require()
                    self._wake.clear()
                    await self._wake.wait()
        except TimeoutError as gone:
            raise SourceUnavailable(self._bus.host, "units", "the service manager left the bus") from gone

    async def _read_doubtful(self) -> None:
        while self._all_in_doubt:
            self._all_in_doubt = False
            await self._bus.subscribe()
            self._known = {unit: values for unit, values in self._known.items() if self._is_wanted(values)}
            self._dirty.update(await self._names(), self._known)
        removed, self._removed = self._removed, set()
        dirty, self._dirty = self._dirty, set()
        await self._read(dirty | await self._gone(removed - dirty))

    async def _names(self) -> set[str]:
        """Plain names, loaded units, and units that are only installed."""
        globs = [pattern for pattern in self._patterns if is_glob(pattern)]
        names = {pattern for pattern in self._patterns if not is_glob(pattern)}
        if not globs:
            return names
        loaded = (await self._bus.call("ListUnitsByPatterns", "asas", [], globs))[0]
        names |= {str(row[0]) for row in loaded if row[2] != "not-found"} if isinstance(loaded, list) else set()
        return names | {name for name in await self._installed(globs) if covered(globs, name)}

    async def _installed(self, patterns: list[str]) -> set[str]:
        """Unit files on disk; asking for them loads nothing."""
        files = (await self._bus.call("ListUnitFilesByPatterns", "asas", [], patterns))[0]
        found = {str(row[0]).rpartition("/")[2] for row in files} if isinstance(files, list) else set()
        return {name for name in found if not is_template(name)}

    async def _gone(self, unloaded: set[str]) -> set[str]:
        """Which of the units that were unloaded have no file any more; the others keep their last values."""
        units = {self._ids.get(name, name) for name in unloaded}
        suspects = {unit for unit in units if self._known.get(unit, {}).get("LoadState") not in {None, "not-found"}}
        if not suspects:
            return set()
        installed = await self._installed(sorted(suspects))
        return {unit for unit in suspects if unit not in installed and not _is_instance(self._known[unit])}

    async def _read(self, names: set[str]) -> None:
        ordered = sorted({self._ids.get(name, name) for name in names})
        for start in range(0, len(ordered), READS_AT_ONCE):
            chunk = ordered[start : start + READS_AT_ONCE]
            found = await asyncio.gather(*map(self._values, chunk), return_exceptions=True)
            for name, values in zip(chunk, found, strict=True):
                said = self._said.pop(name, {})
                if isinstance(values, BaseException):
                    self._dirty.add(name)
                    continue
                self._apply(name, values, said)
            for failed in found:
                if isinstance(failed, BaseException):
                    raise failed

    async def _values(self, name: str) -> Values:
        self._said[name] = {}
        try:
            everything = await self._bus.get_all(unit_path(name))
        except ManagerRefused as refused:
            if refused.name in NO_OWNER:
                raise
            return {"Id": name, "LoadState": "error", "LoadError": [refused.name, refused.words]}
        return {key: unpack_variants(everything[key]) for key in PROPERTIES if key in everything}

    def _apply(self, asked: str, values: Values, said: Values) -> None:
        unit = str(values.get("Id", asked))
        if asked != unit:
            self._known.pop(asked, None)
        self._known[unit] = values
        # a signal that came while this answer was on its way may tell of a later moment: the end of the run
        for told in sorted((values, said), key=_changed_usec):
            self._note_run(unit, told)
        others = {name: target for name, target in self._ids.items() if target not in {asked, unit}}
        self._ids = others | dict.fromkeys({asked, *_names(values)}, unit)
        if _contradicts(values, said):
            self._dirty.add(unit)

    def _is_wanted(self, values: Values) -> bool:
        """A name that was asked for is shown even if there is no such unit; what a glob found goes with its file.

        The others stay known until everything is read again, so that echoes of having read them are recognized.
        """
        return values.get("LoadState") != "not-found" or not _names(values).isdisjoint(self._patterns)

    async def _look_over(self) -> None:
        """Ask for what changes without a signal; a frozen bus is noticed here."""
        loaded = [name for name, values in self._known.items() if values.get("ActiveState") != "inactive"]
        try:
            await self._bus.get(SYSTEMD_PATH, f"{SYSTEMD}.Manager", "Version")
            for name in loaded:
                if await self._bus.get(unit_path(name), UNIT, "NeedDaemonReload") != self._needs_reload(name):
                    self._dirty.add(name)
        except ManagerRefused:
            self._all_in_doubt = True

    def _with_last_run(self, unit: str) -> Values:
        """Not for a run that was last told to be in another state: there the blank answer is only the older one."""
        values, run = self._known[unit], self._runs.get(unit, {})
        is_blank = values.get("LoadState") == "loaded" and values.get("StateChangeTimestamp") == 0
        has_ended = run.get("ActiveState", "inactive") == "inactive"
        return {**values, **run} if is_blank and has_ended else values

    def _needs_reload(self, name: str) -> object:
        return self._known.get(name, {}).get("NeedDaemonReload")

    def _units(self) -> tuple[UnitStatus, ...]:
        """In the order of the patterns, then by name."""
        ordered: dict[str, Values] = {}
        wanted = {unit for unit, values in self._known.items() if self._is_wanted(values)}
        for pattern in self._patterns:
            covered_units = {unit for name, unit in self._ids.items() if matches(pattern, name)} & wanted
            ordered |= {unit: self._with_last_run(unit) for unit in sorted(covered_units) if unit not in ordered}
        return tuple(unit_status(values) for values in ordered.values())


def _contradicts(known: Values, said: Values) -> bool:
    return any(known.get(key) != value for key, value in said.items() if key not in SILENT)


def _changed_usec(values: Values) -> int:
    usec = values.get("StateChangeTimestamp")
    return usec if isinstance(usec, int) else 0


def _names(values: Values) -> set[str]:
    names = values.get("Names")
    return {str(values.get("Id")), *map(str, names if isinstance(names, list) else ())}


def _is_instance(values: Values) -> bool:
    """Its file is that of a template, under another name."""
    return "@" in str(values.get("Id")) and bool(values.get("FragmentPath")) and not values.get("Transient")
