"""What commands say on a simulated host, and the one thing that they change: a package that was missing is there."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from dflashtui.demo.plan import Behaviour
from dflashtui.transport.base import Completed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.demo.host import DemoHost

MISSING = "soundfile"
VERSIONS = {
    "sglang": "0.5.11",
    "vllm": "0.20.2",
    MISSING: "0.13.1",
    "torch": "2.11.0",
    "xgrammar": "0.1.32",
    "flashinfer-python": "0.6.8.post1",
}
PIN = {"by": "sglang", "by_version": VERSIONS["sglang"], "requirement": f"{MISSING}=={VERSIONS[MISSING]}"}
LINE_SECONDS = 0.35
NOT_FOUND = 127
INSTALLING = (
    "Collecting soundfile==0.13.1",
    "  Downloading soundfile-0.13.1-py2.py3-none-manylinux_2_28_x86_64.whl (1.3 MB)",
    "Requirement already satisfied: cffi>=1.0 in {site} (from soundfile==0.13.1) (1.17.1)",
    "Requirement already satisfied: numpy in {site} (from soundfile==0.13.1) (2.3.5)",
    "Installing collected packages: soundfile",
    "Successfully installed soundfile-0.13.1",
)


class DemoCommand:
    """A `Stream` of lines, half a second apart or at once."""

    def __init__(self, lines: Sequence[str], exit_status: int, seconds: float) -> None:
        self.exit_status: int | None = None
        self.stderr = b""
        self._lines = lines
        self._ends_with = exit_status
        self._seconds = seconds

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Its output."""
        return self._chunks()

    async def _chunks(self) -> AsyncIterator[bytes]:
        for line in self._lines:
            await asyncio.sleep(self._seconds)
            yield f"{line}\n".encode()
        self.exit_status = self._ends_with

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    async def write_eof(self) -> None:
        """Nobody waits for it."""


def answer(host: DemoHost, argv: Sequence[str]) -> Completed:
    """What a command says that only looks."""
    match tuple(argv):
        case (str(python), "-I", "-", str(order)) if python.startswith("/"):
            return _said(host, argv, json.dumps(_environment(host, python, json.loads(order))))
        case ("journalctl" | "grep" | "ss" | "namei" | "df" | "systemd-analyze", *_):
            return _said(host, argv, "")
        case _:
            return Completed(host.plan.name, tuple(argv), NOT_FOUND, b"", f"{argv[0]}: not found\n".encode())


def _said(host: DemoHost, argv: Sequence[str], text: str) -> Completed:
    return Completed(host.plan.name, tuple(argv), 0, text.encode(), b"")


def _environment(host: DemoHost, python: str, order: dict[str, list[str]]) -> dict[str, object]:
    prefix = python.partition("/bin/")[0]
    there = {re.sub(r"[-_.]+", "-", name).lower() for name in (*order["names"], *order["engines"])} & VERSIONS.keys()
    if _lacks_it(host, python):
        there -= {MISSING}
    return {
        "python": "3.12.11",
        "executable": python,
        "prefix": prefix,
        "is_venv": True,
        "is_externally_managed": False,
        "site": f"{prefix}/lib/python3.12/site-packages",
        "is_site_writable": True,
        "site_owner": "root",
        "user": "root",
        "has_pip": True,
        "has_ensurepip": True,
        "distributions": {name: {"name": name, "version": VERSIONS[name]} for name in sorted(there)},
        "pins": [PIN] if MISSING in order["names"] else [],
    }


def _lacks_it(host: DemoHost, python: str) -> bool:
    return any(
        service.plan.behaviour is Behaviour.LOOPS and service.plan.command.startswith(f"{python} ")
        for service in host.services.values()
    )


def run(host: DemoHost, argv: Sequence[str], *, is_at_once: bool) -> DemoCommand:
    """A command that changes the host: the package is installed, everything else is not found."""
    python = next((word for word in argv if word.startswith("/") and "/bin/python" in word), None)
    if python is None or not argv[-1].startswith(MISSING):
        return DemoCommand((f"sh: 1: {argv[-1]}: not found",), NOT_FOUND, 0.0)
    for service in host.services.values():
        if service.plan.command.startswith(f"{python} ") and service.plan.behaviour is Behaviour.LOOPS:
            service.plan = replace(service.plan, behaviour=Behaviour.SERVES)
    site = f"{python.partition('/bin/')[0]}/lib/python3.12/site-packages"
    lines = [line.format(site=site) for line in INSTALLING]
    return DemoCommand(lines, 0, 0.0 if is_at_once else LINE_SECONDS)
