"""One push to one host: look, compare, stage and verify, put, reload, check. Every outcome is a value."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

from dflashtui.errors import DflashError, PushRefused, TransportError
from dflashtui.model.base import Value
from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.overlay import look_at_overlay, order, overlay_doubts, overlay_notes, overlay_refusals
from dflashtui.ops.push_plan import PushPlan, push_plan, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.model.overlay import OverlayLook
    from dflashtui.model.push import PushRecord, UnitLook
    from dflashtui.ops.overlay import OverlayFiles
    from dflashtui.source.pusher import Prepared, Pusher

    OpenPusher = Callable[[], AbstractAsyncContextManager[Pusher]]

NOT_SEEN = "not seen"
NOTHING = PushPlan(writes=False, reloads=False)
AFTER_THE_PUT = frozenset({"reload", "not-loaded", "no-answer", "manager", "no-program", "failed"})
"""Refusals that come when something was replaced, and taken back."""
NOTHING_TO_DO = "nothing to do: on disk and loaded is what was asked for"
SETTLED_SECONDS = 120.0
ASK_AGAIN_SECONDS = 0.2


class Wanted(Value):
    """What shall stand on a host."""

    host: str
    unit: str
    action: str = "push"
    text: str | None = None
    """The unit's text; `None`: a kept one, or none at all."""
    sha256: str | None = None
    """Of `text`, or of the kept text; `None`: the file shall be gone."""
    has_file: bool = True
    """False: the unit's own file is left alone, only overlays are meant."""
    origin: str = ""
    undoes: int | None = None
    undo_change: str | None = None
    """The change whose overlays are to be taken back with it."""
    restores: bool = False
    """Give the packages their own files back, instead of laying the overlays."""


class Terms(Value):
    """How far a push may go."""

    dry_run: bool = False
    force: bool = False
    """A person has seen the doubts."""
    seen_sha256: str | None = NOT_SEEN
    """What stood on the host when a person confirmed; `None`: nothing did."""
    change: str = ""
    """A name for the change, so that an undo can be armed for it beforehand."""


def new_change() -> str:
    """A name for one change on one host or many."""
    return secrets.token_hex(8)


def _hush(_step: str) -> None:
    """Nobody listens."""


def wanted_text(host: str, unit: str, text: str, origin: str) -> Wanted:
    """A rendered text."""
    return Wanted(host=host, unit=unit, text=text, sha256=sha256(text), origin=origin)


