"""Small C programs of the tests, compiled once for each text of their sources and kept in the user's cache."""

import hashlib
from pathlib import Path

from .image import cache_folder, locked
from .shell import run


def compiled(name: str, sources: Path, *flags: str) -> Path:
    """What gcc makes of the `.c` files of a folder. HarnessError when it does not."""
    texts = [path.read_bytes() for path in sorted(sources.glob("*.[ch]"))]
    built = cache_folder() / f"{name}-{hashlib.sha256(b''.join(texts)).hexdigest()[:12]}"
    with locked(cache_folder() / "lock"):
        if not built.exists():
            _compile(built, *flags, *sources.glob("*.c"))
    return built


def _compile(target: Path, *arguments: str | Path) -> None:
    part = target.with_suffix(".part")
    run("gcc", "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-o", part, *arguments, "-ldl")
    part.rename(target)
