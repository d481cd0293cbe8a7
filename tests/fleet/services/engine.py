"""A stand-in for an SGLang server: prints its phases, binds late, and is ready after its own self test.

Settings come from the environment: PORT, STEP_SECONDS (the length of a phase), MODEL.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("PORT", "30001"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.2"))
MODEL = os.environ.get("MODEL", "/dev/shm/Qwen3.6-27B")  # noqa: S108 - a name that is only printed
PHASES = (
    f"server_args=ServerArgs(model_path='{MODEL}', host='127.0.0.1', port={PORT}, tp_size=1)",
    "Init torch distributed begin.",
    "Init torch distributed ends. elapsed=0.52 s, mem usage=0.10 GB",
    "Load weight begin. avail mem=139.10 GB",
    "Load weight end. elapsed=12.3 s, type=Qwen3_5ForCausalLM, avail mem=86.20 GB, mem usage=52.90 GB.",
    "KV Cache is allocated. #tokens: 402144, K size: 24.50 GB, V size: 24.50 GB",
    "Memory pool end. avail mem=36.10 GB",
    "Capture cuda graph begin. This can take up to several minutes. avail mem=35.90 GB",
    "Capture cuda graph end. Time elapsed: 8.9 s. mem usage=1.20 GB. avail mem=34.70 GB.",
    "max_total_num_tokens=402144, chunked_prefill_size=8192, context_len=32768, available_gpu_mem=34.70 GB",
)


def say(text: str) -> None:
    sys.stderr.write(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}\n")
    sys.stderr.flush()


class Server(ThreadingHTTPServer):
    """Knows whether the self test is over."""

    daemon_threads = True
    allow_reuse_address = True
    ready = False


class Handler(BaseHTTPRequestHandler):
    """/health is 503 until ready; the rest answers as soon as the port is open."""

    server: Server

    def do_GET(self) -> None:
        match self.path:
            case "/health" | "/health_generate":
                self._answer(200 if self.server.ready else 503, b"")
            case "/model_info" | "/get_model_info":
                self._json({"model_path": MODEL, "tokenizer_path": MODEL, "is_generation": True})
            case "/v1/models":
                self._json({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "sglang"}]})
            case _:
                self._answer(404, b'{"detail":"Not Found"}')

    def _json(self, value: object) -> None:
        self._answer(200, json.dumps(value).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        say(f"INFO:     {self.client_address[0]}:{self.client_address[1]} - {format % args}")


def become_ready(server: Server) -> None:
    time.sleep(STEP_SECONDS)
    server.ready = True
    say("The server is fired up and ready to roll!")


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    for phase in PHASES:
        say(phase)
        time.sleep(STEP_SECONDS)
    server = Server(("127.0.0.1", PORT), Handler)
    say(f"INFO:     Started server process [{os.getpid()}]")
    say("INFO:     Application startup complete.")
    say(f"INFO:     Uvicorn running on http://127.0.0.1:{PORT} (Press CTRL+C to quit)")
    threading.Thread(target=become_ready, args=(server,), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
