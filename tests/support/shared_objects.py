"""Small shared libraries, built by gcc."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def built(path: Path, source: str, *options: str, versions: str | None = None) -> Path:
    """A library at `path`. `versions`: a version script of ld(1). Options may name libraries to link with."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.with_suffix(".c")
    text.write_text(source)
    script: tuple[str, ...] = ()
    if versions is not None:
        listed = path.with_suffix(".map")
        listed.write_text(versions)
        script = (f"-Wl,--version-script={listed}",)
    argv: tuple[str | Path, ...] = (
        "gcc",
        "-shared",
        "-fPIC",
        "-O0",
        "-Wl,--no-as-needed",
        "-o",
        path,
        text,
        *script,
        *options,
    )
    subprocess.run(argv, check=True, capture_output=True)
    for beside in (text, path.with_suffix(".map")):
        beside.unlink(missing_ok=True)
    return path


def named(folder: Path, soname: str, source: str = "int nothing;", *options: str, versions: str | None = None) -> Path:
    """A library of that name, which says so itself."""
    return built(folder / soname, source, f"-Wl,-soname,{soname}", *options, versions=versions)
