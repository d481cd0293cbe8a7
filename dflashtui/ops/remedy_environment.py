"""The Python environment that a unit runs in, asked of its host with the unit's own interpreter."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import ValidationError

from dflashtui.errors import DflashError
from dflashtui.model.base import Value
from dflashtui.model.environment import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.finding import Cause

EXEC_START = re.compile(r"argv\[\]=(?P<argv>.*?) ; ignore_errors=", re.DOTALL)
PYTHON = re.compile(r"(?:/[^\s'\";]*)/(?:python|pypy)(?:\d+(?:\.\d+)?)?\Z")
ACTIVATED = re.compile(r"(?P<root>/[^\s'\";]{1,400})/bin/activate\b")
VENV = re.compile(r"^(?P<root>/.{1,400})/lib(?:64)?/python3\.\d+/")
SYSTEM_ROOTS = frozenset({"/usr", "/usr/local", "/"})
LIMIT_SECONDS = 15.0
ENGINES = ("sglang", "vllm")


class Installed(Value):
    """A distribution as its metadata tells."""

    name: str
    version: str
    installer: str | None = None
    is_editable: bool = False


class Pin(Value):
    """What an installed distribution asks of another."""

    by: str
    by_version: str
    requirement: str
    """As in its metadata: `xgrammar==0.1.32`, `soundfile (>=0.12); extra == 'audio'`."""

    @property
    def specifier(self) -> str:
        """`==0.1.32`; empty: any version will do."""
        words = self.requirement.partition(";")[0]
        found = re.match(r"\s*[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*\(?(?P<rest>[^)]*)\)?", words)
        return "".join(found["rest"].split()) if found else ""

    @property
    def exact(self) -> str | None:
        """The one version that is asked for, if it is one."""
        found = re.fullmatch(r"===?(?P<version>[^,*]+)", self.specifier)
        return found["version"] if found else None


class Environment(Value):
    """What `sampler/environment.py` prints."""

    python: str
    executable: str
    prefix: str
    is_venv: bool
    is_externally_managed: bool
    """PEP 668: the system's package manager owns it, and pip refuses."""
    site: str
    is_site_writable: bool
    site_owner: str | None = None
    user: str | None = None
    """Who asked: the login."""
    has_pip: bool
    has_ensurepip: bool
    uv: str | None = None
    apt_get: str | None = None
    distributions: Mapping[str, Installed] = {}
    """By normal name (PEP 503)."""
    owners: Mapping[str, tuple[str, ...]] = {}
    """Import names and the distributions that have files of them."""
    pins: tuple[Pin, ...] = ()
    """The engines' first."""
    libraries: tuple[str, ...] = ()

    def version(self, name: str) -> str | None:
        """Of a distribution, if it is installed."""
        found = self.distributions.get(normal(name))
        return found.version if found else None

    def pins_on(self, name: str) -> tuple[Pin, ...]:
        """What is asked of a distribution, the engines' word first."""
        return tuple(pin for pin in self.pins if _name_of(pin.requirement) == normal(name))

    @property
    def engine(self) -> Installed | None:
        """The inference engine that is installed here."""
        return next((found for name in ENGINES if (found := self.distributions.get(name))), None)


def _name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
    return normal(found.group()) if found else ""


def command_words(properties: Mapping[str, str]) -> list[str]:
    """The unit's command in words, as far as `systemctl show` tells: it quotes nothing."""
    found = EXEC_START.search(properties.get("ExecStart", ""))
    return found["argv"].split() if found else []


def environment_of(properties: Mapping[str, str]) -> dict[str, str]:
    """`Environment=` of the unit, by name."""
    try:
        words = shlex.split(properties.get("Environment", ""))
    except ValueError:
        return {}
    return dict(word.partition("=")[::2] for word in words if "=" in word)


def interpreters(cause: Cause | None, properties: Mapping[str, str], python: str | None = None) -> tuple[str, ...]:
    """Which interpreters the unit may run, the surest first. `python`: the inventory's word."""
    words = command_words(properties)
    found = [
        *(word for word in words if PYTHON.search(word)),
        *(f"{match['root']}/bin/python" for match in ACTIVATED.finditer(" ".join(words))),
        *_of_traceback(cause),
        *_beside(words),
        *((python,) if python else ()),
    ]
    return tuple(dict.fromkeys(found))[:4]


def _of_traceback(cause: Cause | None) -> Iterable[str]:
    """The environment that the files of the traceback lie in."""
    places = (cause.own_location, cause.location) if cause else ()
    for place in places:
        found = VENV.match(place.file) if place else None
        if found:
            yield f"{found['root']}/bin/python" if found["root"] not in SYSTEM_ROOTS else "/usr/bin/python3"


def _beside(words: Sequence[str]) -> Iterable[str]:
    """Scripts such as `/opt/venv/bin/vllm` stand beside their interpreter."""
    for word in words[:1]:
        path = PurePosixPath(word)
        if path.parent.name == "bin" and str(path.parent.parent) not in SYSTEM_ROOTS:
            yield str(path.parent / "python")


async def ask_environment(
    fleet: Fleet, host: str, candidates: Iterable[str], order: Mapping[str, object]
) -> tuple[Environment | None, str | None]:
    """The environment of the first interpreter that answers; else why none did."""
    problem = None
    for python in candidates:
        found, why = await _ask(fleet, host, python, order)
        if found:
            return found, None
        problem = problem or why
    return None, problem


async def _ask(
    fleet: Fleet, host: str, python: str, order: Mapping[str, object]
) -> tuple[Environment | None, str | None]:
    argv = (python, "-I", "-", json.dumps(order))
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            done = await fleet.ask(host, argv, stdin=_program())
    except DflashError as failure:
        return None, str(failure)
    except TimeoutError:
        return None, f"{host}: {python} gave no answer within {LIMIT_SECONDS:.0f} s"
    if done.exit_status != 0:
        last = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-1:] or ["no message"]
        return None, f"{host}: {python}: exit {done.exit_status}: {last[0]}"
    try:
        return Environment.model_validate_json(done.stdout), None
    except ValidationError:
        return None, f"{host}: {python} gave an answer that cannot be read"


@lru_cache(maxsize=1)
def _program() -> bytes:
    return files("dflashtui.sampler").joinpath("environment.py").read_bytes()