class Push:
    """Carries out one; `tell(step)` hears each step as it begins."""

    def __init__(
        self, wanted: Wanted, terms: Terms, overlays: Sequence[OverlayFiles] = (), tell: Callable[[str], None] = _hush
    ) -> None:
        self._wanted = wanted
        self._terms = terms
        self._overlays = overlays
        self._tell = tell
        self._change = terms.change or new_change()
        self._at, self._began = datetime.now(UTC), monotonic()
        self._facts: dict[str, Any] = {"after_sha256": wanted.sha256}
        self._notes: list[str] = []
        self._is_applying = False

    async def run(self, opened: OpenPusher) -> PushResult:
        """The outcome. Refusals and lost links are results, not exceptions."""
        try:
            async with opened() as pusher:
                pusher.on_step = self._tell
                return await self._on(pusher)
        except PushRefused as refused:
            outcome = Outcome.FAILED if refused.kind in AFTER_THE_PUT else Outcome.REFUSED
            return self._result(outcome, refused.words)
        except TransportError as lost:
            return self._lost(lost)
        except DflashError as failure:
            return self._result(Outcome.REFUSED, _without_host(str(failure), self._wanted.host))

    async def _on(self, pusher: Pusher) -> PushResult:
        plan = await self._plan(pusher) if self._wanted.has_file else NOTHING
        looks = [await look_at_overlay(pusher, one) for one in self._overlays]
        self._notes += [*plan.notes, *(note for look in looks for note in overlay_notes(look))]
        if words := self._objection(plan, looks):
            return self._result(Outcome.REFUSED, words)
        if not plan.has_work and not any(map(self._has_work, looks)) and self._wanted.undo_change is None:
            return self._result(Outcome.UNCHANGED, NOTHING_TO_DO)
        if self._terms.dry_run:
            return await self._tried(pusher, plan, looks)
        return await self._carried_out(pusher, plan, looks)

    def _has_work(self, look: OverlayLook) -> bool:
        return look.is_laid if self._wanted.restores else bool(look.changed)

    async def _plan(self, pusher: Pusher) -> PushPlan:
        self._tell("look")
        look = await pusher.look(self._wanted.unit)
        self._facts["before_sha256"] = look.target.sha256
        plan = push_plan(look, self._wanted.text, self._wanted.sha256)
        seen = self._terms.seen_sha256
        if seen not in {NOT_SEEN, look.target.sha256}:
            changed = f"{look.target.path}: was changed since its difference was shown: look again"
            return plan.model_copy(update={"refusals": (*plan.refusals, changed)})
        return plan

    def _objection(self, plan: PushPlan, looks: Sequence[OverlayLook]) -> str | None:
        """Why it is refused; doubts count until a person has seen them."""
        laying = () if self._wanted.restores else looks
        refusals = [*plan.refusals, *(words for look in laying for words in overlay_refusals(look))]
        doubts = [*plan.doubts, *(words for look in looks for words in overlay_doubts(look))]
        if refusals:
            return "; ".join(refusals)
        if not doubts:
            return None
        if self._terms.force:
            self._notes += doubts
            return None
        return f"{'; '.join(doubts)}. Look at the difference (dflashtui diff {self._wanted.unit}), then use --force"

    async def _tried(self, pusher: Pusher, plan: PushPlan, looks: Sequence[OverlayLook]) -> PushResult:
        """What it would be; nothing is written on the host, not even for a moment."""
        files = sum(len(look.files if self._wanted.restores else look.changed) for look in looks)
        words = "; ".join([*(["would write the unit file"] if plan.writes else []), *_would(plan, files)])
        if self._wanted.text is None or not plan.writes:
            return self._result(Outcome.DONE, words)
        tried = await pusher.try_text(self._wanted.unit, self._wanted.text)
        self._verified(tried)
        if tried.verification is None:
            self._notes.append("not verified: this host lets nobody verify without writing a file")
        elif tried.verification.exit_status:
            return self._result(Outcome.REFUSED, _verdict(tried))
        return self._result(Outcome.DONE, words)

    async def _carried_out(self, pusher: Pusher, plan: PushPlan, looks: Sequence[OverlayLook]) -> PushResult:
        await self._prepare_overlays(pusher, looks)
        if plan.has_work:
            prepared = await self._prepared(pusher)
            self._verified(prepared)
            if self._is_refused(prepared):
                return self._result(Outcome.REFUSED, _verdict(prepared))
        self._is_applying = True
        wanted = self._wanted
        records = await pusher.apply(
            self._change,
            wanted.unit,
            action=wanted.action,
            reload=plan.reloads,
            undoes=wanted.undoes,
            origin=wanted.origin,
        )
        return self._done(records, plan)

    async def _prepare_overlays(self, pusher: Pusher, looks: Sequence[OverlayLook]) -> None:
        for overlay, look in zip(self._overlays, looks, strict=True):
            if self._has_work(look):
                laid = order(overlay, look, force=self._terms.force, restores=self._wanted.restores)
                await pusher.prepare_overlay(overlay.python, overlay.package, **laid)
        if self._wanted.undo_change is not None:
            names = await pusher.prepare_overlay_undo(self._wanted.undo_change)
            self._notes += [f"overlay files put back as they were: {', '.join(names)}"] if names else []

    async def _prepared(self, pusher: Pusher) -> Prepared:
        wanted, before = self._wanted, self._facts.get("before_sha256")
        if wanted.text is not None:
            return await pusher.prepare(wanted.unit, wanted.text, before=before)
        return await pusher.prepare_kept(wanted.unit, wanted.sha256, before=before)

    def _is_refused(self, prepared: Prepared) -> bool:
        """A text that stood there before may come back, whatever is said of it: it is the way back."""
        verdict = prepared.verification
        return verdict is not None and verdict.exit_status != 0 and self._wanted.text is not None

    def _verified(self, prepared: Prepared) -> None:
        self._facts["verification"] = prepared.verification.lines if prepared.verification else ()
        self._facts["reload_also"] = prepared.reload_also
        self._notes += prepared.left
        if prepared.reload_also:
            self._notes.append(f"daemon-reload also takes in: {', '.join(prepared.reload_also)}")

    def _done(self, records: Sequence[PushRecord], plan: PushPlan) -> PushResult:
        self._facts["number"] = records[-1].number if records else None
        files = sum(len(one.files) for one in records)
        if not records and not plan.reloads:
            forgotten = (
                "the package was installed anew: the overlay is gone, and forgotten" if self._wanted.restores else None
            )
            return self._result(Outcome.DONE if forgotten else Outcome.UNCHANGED, forgotten or NOTHING_TO_DO)
        if self._wanted.sha256 is None and self._wanted.has_file:
            return self._result(Outcome.DONE, "the unit file is removed")
        parts = [f"{files} file{'s' if files != 1 else ''} in place"] if files else []
        parts += ["loaded by the manager"] if plan.reloads else []
        return self._result(Outcome.DONE, ", ".join(parts) or "done")

    def _lost(self, lost: TransportError) -> PushResult:
        if not self._is_applying:
            return self._result(Outcome.FAILED, f"{lost.reason}; nothing was changed")
        words = f"{lost.reason}; it may be done or not: the host itself says which"
        return self._result(Outcome.UNKNOWN, words)

    def _result(self, outcome: Outcome, words: str) -> PushResult:
        return PushResult(
            host=self._wanted.host,
            unit=self._wanted.unit,
            action=self._wanted.action,
            outcome=outcome,
            message=f"{self._wanted.host}: {self._wanted.unit}: {words}",
            change=self._change,
            is_dry_run=self._terms.dry_run,
            notes=tuple(dict.fromkeys(self._notes)),
            started_at=self._at,
            duration_seconds=monotonic() - self._began,
            **self._facts,
        )


