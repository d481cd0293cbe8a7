"""What stands behind the keys for unit files: it compares, asks, pushes, deploys and puts back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.deploy import Step, StepState
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.ops.audit import who
from dflashtui.ops.deploy import Deploy, Plan
from dflashtui.ops.deploy_means import RealMeans, Setting
from dflashtui.ops.deploy_preflight import preflight_step
from dflashtui.ops.deploy_record import DeployLog
from dflashtui.ops.diff import grouped
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.pushing import push_all
from dflashtui.ops.rolling_back import roll_back
from dflashtui.ops.weight import change_confirmation
from dflashtui.paths import state_folder
from dflashtui.text import printable
from dflashtui.tui.acting import audit_for
from dflashtui.tui.changes import words
from dflashtui.tui.changes.answer import Answer
from dflashtui.tui.changes.diff_screen import DiffScreen
from dflashtui.tui.changes.looked import look_at
from dflashtui.tui.changes.result_screen import ResultScreen
from dflashtui.tui.changes.rows import finished, under_way
from dflashtui.tui.crash.later import run_later
from dflashtui.tui.dialogs.confirm import Confirm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.deploy import HostDeploy
    from dflashtui.ops.diff import DiffGroup
    from dflashtui.ops.pushing import PushJob
    from dflashtui.tui.changes.looked import Looked
    from dflashtui.tui.shell import Shell

DEPLOY_STEPS = ("preflight, push, restart, probe: the first host alone, and a failure stops the rest",)
TONES = {"ok": Severity.OK, "bad": Severity.BAD}


class ChangeDesk:
    """One for a screen."""

    def __init__(self, screen: Shell) -> None:
        self._screen = screen
        self._audit = audit_for(is_demo=screen.fleet.is_demo)

    def may_change(self, hosts: Sequence[str]) -> bool:
        """Whether unit files may be changed on all of them."""
        fleet = self._screen.fleet
        return not self._screen.options.read_only and not any(fleet.snapshot(host).read_only for host in hosts)

    async def difference(self, unit: str, host: str, hosts: Sequence[str]) -> Answer | None:
        """Show it; what the person wants done then. `host`: the one that is looked at first."""
        sheet = DiffScreen(unit, host, may_change=self.may_change(hosts))
        answer = self._screen.app.push_screen(sheet, wait_for_dismiss=True)
        run_later(self._screen, "difference", self._fill, sheet, unit, hosts)
        return await answer

    async def _fill(self, sheet: DiffScreen, unit: str, hosts: Sequence[str]) -> None:
        looked = await look_at(self._screen.fleet, self._screen.config, unit, hosts)
        sheet.fill(looked.groups, looked.failures)

    async def push(self, unit: str, hosts: Sequence[str]) -> Answer | None:
        """Ask with the difference, then push; what the person wants after the result."""
        looked = await self._looked(unit, hosts)
        if looked is None or not await self._is_wanted("push", looked.hosts, unit, looked.groups, looked.doubts):
            return None
        return await self._carried_out("push", Step.PUSH, looked.jobs(force=bool(looked.doubts)))

    async def undo(self, unit: str, hosts: Sequence[str]) -> Answer | None:
        """Show what would come back, ask, put it back."""
        fleet, config = self._screen.fleet, self._screen.config
        try:
            ways = [await roll_back(fleet, config.host(host), unit) for host in hosts]
        except DflashError as refused:
            self._screen.warn(str(refused))
            return None
        groups = grouped(way.diff for way in ways if way.diff is not None)
        if not await self._is_wanted("rollback", hosts, unit, groups):
            return None
        return await self._carried_out("rollback", Step.PUT_BACK, [way.job for way in ways])

    async def deploy(self, unit: str, hosts: Sequence[str]) -> Answer | None:
        """Ask with the difference, then the whole way to ready; what the person wants after the result."""
        looked = await self._looked(unit, hosts)
        if looked is None:
            return None
        if not await self._is_wanted("deploy", looked.hosts, unit, looked.groups, looked.doubts, DEPLOY_STEPS):
            return None
        log = DeployLog(state_folder(), unit, looked.hosts)
        sheet = ResultScreen("deploy", unit, looked.hosts)

        def changed(row: HostDeploy) -> None:
            log.keep(row)
            sheet.show(row)

        deploy = Deploy(Plan(unit=unit, hosts=looked.hosts), RealMeans(self._setting(looked)), changed)
        sheet.on_stop = deploy.interrupt
        answer = self._screen.app.push_screen(sheet, wait_for_dismiss=True)
        rows = await deploy.run()
        log.end()
        return await self._after(sheet, answer, "deploy", rows)

    async def _looked(self, unit: str, hosts: Sequence[str]) -> Looked | None:
        """Nothing, where any of the hosts could not be looked at: said."""
        looked = await look_at(self._screen.fleet, self._screen.config, unit, hosts)
        for host, failure in looked.failures.items():
            self._screen.warn(f"{host}: {unit}: {failure}; nothing was changed")
        return None if looked.failures else looked

    async def _is_wanted(
        self,
        verb: str,
        hosts: Sequence[str],
        unit: str,
        groups: Sequence[DiffGroup],
        open_doubts: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> bool:
        snapshots = {host.name: host for host in self._screen.newest.hosts}
        asked = change_confirmation(f"dflashtui {verb} {unit}", unit, hosts, snapshots, open_doubts)
        question = words.change_question(verb, unit, asked, groups, also)
        return await self._screen.app.push_screen_wait(Confirm(question))

    async def _carried_out(self, verb: str, step: Step, jobs: Sequence[PushJob]) -> Answer | None:
        stop = asyncio.Event()
        unit = jobs[0].wanted.unit
        sheet = ResultScreen(verb, unit, [job.host.name for job in jobs])
        sheet.on_stop = stop.set
        answer = self._screen.app.push_screen(sheet, wait_for_dismiss=True)
        rows = []
        tell = lambda host, at: sheet.show(under_way(host, unit, step, at))  # noqa: E731 - one line, used once
        read_only = self._screen.options.read_only
        async for result in push_all(jobs, self._screen.fleet, self._audit, tell, read_only=read_only, stop=stop):
            rows.append(finished(result, step))
            sheet.show(rows[-1])
        return await self._after(sheet, answer, verb, rows)

    async def _after(
        self, sheet: ResultScreen, answer: asyncio.Future[str | None], verb: str, rows: Sequence[HostDeploy]
    ) -> Answer | None:
        """Tell the events; wait for what the person wants next."""
        for row in rows:
            self._tell(verb, row)
        changed = tuple(row.host for row in rows if verb != "rollback" and _is_pushed(row))
        sheet.end(can_undo=bool(changed))
        wish = await answer
        if wish is None:
            return None
        name, _, host = wish.partition(" ")
        return Answer(name, (host,) if host else changed)

    def _tell(self, verb: str, row: HostDeploy) -> None:
        state, tone = words.outcome_words(row)
        message = f"dflashtui {verb} {row.unit}: {state} · by {who()}"
        event = Event(
            at=self._screen.clock(),
            kind=EventKind.ACTION,
            severity=TONES.get(tone, Severity.WARN),
            host=row.host,
            unit=row.unit,
            message=printable(message),
        )
        self._screen.tell(event)

    def _setting(self, looked: Looked) -> Setting:
        screen = self._screen
        return Setting(
            fleet=screen.fleet,
            config=screen.config,
            audit=self._audit,
            evidence=Evidence(state_folder()),
            unit=looked.unit,
            texts=looked.texts,
            seen=looked.seen,
            overlays=looked.overlays,
            force=bool(looked.doubts),
            read_only=screen.options.read_only,
            preflight=preflight_step(screen.fleet, screen.config, looked.unit, force=False),
        )


def _is_pushed(row: HostDeploy) -> bool:
    news = row.step(Step.PUSH)
    return news is not None and news.state is StepState.DONE and row.step(Step.PUT_BACK) is None
