"""The HTTP side of a stand-in: which path says what in which state (inference-engines, part 3)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from typing import TYPE_CHECKING

from tests.engine.counters import Counters, exposition
from tests.engine.generating import Generating
from tests.engine.http import Reply, Request, read_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.engine.settings import Settings

OPEN_PATHS = ("/health", "/ready", "/metrics", "/version", "/ping", "/truth", "/faults")
HEALTH_SECONDS = 1.0
"""SGLang's /health generates a token."""


class Engine:
    """One stand-in. `is_ready`: its self test is over."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.counters = Counters()
        self.is_ready = settings.kind != "lazy"
        self.paths: list[str] = []
        """Asked so far."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = settings.port
        self._generating = Generating(settings, self.counters, self.say)

    def say(self, text: str) -> None:
        """A line as the engine prints it."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        prefix = "(APIServer pid=1) INFO " if self.settings.kind == "vllm" else f"[{stamp}] "
        sys.stderr.write(f"{prefix}{text}\n")
        sys.stderr.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ValueError):
                await self._answer(await read_request(reader), Reply(writer))
        finally:
            self.in_flight -= 1
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request: Request, reply: Reply) -> None:
        self.paths.append(request.path)
        if "rubbish" in self.settings.faults:
            await reply.raw(b"SSH-2.0-OpenSSH_9.2\r\n\x00\xff\r\n")
        elif not self._may(request):
            await reply.json(401, {"error": "Unauthorized"})
        elif request.path in {"/v1/completions", "/v1/chat/completions"}:
            await self._wake()
            await self._generating.reply(reply, request.json, is_chat="chat" in request.path)
        else:
            await self._look(request, reply)

    def _may(self, request: Request) -> bool:
        guarded = request.path.startswith("/v1") or self.settings.kind == "sglang"
        if not guarded or request.path.startswith(OPEN_PATHS):
            return True
        key = self.settings.api_key
        return "401" not in self.settings.faults and (
            not key or request.headers.get("authorization") == f"Bearer {key}"
        )

    async def _wake(self) -> None:
        """A lazy wrapper starts its backend on the first request."""
        if self.settings.kind == "lazy" and not self.is_ready:
            await asyncio.sleep(self.settings.load_seconds)
            self.is_ready = True

    async def _look(self, request: Request, reply: Reply) -> None:
        match request.path:
            case "/health" | "/health_generate":
                await self._health(reply)
            case "/metrics" if self._has_metrics:
                await reply.send(200, exposition(self.settings, self.counters), "text/plain; version=0.0.4")
            case "/v1/models":
                await reply.json(200, {"object": "list", "data": [{"id": self.settings.model, "object": "model"}]})
            case "/truth":
                await reply.json(200, self.truth)
            case "/faults":
                self.settings.faults = set(request.json.get("faults", ()))
                await reply.json(200, {})
            case _:
                await self._own(request, reply)

    async def _own(self, request: Request, reply: Reply) -> None:
        """What one engine has and another lacks."""
        settings = self.settings
        match settings.kind, request.path:
            case "sglang", "/model_info" | "/get_model_info":
                await reply.json(200, {"model_path": settings.model, "is_generation": True})
            case "sglang", "/server_info" | "/get_server_info":
                state = {"avg_spec_accept_length": self.counters.accept_length, "last_gen_throughput": 0.0}
                await reply.json(200, {"version": settings.version, "internal_states": [state]})
            case "sglang", "/flush_cache":
                busy = self.counters.running
                await reply.send(400 if busy else 200, "Cache not flushed" if busy else "Cache flushed.", "text/plain")
            case "vllm", "/version":
                await reply.json(200, {"version": settings.version})
            case _:
                await reply.json(404, {"detail": "Not Found"})

    async def _health(self, reply: Reply) -> None:
        faults = self.settings.faults
        if self.settings.kind == "vllm":
            await reply.send(200 if "drain" not in faults else 503, b"")
        elif not self.is_ready or "drain" in faults:
            await reply.send(503, b"")
        else:
            self.counters.generated += 1
            await asyncio.sleep(20.0 if "hang" in faults else HEALTH_SECONDS)
            await reply.send(503 if "hang" in faults else 200, b"")

    @property
    def _has_metrics(self) -> bool:
        return self.settings.metrics and "no-metrics" not in self.settings.faults and self.settings.kind != "lazy"

    @property
    def truth(self) -> dict[str, object]:
        """What really was, by this server's own clock."""
        now = self.counters
        return {
            "accept_length": now.accept_length,
            "ttft_seconds": now.ttft_seconds,
            "latency_seconds": now.latency_seconds,
            "tokens": now.tokens,
            "requests": now.requests,
            "generated": now.generated,
        }


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Engine]:
    """A stand-in that listens; its `port` is chosen by the kernel where the settings leave it 0."""
    engine = Engine(settings)
    tasks: set[asyncio.Task[None]] = set()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(engine.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accepted, settings.host, settings.port, backlog=256)
    engine.port = server.sockets[0].getsockname()[1]
    try:
        yield engine
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
