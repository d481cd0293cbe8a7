"""Packages to install, reinstall or pin, from what the environment tells. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.diagnosis.remedies_names import SYSTEM_PACKAGES, distributions_of, is_well_known
from dflashtui.model.environment import normal
from dflashtui.ops.remedy_value import HostRemedy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.finding import Cause
    from dflashtui.ops.remedy_environment import Environment, Pin

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
SPECIFIER = re.compile(r"(?:(?:===?|~=|!=|<=?|>=?)[A-Za-z0-9.+!*_-]+)(?:,(?:===?|~=|!=|<=?|>=?)[A-Za-z0-9.+!*_-]+)*\Z")
LIBRARY = re.compile(r"(?P<name>lib[\w+.-]{1,80}?\.so(?:\.\d+)*)\b")
STRANGER = "no installed package asks for it and no other host has it: is this really the package that is meant?"
SHOWN_PINS = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """One distribution that a cause is about, as it stands."""

    name: str
    module: str
    installed: str | None
    pins: tuple[Pin, ...]
    reference: tuple[str, str] | None
    """The host that this one should match, and the version there."""

    @property
    def specifier(self) -> str:
        """What to install: the engine's pin, else the version of the reference host, else any."""
        asked = next((pin.specifier for pin in self.pins if SPECIFIER.match(pin.specifier)), "")
        there = f"=={self.reference[1]}" if self.reference else ""
        return asked or (there if SPECIFIER.match(there) else "")

    @property
    def version(self) -> str | None:
        """The one version that is asked for, if it is one."""
        found = re.fullmatch(r"===?([^,*]+)", self.specifier)
        return found[1] if found else None

    @property
    def is_vouched_for(self) -> bool:
        """Somebody other than the log names this distribution."""
        return bool(self.pins or self.reference or self.installed) or is_well_known(self.module)


def wanted(module: str, here: Environment, there: Environment | None, reference: str | None) -> Wanted:
    """The distribution of an import name: one that is installed, else one that is asked for, else the likeliest."""
    names = (*here.owners.get(module, ()), *distributions_of(module))
    name = (
        next((name for name in names if here.version(name)), None)
        or next((name for name in names if here.pins_on(name)), None)
        or next((name for name in names if there and there.version(name)), None)
        or names[0]
    )
    version = there.version(name) if there else None
    return Wanted(
        name=normal(name),
        module=module,
        installed=here.version(name),
        pins=here.pins_on(name),
        reference=(reference, version) if reference and version else None,
    )


def package_remedies(cause: Cause, one: Wanted, here: Environment) -> tuple[HostRemedy, ...]:
    """What to do about a missing module, a missing name, or a binary that does not fit."""
    if not NAME.match(one.name):
        return ()
    details = (*_facts(one, here), *_environment_facts(here))
    if one.installed is None:
        return (_install(one, here, f"install {_words(one)} for the unit's own interpreter", details),)
    if one.version and one.version != one.installed:
        title = f"install {one.name} {one.version} in place of {one.installed}"
        return (_install(one, here, title, details),)
    if cause.kind in {"abi-mismatch", "missing-module"}:
        title = f"install {one.name} {one.installed} again, for the torch and CUDA that are there"
        if cause.kind == "missing-module":
            title = f"install {one.name} {one.installed} again: it is installed, but lacks this module"
        return (_install(one, here, title, details, again=True),)
    if one.specifier and not one.version:
        title = f"install a {one.name} that fits: {one.specifier}"
        return (_install(one, here, title, details, upgrade=True),)
    return (HostRemedy(title=_unexplained(one), details=details),)


def _unexplained(one: Wanted) -> str:
    if one.version == one.installed:
        asks = one.pins[0] if one.pins else None
        whose = f"{asks.by} {asks.by_version} asks for" if asks else f"{one.reference and one.reference[0]} has"
        return f"{one.name} {one.installed} is the version that {whose}: is the code around it newer, or patched?"
    return f"{one.name} {one.installed} lacks this name, and nothing says which version has it"


def _words(one: Wanted) -> str:
    return f"{one.name} {one.version}" if one.version else f"{one.name}{one.specifier}"