def _would(plan: PushPlan, files: int) -> list[str]:
    laid = [f"would replace {files} file{'s' if files != 1 else ''} of overlays"] if files else []
    return [*laid, *(["would have the manager reload"] if plan.reloads else [])]


def _verdict(prepared: Prepared) -> str:
    verdict = prepared.verification
    said = "; ".join(verdict.lines[:3]) if verdict else ""
    return f"systemd-analyze verify refuses it: {said or 'without a word'}"


def _without_host(words: str, host: str) -> str:
    return words.removeprefix(f"{host}: ")


async def resolve(opened: OpenPusher, result: PushResult) -> PushResult:
    """What became of a push whose link was lost, read from the host. Raises `DflashError` if it cannot be asked.

    Nothing is repeated. A push that still goes on there is waited for.
    """
    async with opened() as pusher:
        async with asyncio.timeout(SETTLED_SECONDS):
            while (look := await pusher.look(result.unit)).holder is not None:  # noqa: ASYNC110 - a host sets no event
                await asyncio.sleep(ASK_AGAIN_SECONDS)
    return resolved(result, look)


def resolved(result: PushResult, look: UnitLook) -> PushResult:
    """The same result, by what the host says. Pure."""
    record = next((one for one in reversed(look.records or ()) if one.change == result.change), None)
    outcome, words, number = _verdict_of(record, look, result)
    message = f"{result.host}: {result.unit}: {words} (asked again after the link was lost)"
    return result.model_copy(update={"outcome": outcome, "message": message, "number": number})


def _verdict_of(record: PushRecord | None, look: UnitLook, result: PushResult) -> tuple[Outcome, str, int | None]:
    if record is None and look.records is None:
        return Outcome.UNKNOWN, f"what is kept there cannot be read: {look.records_trouble}", None
    if record is None:
        return Outcome.FAILED, "nothing was changed", None
    if record.state == "done":
        return Outcome.DONE, "it was carried out", record.number
    if record.state != "pending":
        return Outcome.FAILED, f"it was taken back: {record.note or record.state}", record.number
    if look.target.sha256 == result.after_sha256:
        return Outcome.FAILED, "the file is in place, but was not loaded: push again to end it", record.number
    return Outcome.FAILED, "the old file is in place; the next push cleans up", record.number
