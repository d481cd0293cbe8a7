"""Smoke and bench behind their sheets: asks, runs, keeps, tells."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from dflashtui.errors import DflashError
from dflashtui.ops.bench_switch import must_share
from dflashtui.paths import state_folder
from dflashtui.text import printable
from dflashtui.tui.acting import audit_for
from dflashtui.tui.dialogs.confirm import Confirm, LightConfirm, Question
from dflashtui.tui.serving.choices import SMOKE
from dflashtui.tui.serving.sheet import Sheet
from dflashtui.tui.styled import EMPTY, cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.engines.openai import Piece
    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.model.bench import BenchResult
    from dflashtui.model.smoke import SmokeResult
    from dflashtui.ops.bench_switch import Place
    from dflashtui.tui.shell import Shell
    from dflashtui.tui.styled import Cell
    from dflashtui.tui.subject import Subject


async def serve(screen: Shell, answer: str, subjects: Sequence[Subject]) -> None:
    """Carry out what the menu answered."""
    places = [(subject.host, subject.name) for subject in subjects]
    await (smoke_on(screen, places[0]) if answer == SMOKE else bench_on(screen, places))


async def smoke_on(screen: Shell, place: Place) -> None:
    """One completion, its text as it arrives."""
    from dflashtui.ops.endpoint import find_endpoint  # noqa: PLC0415 - not before it is needed
    from dflashtui.ops.smoke import smoke  # noqa: PLC0415

    text: list[str] = []

    def hear(piece: Piece) -> None:
        text.append(piece.thought or piece.text)
        sheet.show(_text(text))

    async def asked() -> SmokeResult:
        return await smoke(await find_endpoint(screen.fleet, screen.config, *place), hear)

    task = asyncio.create_task(asked())
    sheet = Sheet(_title("smoke", [place]), task)
    await screen.app.push_screen(sheet)
    try:
        await _ended(task)
        sheet.show((*_text(text), *_smoke_lines(screen, task)))
    finally:
        sheet.end()


async def _ended(task: asyncio.Task[Any]) -> None:
    """Wait for its end, whichever it is; it does not outlive its waiter."""
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _text(pieces: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(cell(printable(line)) for line in "".join(pieces).split("\n")) if pieces else ()


def _smoke_lines(screen: Shell, task: asyncio.Task[SmokeResult]) -> tuple[Cell, ...]:
    from dflashtui.ops.smoke_report import lines  # noqa: PLC0415

    if task.cancelled():
        return (cell("stopped", "warn"),)
    try:
        result = task.result()
    except DflashError as trouble:
        return (cell(printable(str(trouble)), "bad"),)
    if result.is_proven:
        model = printable(result.generation.model or result.model or "its model", limit=80)
        screen.fleet.proven(result.host, result.unit, f"a completion by {model}")
    tone = "ok" if result.is_proven else "bad"
    first, *others = map(printable, lines(result))
    return (EMPTY, cell(first, tone), *(cell(line, "dim") for line in others))


async def bench_on(screen: Shell, places: Sequence[Place]) -> None:
    """One unit, or an A/B of two, after a question; stopped, it keeps its part."""
    from dflashtui.ops.bench import Bench  # noqa: PLC0415 - not before it is needed
    from dflashtui.ops.bench_load import Plan  # noqa: PLC0415
    from dflashtui.ops.bench_switch import Switch  # noqa: PLC0415

    takes_turns = must_share(screen.config, places)
    if not await screen.app.push_screen_wait(_question(places, takes_turns=takes_turns)):
        return
    switch = None
    if takes_turns:
        audit = audit_for(is_demo=screen.fleet.is_demo)
        read_only = screen.options.read_only
        switch = Switch(screen.fleet, screen.config, audit, partial(_watch, screen), places, read_only=read_only)

    def tell(words: str) -> None:
        sheet.show((cell(printable(words), "busy"),))

    bench = Bench(screen.fleet, screen.config, places, Plan(), switch=switch, tell=tell)
    task = asyncio.create_task(bench.run())
    sheet = Sheet(_title("bench", places), task)
    await screen.app.push_screen(sheet)
    try:
        await _ended(task)
        sheet.show(_bench_lines(bench.result()))
    finally:
        sheet.end()


async def _watch(screen: Shell, action: UnitAction, asked: asyncio.Future[ActionResult]) -> str | None:
    from dflashtui.ops.bench_watch import watched_start  # noqa: PLC0415

    return await watched_start(screen.fleet, screen.config, action, asked)


def _bench_lines(result: BenchResult) -> tuple[Cell, ...]:
    from dflashtui.ops.bench_keep import keep  # noqa: PLC0415
    from dflashtui.ops.bench_report import lines, verdict  # noqa: PLC0415

    try:
        record, page = keep(result, state_folder())
        kept = [cell(f"record: {printable(str(record))}", "dim"), cell(f"report: {printable(str(page))}", "dim")]
    except DflashError as trouble:
        kept = [cell(printable(str(trouble)), "warn")]
    tone = "bad" if verdict(result) in {"invalid", "partial"} else "ok"
    return (cell(verdict(result), tone), EMPTY, *(cell(printable(line)) for line in lines(result)), EMPTY, *kept)


def _question(places: Sequence[Place], *, takes_turns: bool) -> LightConfirm | Confirm:
    """Two that share a GPU are stopped and started: that is a dialog; load alone is a line."""
    title = _title("bench", places)
    if not takes_turns:
        return LightConfirm(Question((*title, (" with real requests for minutes", "dim")), (), "bench", ""))
    commands = [f"systemctl {verb} {unit}" for _, unit in places for verb in ("stop", "start")]
    lines = (
        *(cell(printable(command), "accent") for command in commands),
        EMPTY,
        cell("They share a GPU: they run in turn, several times, and are left as they are now."),
    )
    return Confirm(Question(title, lines, "bench", "\n".join(commands)))


def _title(what: str, places: Sequence[Place]) -> Cell:
    names = " against ".join(printable(unit.removesuffix(".service")) for _, unit in places)
    hosts = ", ".join(dict.fromkeys(printable(host) for host, _ in places))
    return ((f"{what} ", ""), (names, "strong"), (f" on {hosts}", "dim"))
