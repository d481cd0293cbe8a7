"""The sampler as bytes for the stdin of a host's python3. Runs on the console; standard library alone."""

from __future__ import annotations

import zlib
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "dflashtui.sampler"
MODULES = ("masking", "cgroups", "processes", "card", "nvml", "worker", "host", "main")
"""In the order of their imports."""
BOOTSTRAP = "import sys,zlib;i=sys.stdin.buffer;exec(zlib.decompress(i.read(int(i.readline()))))"
ARGV = ("python3", "-I", "-S", "-u", "-c", BOOTSTRAP)
"""-I and -S: neither the login's own modules nor its environment take part."""


def payload(*, interval_seconds: float, units: Mapping[str, str] | None = None) -> bytes:
    """What `ARGV` reads first: a length, a newline, and the packed program (some 55 KB).

    `units`: the control groups to watch, by unit. Raises `ModuleNotFoundError` if pynvml is not installed.
    """
    options = {"interval_seconds": interval_seconds, "units": dict(units or {})}
    packed = zlib.compress(f"{_program()}\nload(SOURCES, {options!r})\n".encode(), 9)
    return b"%d\n%s" % (len(packed), packed)


@cache
def _program() -> str:
    sources = [("pynvml", _pynvml()), *((f"{PACKAGE}.{name}", _own(name)) for name in MODULES)]
    return f"{_own('loader')}\nSOURCES = {sources!r}"


def _own(name: str) -> str:
    return files(PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")


def _pynvml() -> str:
    """The text of the installed module, which is never imported here."""
    spec = find_spec("pynvml")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pynvml is not installed: pip install nvidia-ml-py", name="pynvml")
    return Path(spec.origin).read_text(encoding="utf-8")
