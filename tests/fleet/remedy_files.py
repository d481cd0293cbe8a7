"""An engine in a virtual environment of its own, and a folder of wheels, for a host without a network."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

FOLDER = "/opt/remedies"
VENV = f"{FOLDER}/venv"
PYTHON = f"{VENV}/bin/python"
UNIT = "sglang-remedy.service"
UNIT_PATH = f"/etc/systemd/system/{UNIT}"
PORT = 30301
SITE = f"{VENV}/lib/python3.11/site-packages"
SERVER = f"""
import soundfile
from http.server import BaseHTTPRequestHandler, HTTPServer

print("Loading safetensors checkpoint shards: 100% Completed", flush=True)
from xgrammar import StructuralTag


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


print("The server is fired up and ready to roll!", flush=True)
HTTPServer(("127.0.0.1", {PORT}), Answer).serve_forever()
"""
UNIT_TEXT = f"""[Unit]
Description=an engine that lacks a package
[Service]
Environment=PYTHONUNBUFFERED=1
ExecStart={PYTHON} -m sglang.launch_server --port {PORT} --speculative-algorithm DFLASH
"""


def wheel(name: str, version: str, text: str = "", requires: tuple[str, ...] = ()) -> bytes:
    """A wheel with one module."""
    info = f"{name}-{version}.dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}/__init__.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asked}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/top_level.txt": f"{name}\n",
    }
    record = "".join(f"{path},,\n" for path in files) + f"{info}/RECORD,,\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, content)
    return data.getvalue()


def lay_out(fleet: TestFleet, host: str) -> None:
    """The environment with an engine that lacks one package and has another one too old."""
    fleet.check(host, "rm", "-rf", FOLDER)
    fleet.check(host, "python3", "-m", "venv", VENV)
    fleet.check(host, "mkdir", "-p", f"{FOLDER}/wheels", f"{SITE}/sglang")
    wheels = {
        "soundfile-0.13.1": wheel("soundfile", "0.13.1"),
        "xgrammar-0.1.10": wheel("xgrammar", "0.1.10"),
        "xgrammar-0.1.32": wheel("xgrammar", "0.1.32", "class StructuralTag: ...\n"),
        "sglang-0.5.11": wheel("sglang", "0.5.11", requires=("soundfile==0.13.1", "xgrammar==0.1.32")),
    }
    hosts = fleet.hosts[host]
    for name, data in wheels.items():
        hosts.write_file(f"{FOLDER}/wheels/{name}-py3-none-any.whl", data, mode=0o644)
    pip = f"[global]\nno-index = true\nfind-links = {FOLDER}/wheels\n"
    hosts.write_file(f"{VENV}/pip.conf", pip.encode(), mode=0o644)
    fleet.check(host, PYTHON, "-m", "pip", "install", "--no-deps", "sglang==0.5.11", "xgrammar==0.1.10")
    hosts.write_file(f"{SITE}/sglang/launch_server.py", SERVER.encode(), mode=0o644)
    hosts.write_file(UNIT_PATH, UNIT_TEXT.encode(), mode=0o644)
    fleet.check(host, "systemctl", "daemon-reload")


def clear(fleet: TestFleet, host: str) -> None:
    """As it was before."""
    fleet.exec(host, "systemctl", "stop", UNIT)
    fleet.exec(host, "systemctl", "reset-failed", UNIT)
    fleet.check(host, "rm", "-rf", FOLDER, UNIT_PATH)
    fleet.check(host, "systemctl", "daemon-reload")
