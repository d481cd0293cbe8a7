"""Stand-in engines as units of the test hosts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

SOURCE = Path(__file__).parent.parent / "engine"
FOLDER = "/opt/standin"
UNIT = """\
[Unit]
Description=stand-in engine {name}

[Service]
Type=exec
Environment=PYTHONPATH={folder} PYTHONUNBUFFERED=1
EnvironmentFile=-/etc/fleet/{name}.env
ExecStart=/usr/bin/python3 -m tests.engine {words}
"""
DEFINED = """
[units."{name}.service"]
hosts = ["{host}"]
engine = "{engine}"
model = "stand-in"
gpus = [0]
listen = "127.0.0.1:{port}"
"""


def install(fleet: TestFleet, host: str, name: str, port: int, words: str, *, key: str = "") -> str:
    """Put a stand-in on a host, as a unit that does not run yet; gives its part of an inventory."""
    for file in SOURCE.glob("*.py"):
        fleet.write_file(host, f"{FOLDER}/tests/engine/{file.name}", file.read_bytes())
    fleet.write_file(host, f"{FOLDER}/tests/__init__.py", b"")
    fleet.write_file(host, f"/etc/fleet/{name}.env", f"VLLM_API_KEY={key}\n", mode=0o600)
    text = UNIT.format(name=name, folder=FOLDER, words=f"port={port} {words}")
    fleet.write_file(host, f"/etc/systemd/system/{name}.service", text)
    fleet.check(host, "systemctl", "daemon-reload")
    engine = "vllm" if "kind=vllm" in words else "sglang"
    return DEFINED.format(name=name, host=host, engine=engine, port=port)


def remove(fleet: TestFleet, host: str, *names: str) -> None:
    """End what runs of them."""
    fleet.exec(host, "systemctl", "kill", "--signal=KILL", "--", *names)
    fleet.exec(host, "systemctl", "stop", "--", *names)
    fleet.exec(host, "systemctl", "reset-failed", "--", *names)