def _facts(one: Wanted, here: Environment) -> Iterator[str]:
    yield f"{one.name} {one.installed} is installed" if one.installed else f"{one.name} is not installed"
    for pin in one.pins[:SHOWN_PINS]:
        yield f"{pin.by} {pin.by_version} asks for {one.name}{pin.specifier or ', any version'}"
    if not one.pins and (engine := here.engine):
        yield f"{engine.name} {engine.version} does not ask for it"
    if one.reference:
        yield f"{one.reference[0]} has {one.reference[1]}"
    if normal(one.module) != one.name:
        yield f"the module {one.module} comes with the package {one.name}"


def _environment_facts(here: Environment) -> Iterator[str]:
    kind = "virtual environment" if here.is_venv else "installation"
    yield f"Python {here.python}, {kind} {here.prefix}"


def _install(
    one: Wanted,
    here: Environment,
    title: str,
    details: Sequence[str],
    *,
    again: bool = False,
    upgrade: bool = False,
) -> HostRemedy:
    spec = f"=={one.installed}" if again and one.installed and SPECIFIER.match(f"=={one.installed}") else one.specifier
    requirement = f"{one.name}{spec}"
    obstacle = _obstacle(here)
    if obstacle:
        return HostRemedy(title=title, details=(*details, obstacle))
    tool = _tool(here, again=again, upgrade=upgrade)
    if tool is None:
        first = HostRemedy.of(
            f"bring pip into this environment first, then: {title}",
            (*_as_owner(here), here.executable, "-m", "ensurepip", "--default-pip"),
            (*details, "neither pip nor uv is there"),
        )
        return first.model_copy(update={"is_cure": False})
    reasons = () if one.is_vouched_for else (f"{one.name}: {STRANGER}",)
    return HostRemedy.of(title, (*_as_owner(here), *tool, requirement), details, reasons)


def _obstacle(here: Environment) -> str | None:
    """Why nothing can be installed from here."""
    if here.is_externally_managed:
        return "this Python belongs to the system's package manager: give the unit a virtual environment of its own"
    if not here.has_pip and not here.uv and not here.has_ensurepip:
        return "neither pip nor uv nor ensurepip is there: make the environment anew"
    if not here.is_site_writable and here.user != "root":
        return f"the login {here.user or '?'} may not write to {here.site}, which belongs to {here.site_owner or '?'}"
    return None


def _tool(here: Environment, *, again: bool, upgrade: bool) -> tuple[str, ...] | None:
    if here.has_pip:
        more = ("--force-reinstall", "--no-deps") if again else ("--upgrade",) if upgrade else ()
        return (here.executable, "-m", "pip", "install", *more)
    if here.uv:
        more = ("--reinstall", "--no-deps") if again else ("--upgrade",) if upgrade else ()
        return (here.uv, "pip", "install", "--python", here.executable, *more)
    return None


def _as_owner(here: Environment) -> tuple[str, ...]:
    """Root installs as the user whose environment it is, so that this user can change it later, too."""
    if here.user != "root" or here.site_owner in {None, "root"}:
        return ()
    return ("runuser", "-u", str(here.site_owner), "--")


def library_of(cause: Cause) -> str | None:
    """`libcudart.so.13`: the library that the message names."""
    found = LIBRARY.search(cause.message)
    return found["name"] if found else None


def library_remedies(library: str, here: Environment) -> tuple[HostRemedy, ...]:
    """A library that the loader did not find."""
    stem = f"{library.partition('.so')[0]}.so"
    found = tuple(f"found: {path}" for path in here.libraries) or (f"no {stem} in this environment or /usr/lib",)
    if stem == "libcuda.so":
        return (HostRemedy(title="libcuda.so.1 comes with the NVIDIA driver: none is visible here", details=found),)
    remedies = []
    package = SYSTEM_PACKAGES.get(stem)
    if package and here.apt_get and here.user == "root":
        argv = (here.apt_get, "install", "--yes", "--no-install-recommends", package)
        why = "it installs for the whole host"
        remedies.append(HostRemedy.of(f"install the system package {package}", argv, found, (why,)))
    elif package:
        remedies.append(HostRemedy(title=f"install the system package {package} ({stem})", details=found))
    same = [path for path in here.libraries if path.endswith(f"/{library}")]
    if same:
        folder = same[0].rpartition("/")[0]
        title = f"let the unit find it: Environment=LD_LIBRARY_PATH={folder}"
        remedies.append(HostRemedy(title=title, details=found))
    elif here.libraries and not package:
        title = f"{library} is wanted, another version is there: install the package built for it"
        remedies.append(HostRemedy(title=title, details=found))
    return tuple(remedies)
