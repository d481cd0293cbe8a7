"""A unit's Python environment and the machine under it, as its own interpreter tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import ConfigDict

from dflashtui.model.base import Value

CODE_OF = {"flashinfer": "flashinfer-python"}
"""Import names that differ from the distribution's."""


def normal(name: str) -> str:
    """The name of a distribution as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Told(Value):
    """What a host tells; what it tells beyond that, as newer programs may, is dropped."""

    model_config = ConfigDict(extra="ignore")


class Source(Told):
    """Where a distribution came from (PEP 610)."""

    kind: str = "index"
    """`index`, `git`, `editable`, `local`, `url`; `unknown`: its record cannot be read."""
    url: str | None = None
    commit: str | None = None

    @property
    def words(self) -> str:
        """`git 1a2b3c4d5e`, `editable file:///root/sglang`; an index needs no words."""
        if self.kind == "index":
            return ""
        return f"{self.kind} {self.commit[:10] if self.commit else self.url or ''}".strip()


class Distribution(Told):
    """One installed distribution."""

    name: str
    version: str | None = None
    """Of its metadata; `None`: that says none."""
    metadata: str
    """The folder of its metadata."""
    site: str
    """The folder on the module path that it lies in."""
    source: Source = Source()
    installer: str | None = None
    build: str | None = None
    """The wheel's build tag (PEP 427)."""
    tags: tuple[str, ...] = ()
    has_record: bool = False
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    problem: str | None = None
    """Why its metadata cannot be read."""

    @cached_property
    def key(self) -> str:
        """Its normal name."""
        return normal(self.name)


class Code(Told):
    """What a package's own code says of itself: that counts more than its metadata."""

    package: str
    """The import name."""
    directory: str
    version: str | None = None
    cuda: str | None = None
    git_version: str | None = None


class Interpreter(Told):
    """The Python of an environment."""

    executable: str
    version: str
    implementation: str = "CPython"
    abi: str | None = None
    is_free_threaded: bool = False
    prefix: str = ""
    is_venv: bool = False
    is_externally_managed: bool = False
    """PEP 668: the system's package manager owns it."""
    purelib: str = ""
    platlib: str = ""
    user_site: bool = False
    environment: Mapping[str, str] = {}
    """Variables that change what is imported or loaded, where they are set."""
    has_pip: bool = False
    uv: str | None = None
    user: str | None = None
    """Who asked."""
    owner: str | None = None
    """Whose the folder of packages is."""
    is_writable: bool = False


class System(Told):
    """The machine below."""

    os: str | None = None
    kernel: str | None = None
    machine: str | None = None
    glibc: str | None = None
    libstdcxx: str | None = None
    """The newest GLIBCXX version on offer: `3.4.30`."""
    toolkits: tuple[str, ...] = ()
    """CUDA toolkits in the usual folders."""
    nvcc: str | None = None
    driver: str | None = None
    markers: Mapping[str, str] = {}
    """What the markers of requirements are about (PEP 508)."""


class EnvironmentGpu(Told):
    """One GPU, as far as its driver tells."""

    index: int
    name: str | None = None
    uuid: str | None = None
    capability: tuple[int, int] | None = None

    @property
    def sm(self) -> int | None:
        """`120` for compute capability 12.0."""
        return None if self.capability is None else self.capability[0] * 10 + self.capability[1]


class MissingLibrary(Told):
    """A library that the loader does not find by itself."""

    library: str
    elsewhere: tuple[str, ...] = ()
    """Where it lies in the environment: another package may load it first."""


class UnmetVersion(Told):
    """A symbol version that a library lacks: the loader refuses the file."""

    library: str
    version: str
    newest: str | None = None
    """The newest of that family on offer."""


class Binary(Told):
    """A compiled file that wants CUDA or torch, or lacks something."""

    binary: str
    top: str
    """The folder or module at the top of site-packages that it belongs to."""
    owner: str | None = None
    """The distribution whose RECORD names it; `None`: none does."""
    cuda: Mapping[str, int] = {}
    """CUDA generation by library that it is linked with."""
    torch: bool = False
    """It is linked with torch."""
    missing: tuple[MissingLibrary, ...] = ()
    versions: tuple[UnmetVersion, ...] = ()
    symbols: tuple[str, ...] = ()
    """Symbols of torch's names that the torch here does not have; the first few."""
    sm: tuple[int, ...] = ()
    ptx: tuple[int, ...] = ()
    problem: str | None = None


class PackageFile(Told):
    """One file of a package by what is in it."""

    package: str
    file: str
    """From the folder of packages."""
    is_listed: bool = True
    """The RECORD of its package names it."""
    recorded: str | None = None
    """SHA-256 as it was installed, where the RECORD tells."""
    sha256: str | None = None
    size: int | None = None
    mode: int | None = None
    problem: str | None = None

    @property
    def is_patched(self) -> bool:
        """It is not what was installed."""
        return self.sha256 is not None and self.recorded is not None and self.sha256 != self.recorded


class Environment(Value):
    """All that was read of one environment."""

    host: str
    interpreter: Interpreter
    system: System = System()
    gpus: tuple[EnvironmentGpu, ...] = ()
    gpus_problem: str | None = None
    cuda_driver: str | None = None
    distributions: tuple[Distribution, ...] = ()
    """In the order of the module path: of two with the same name the first is imported."""
    codes: tuple[Code, ...] = ()
    binaries: tuple[Binary, ...] | None = None
    """`None`: nobody looked."""
    shortfalls: tuple[str, ...] = ()
    """What could not be read, in words."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, without what was worked out from the old values."""
        copy = super().model_copy(update=update, deep=deep)
        for name in ("by_name", "code_of"):
            copy.__dict__.pop(name, None)
        return copy

    @cached_property
    def by_name(self) -> Mapping[str, Distribution]:
        """The distributions that count, by normal name."""
        found: dict[str, Distribution] = {}
        for one in self.distributions:
            found.setdefault(one.key, one)
        return found

    @cached_property
    def code_of(self) -> Mapping[str, Code]:
        """What code says of itself, by the normal name of its distribution."""
        return {normal(CODE_OF.get(code.package, code.package)): code for code in self.codes}

    def version(self, name: str) -> str | None:
        """The version that is really there: the code's own word, else the metadata's."""
        key = normal(name)
        code = self.code_of.get(key)
        found = self.by_name.get(key)
        return (code.version if code else None) or (found.version if found else None)

    @property
    def cuda(self) -> str | None:
        """What torch was built for: `13.0`."""
        code = self.code_of.get("torch")
        return code.cuda if code else None

    @property
    def cuda_generation(self) -> int | None:
        """`13`."""
        major = (self.cuda or "").partition(".")[0]
        return int(major) if major.isdigit() else None
