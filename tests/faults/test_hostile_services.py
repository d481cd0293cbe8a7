"""Services and SSH servers that say the worst: bodies, model names, status lines, banners; and a key that is echoed."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from tests.faults.hostile_host import CANARY, UNIT, hostile_host, require_clean, worst_line
from tests.faults.marks import fault
from tests.faults.seed import seeded
from tests.support.fake_host import inventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORST = " ".join(worst_line(seeded("a hostile service")).decode("utf-8", "replace") for _ in range(3))
TEXTS = f"{WORST} Bearer {CANARY} api_key={CANARY}"


def _http(status: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


ANSWERS = (
    _http(
        b"401 \x1b[2J" + WORST.encode().replace(b"\r", b"").replace(b"\n", b""), _json({"error": {"message": TEXTS}})
    ),
    _http(b"500 no", _json({"detail": TEXTS})),
    _http(b"200 OK", _json({"data": [{"id": TEXTS}], "model": TEXTS, "choices": [{"message": {"content": WORST}}]})),
    _http(b"200 OK", _json({"object": "error", "message": [TEXTS] * 3})),
    _http(b"200 OK", b"[" * 50_000),
    _http(b"200 OK", b"\xff\x00" + WORST.encode()),
    b"\x1b[2J" + WORST.encode() + b"\r\n\r\n",
)
BANNERS = (
    b"SSH-2.0-x\x1b[2J\x07" + WORST.encode() + b"\r\n",
    WORST.encode() * 40 + b"\r\n",
    b"\x1b]0;t\x07\r\nSSH-1.5-x\r\n",
)


@contextmanager
def server(answer: bytes, *, reads: bool) -> Iterator[int]:
    """Says the same to everybody. Gives its port."""

    class Says(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if reads:
                self.request.recv(65536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Says) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield listening.server_address[1]
        finally:
            listening.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DFLASHTUI_API_KEY", CANARY)
    monkeypatch.chdir(tmp_path)


def run(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> str:
    capfd.readouterr()
    main(["-c", "hosts.toml", "--timeout", "5", *words])
    out, err = capfd.readouterr()
    require_clean(" ".join(words), out.encode(), is_json="--json" in words)
    require_clean(" ".join(words), err.encode(), is_json=False)
    return out + err


@fault("I7", how="a service that echoes the API key that it was asked with", result="masked in every form")
@fault("F3", how="bodies, model names and status lines of the worst text", result="shown as text, plain and in JSON")
def test_a_service_that_says_the_worst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    host = hostile_host(tmp_path, seeded("its host"), 1)
    host.shows(ActiveState=b"active", SubState=b"running", Result=b"success")
    monkeypatch.setenv("PATH", host.path)
    for answer in ANSWERS:
        with server(answer, reads=True) as port:
            inventory(tmp_path, UNIT, ('engine = "openai"', f'listen = "127.0.0.1:{port}"'))
            for form in (("smoke", UNIT), ("smoke", UNIT, "--json")):
                assert run(form, capfd)


@fault("A11", how="SSH banners with escapes, C1 and rubbish before the version", result="told as text; never raw")
def test_an_ssh_server_that_says_the_worst(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for banner in BANNERS:
        with server(banner, reads=False) as port:
            (tmp_path / "hosts.toml").write_text(f'[hosts.there]\naddress = "127.0.0.1"\nport = {port}\n')
            for form in (("--check",), ("--check", "--json")):
                assert "there" in run(form, capfd)
