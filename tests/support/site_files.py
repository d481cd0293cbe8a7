"""Installed distributions as files: what pip would have written, without pip."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Files = dict[str, bytes]
"""Path below site-packages, and what is in the file."""


def distribution(
    name: str,
    version: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    requires: Iterable[str] = (),
    direct_url: Mapping[str, object] | None = None,
    head: str = "",
) -> Files:
    """Its files, `NAME/__init__.py` among them unless others are given."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in requires)
    wanted = files if files is not None else {f"{module}/__init__.py": f"# {version}\n"}
    found = {path: text.encode() if isinstance(text, str) else text for path, text in wanted.items()}
    found[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{head}{asked}\n{'long words ' * 300}\n".encode()
    )
    found[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nTag: py3-none-any\n"
    found[f"{info}/INSTALLER"] = b"pip\n"
    if direct_url is not None:
        found[f"{info}/direct_url.json"] = json.dumps(direct_url).encode()
    record = "".join(f"{path},sha256={_recorded(data)},{len(data)}\n" for path, data in found.items())
    found[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    return found


def _recorded(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def site(*some: Files) -> Files:
    """Several distributions together."""
    return {path: data for files in some for path, data in files.items()}


def torch(version: str, cuda: str, metadata: str | None = None) -> Files:
    """A torch that says so in its code, and in its metadata unless that says otherwise."""
    code = f"__version__ = '{version}'\ncuda: str | None = '{cuda}'\ngit_version = 'abc'\n"
    files = {"torch/__init__.py": "from .version import __version__\n", "torch/version.py": code}
    return distribution("torch", metadata or version.partition("+")[0], files)


def write(folder: Path, files: Files) -> Path:
    """Below a folder of this machine."""
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder


def as_tar(files: Mapping[str, bytes]) -> bytes:
    """For the stdin of `tar -x` on a host."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()
