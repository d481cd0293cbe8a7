"""The sampler as bytes for the stdin of a host's python3. Runs on the console; standard library alone."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.shipped.pack import ARGV, BOOTSTRAP, packed, program

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "dflashtui.sampler"
MODULES = ("masking", "cgroups", "processes", "card", "nvml", "worker", "host", "main")
"""In the order of their imports."""
__all__ = ["ARGV", "BOOTSTRAP", "MODULES", "PACKAGE", "payload"]


def payload(*, interval_seconds: float, units: Mapping[str, str] | None = None, bindings: str | None = None) -> bytes:
    """What `ARGV` reads first: a length, the packed program (60 KB), and the first order.

    `units`: the control groups to watch, by unit. `bindings`: the text of a pynvml other than the installed one.
    Raises `ModuleNotFoundError` if pynvml is not installed.
    """
    first_order = json.dumps({"interval_seconds": interval_seconds, "units": dict(units or {})})
    return _packed(bindings) + first_order.encode() + b"\n"


@lru_cache(maxsize=2)
def _packed(bindings: str | None) -> bytes:
    """Once for all hosts: it takes 40 ms."""
    return packed(program(PACKAGE, MODULES, beside=(("pynvml", bindings or _pynvml()),)))


def _pynvml() -> str:
    """The text of the installed module, which is never imported here."""
    spec = find_spec("pynvml")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pynvml is not installed: pip install nvidia-ml-py", name="pynvml")
    return Path(spec.origin).read_text(encoding="utf-8")
