"""Chat and plain completions of a stand-in: in one piece or as a stream, on time, with every fault."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

from tests.engine.speech import answer, steps

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from tests.engine.counters import Counters
    from tests.engine.http import Reply
    from tests.engine.settings import Settings

FOREVER = 3600.0
PAGE = "<!doctype html><title>Welcome to nginx!</title>"


class Generating:
    """Answers requests to `/v1/completions` and `/v1/chat/completions`."""

    def __init__(self, settings: Settings, counters: Counters, say: Callable[[str], None]) -> None:
        self._settings, self._counters, self._say = settings, counters, say

    async def reply(self, reply: Reply, asked: dict[str, Any], *, is_chat: bool) -> None:
        self._counters.requests += 1
        if await self._refused(reply, asked, is_chat=is_chat):
            return
        job = Job(self._settings, self._counters, asked, is_chat=is_chat)
        job.on_step = self._log
        if asked.get("stream") and "no-stream" not in self._settings.faults:
            await self._stream(reply, job)
        else:
            tokens = [token async for piece in job.pieces() for token in piece]
            await reply.json(200, job.whole("".join(tokens)))

    async def _refused(self, reply: Reply, asked: dict[str, Any], *, is_chat: bool) -> bool:
        """Answered already, by a fault."""
        faults = self._settings.faults
        if "hang" in faults or "slow-start" in faults:
            await asyncio.sleep(FOREVER)
        for fault, status, words in (
            ("429", 429, "Rate limit reached"),
            ("500", 500, "EngineDeadError: EngineCore encountered an issue."),
            ("error-body", 200, "CUDA error: an illegal memory access was encountered"),
        ):
            if fault in faults:
                await reply.json(status, error(words, status))
                return True
        if "html" in faults:
            await reply.send(200, PAGE, "text/html")
        elif is_chat and "no-chat" in faults:
            await reply.json(400, error("default chat template is no longer allowed, provide a chat template", 400))
        elif self._settings.kind == "vllm" and asked.get("model") not in {None, self._settings.model}:
            await reply.json(404, error(f"The model `{asked.get('model')}` does not exist.", 404))
        else:
            return False
        return True

    def _log(self) -> None:
        """What the engine prints now and then while it decodes."""
        settings, now = self._settings, self._counters
        if not settings.log_steps or now.drafts % settings.log_steps:
            return
        if settings.kind == "vllm":
            self._say(
                "Engine 000: Avg prompt throughput: 12.0 tokens/s, Avg generation throughput: 310.2 tokens/s, "
                f"Running: {now.running} reqs, Waiting: 0 reqs, GPU KV cache usage: 1.5%, Prefix cache hit rate: 25.0%"
            )
        elif settings.kind == "sglang":
            accept = f"accept len: {now.accept_length:.2f}, accept rate: {now.accept_rate:.2f}, "
            self._say(
                f"Decode batch, #running-req: {now.running}, #token: 99, token usage: 0.01, "
                f"{accept if max(settings.accept) > 1 else ''}cuda graph: True, gen throughput (token/s): 310.22, "
                "#queue-req: 0"
            )

    async def _stream(self, reply: Reply, job: Job) -> None:
        await reply.begin()
        if "silent" in self._settings.faults:
            await asyncio.sleep(FOREVER)
        async with contextlib.aclosing(self._events(job)) as events:
            async for event in events:
                await self._send(reply, event)
        await reply.end()

    async def _events(self, job: Job) -> AsyncGenerator[bytes]:
        faults, count = self._settings.faults, 0
        if "echo" in faults:
            yield data(job.chunk(f"{job.question}\n"))
        async for piece in job.pieces():
            yield data(job.chunk("".join(piece), is_thought=count < self._settings.reasoning))
            count += len(piece)
            if count >= 3 and "error-in-stream" in faults:
                yield data(error("Internal server error", 500))
                return
            if count >= 3 and "dies" in faults:
                os.kill(os.getpid(), signal.SIGKILL)
        while "endless" in faults:
            await asyncio.sleep(0.001)
            yield data(job.chunk(" more"))
        yield data(job.chunk("", finish=job.finish))
        if job.wants_usage and "no-usage" not in faults:
            yield data({**job.chunk(""), "choices": [], "usage": job.usage})
        yield b"data: [DONE]\n\n"

    async def _send(self, reply: Reply, event: bytes) -> None:
        if "broken" in self._settings.faults:
            await reply.raw(b"%x\r\n%s" % (len(event) + 99, event))
            raise ConnectionAbortedError("as told")
        if "split" not in self._settings.faults:
            await reply.chunk(event)
            return
        for place in range(0, len(event), 5):
            await reply.chunk(event[place : place + 5])


class Job:
    """One request on its way, timed against the clock and not against the step before."""

    def __init__(self, settings: Settings, counters: Counters, asked: dict[str, Any], *, is_chat: bool) -> None:
        self._settings, self._counters, self._is_chat = settings, counters, is_chat
        self._prompt = json.dumps(asked.get("messages") or asked.get("prompt"), ensure_ascii=False)
        self._tokens, self.finish = answer(settings, self._prompt, int(asked.get("max_tokens") or 16))
        self.on_step: Callable[[], None] = lambda: None
        self.wants_usage = bool((asked.get("stream_options") or {}).get("include_usage"))

    async def pieces(self) -> AsyncIterator[list[str]]:
        """Tokens as each step brings them."""
        now, settings, began = self._counters, self._settings, time.monotonic()
        now.running += 1
        now.generated += 1
        now.prompt_tokens += len(self._prompt.split())
        try:
            for number, piece in enumerate(steps(settings, self._tokens)):
                await _until(began + settings.prefill_seconds + number * settings.verify_seconds)
                yield piece
                if number == 0:
                    now.tokens += len(piece)
                    now.ttft_seconds.append(time.monotonic() - began)
                    now.ttft.take(settings.prefill_seconds)
                else:
                    now.step(settings.verify_seconds, len(piece))
                    self.on_step()
            now.latency_seconds.append(time.monotonic() - began)
            now.whole.take(time.monotonic() - began)
        finally:
            now.running -= 1

    @property
    def question(self) -> str:
        """What the person said."""
        asked = json.loads(self._prompt)
        return str(asked if isinstance(asked, str) else asked[-1]["content"])

    @property
    def usage(self) -> dict[str, int]:
        prompt = len(self._prompt.split())
        count = len(self._tokens)
        return {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}

    def chunk(self, text: str, *, finish: str | None = None, is_thought: bool = False) -> dict[str, Any]:
        delta = {"reasoning_content" if is_thought else "content": text}
        return self._frame(".chunk", {"delta": delta} if self._is_chat else {"text": text}, finish)

    def whole(self, text: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        said: dict[str, Any] = {"message": message} if self._is_chat else {"text": text}
        usage = {} if "no-usage" in self._settings.faults else {"usage": self.usage}
        return {**self._frame("", said, self.finish), **usage}

    def _frame(self, suffix: str, said: dict[str, Any], finish: str | None) -> dict[str, Any]:
        model = "another-model" if "other-model" in self._settings.faults else self._settings.model
        choice = {"index": 0, "finish_reason": finish} | said
        kind = f"chat.completion{suffix}" if self._is_chat else "text_completion"
        return {"id": "cmpl-1", "object": kind, "created": 1, "model": model, "choices": [choice]}


def data(value: object) -> bytes:
    """One event of a stream."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def error(words: str, code: int) -> dict[str, Any]:
    """As both engines word it."""
    return {"error": {"object": "error", "message": words, "type": "InternalServerError", "code": code}}


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
