"""Programs as bytes for the stdin of a host's python3. Runs on the console; standard library alone."""

from __future__ import annotations

import zlib
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BOOTSTRAP = "import sys,zlib;i=sys.stdin.buffer;exec(zlib.decompress(i.read(int(i.readline()))))"
ARGV = ("python3", "-I", "-S", "-u", "-c", BOOTSTRAP)
"""-I and -S: neither the login's own modules nor its environment take part."""


def program(package: str, modules: Sequence[str], *, beside: Sequence[tuple[str, str]] = ()) -> str:
    """The text that runs `run()` of the package's module `main`.

    `modules`: those of the package that it needs. `beside`: names and texts of other modules.
    """
    sources = [*beside, *((f"{package}.{name}", text(package, name)) for name in modules)]
    return f"{text('dflashtui.shipped', 'loader')}\nload({sources!r}, {f'{package}.main'!r})\n"


def packed(text: str) -> bytes:
    """What `BOOTSTRAP` reads first: a length, and the program."""
    data = zlib.compress(text.encode(), 9)
    return b"%d\n%s" % (len(data), data)


def text(package: str, name: str) -> str:
    """The source of a module of ours."""
    return files(package).joinpath(f"{name}.py").read_text(encoding="utf-8")
