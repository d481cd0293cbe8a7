"""A fleet of one host whose services are stand-in engines of this process."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Host, Unit
from dflashtui.model.action import ActionResult, Verb
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.transport.base import Completed
from tests.engine.server import Engine, running
from tests.engine.settings import settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from dflashtui.model.action import UnitAction

HOST = "gpu-a"
NOW = datetime(2026, 12, 3, tzinfo=UTC)
LISTENS = {"a.service": 30001, "b.service": 30002}
PIDS = {"a.service": 11, "b.service": 22}


class ServiceFleet:
    """What smoke and bench ask of a fleet. Actions change the units at once; `performed` keeps them."""

    is_demo = False
    names = (HOST,)

    def __init__(self, engines: Mapping[str, Engine], *, active: Sequence[str], share_gpu: bool) -> None:
        self.engines = engines
        self.active = set(active)
        self.runs = dict.fromkeys(engines, 1)
        self.performed: list[str] = []
        self.commands: dict[str, bytes] = {}
        """What /proc/PID/cmdline and environ hold, by path."""
        self.fails: set[str] = set()
        """Units that do not start."""
        self._share_gpu = share_gpu

    def snapshot(self, host: str) -> HostSnapshot:
        return HostSnapshot(
            name=host, link=Link(state=LinkState.UP), units=tuple(map(self._unit, self.engines)), gpus=self._gpus()
        )

    def _unit(self, name: str) -> UnitStatus:
        is_active = name in self.active
        return UnitStatus(
            name=name,
            load_state=LoadState.LOADED,
            active_state=ActiveState.ACTIVE if is_active else ActiveState.INACTIVE,
            sub_state="running" if is_active else "dead",
            main_pid=PIDS[name] if is_active else None,
            invocation_id=f"{self.runs[name]:032x}",
            readiness=Readiness.READY if is_active else Readiness.NONE,
        )

    def _gpus(self) -> tuple[Gpu, ...]:
        names = sorted(self.engines)
        return tuple(
            Gpu(
                index=index,
                uuid=f"GPU-{index}",
                name="NVIDIA H200",
                processes=tuple(
                    GpuProcess(pid=PIDS[name], unit=name) for name in self.active if self._gpu_of(name) == index
                ),
            )
            for index, _ in enumerate(names)
        )

    def _gpu_of(self, unit: str) -> int:
        return 0 if self._share_gpu else sorted(self.engines).index(unit)

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        found = self.commands.get(argv[-1])
        return Completed(host, tuple(argv), 1 if found is None else 0, found or b"", b"")

    async def open_tcp(self, host: str, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        unit = next((name for name, listen in LISTENS.items() if listen == port), "")
        if unit not in self.active:
            raise ConnectionRefusedError(f"{host}: {address}:{port}: Connection refused")
        return await asyncio.open_connection("127.0.0.1", self.engines[unit].port)

    async def perform(self, action: UnitAction) -> ActionResult:
        self.performed.append(f"{action.verb.value} {action.unit}")
        if action.verb is Verb.STOP:
            self.active.discard(action.unit)
        elif action.unit not in self.fails:
            self.active.add(action.unit)
            self.runs[action.unit] += 1
        return ActionResult(action=action, ok=True, result="done", message="", started_at=NOW, duration_seconds=0.0)


@asynccontextmanager
async def services(
    active: Sequence[str] = ("a.service",), *, share_gpu: bool = True, **words: str
) -> AsyncIterator[tuple[ServiceFleet, Config]]:
    """`a=`, `b=`: the settings of each stand-in, in words."""
    async with AsyncExitStack() as stack:
        engines = {}
        for name, said in (words or {"a": ""}).items():
            engines[f"{name}.service"] = await stack.enter_async_context(running(settings(said.split())))
        units = tuple(
            Unit(
                name=name,
                hosts=(HOST,),
                engine="vllm" if engine.settings.kind == "vllm" else "sglang",
                listen=f"0.0.0.0:{LISTENS[name]}",
                model="stand-in",
                gpus=(0,) if share_gpu else (sorted(engines).index(name),),
            )
            for name, engine in engines.items()
        )
        yield (
            ServiceFleet(engines, active=active, share_gpu=share_gpu),
            Config(hosts=(Host(name=HOST),), units=units),
        )
