"""What one Python environment has installed, and what its packages ask for: one JSON line.

Runs by itself as `PYTHON -I - ORDER`, this text on stdin, without importing what it looks at (20 to 200 ms).
ORDER is JSON: `names` (distributions), `modules` (import names), `engines` (distributions whose version matters),
`paths` (more folders of modules, from the unit's PYTHONPATH), `libraries` (`libX.so.N` to look for).
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Iterable

UV_PLACES = ("~/.local/bin/uv", "~/.cargo/bin/uv", "/usr/local/bin/uv")
MOST_PINS = 40
MOST_FOUND = 8


def normal(name: str) -> str:
    """The name of a distribution as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def holds(requirement: str) -> bool | None:
    """Whether the marker of a requirement is met here; `None`: nobody can tell."""
    marker = requirement.partition(";")[2].strip()
    if not marker:
        return True
    if "extra" in marker:
        return False
    for module in ("packaging.markers", "pip._vendor.packaging.markers"):
        try:
            return bool(__import__(module, fromlist=["Marker"]).Marker(marker).evaluate())
        except Exception:  # noqa: BLE001, S112 - an old or broken copy is no copy
            continue
    return None


def told(distribution: metadata.Distribution) -> dict[str, Any]:
    """Name, version, and who put it there."""
    installer = (distribution.read_text("INSTALLER") or "").strip()
    return {
        "name": distribution.metadata["Name"],
        "version": distribution.version,
        "installer": installer or None,
        "is_editable": '"editable": true' in (distribution.read_text("direct_url.json") or ""),
    }


def owner(path: str) -> str | None:
    """The user that a folder belongs to."""
    import pwd  # noqa: PLC0415 - not everywhere

    try:
        return pwd.getpwuid(os.stat(path).st_uid).pw_name
    except (KeyError, OSError):
        return None


def tools() -> dict[str, Any]:
    """What could install something."""
    uv = shutil.which("uv") or next((p for p in map(os.path.expanduser, UV_PLACES) if os.access(p, os.X_OK)), None)
    return {
        "has_pip": find_spec("pip") is not None,
        "has_ensurepip": find_spec("ensurepip") is not None,
        "uv": uv,
        "apt_get": shutil.which("apt-get"),
    }


def place() -> dict[str, Any]:
    """The environment itself."""
    site = sysconfig.get_paths()["purelib"]
    stdlib = sysconfig.get_paths()["stdlib"]
    is_venv = sys.prefix != sys.base_prefix
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "is_venv": is_venv,
        "is_externally_managed": not is_venv and os.path.exists(os.path.join(stdlib, "EXTERNALLY-MANAGED")),
        "site": site,
        "is_site_writable": os.access(site, os.W_OK),
        "site_owner": owner(site),
        "user": owner("/proc/self"),
    }


def libraries(wanted: Iterable[str], site: str) -> list[str]:
    """Files of that library, of any version, among the wheels of the environment and in the system's folders."""
    found: list[str] = []
    for name in wanted:
        stem = glob.escape(name.partition(".so")[0] + ".so")
        for pattern in (f"{site}/nvidia/*/lib/{stem}*", f"{site}/*/lib/{stem}*", f"/usr/lib/*/{stem}*"):
            found += sorted(glob.glob(pattern))
    return found[:MOST_FOUND]


def requirements(
    distributions: Iterable[metadata.Distribution], wanted: set[str], engines: set[str]
) -> list[dict[str, str]]:
    """What installed distributions ask of the wanted ones, the engines' word first."""
    pins = []
    for distribution in distributions:
        for requirement in distribution.requires or ():
            name = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
            if name and normal(name.group()) in wanted and holds(requirement) is not False:
                by = distribution.metadata["Name"]
                pins.append({"by": by, "by_version": distribution.version, "requirement": requirement})
    return sorted(pins, key=lambda pin: normal(pin["by"]) not in engines)[:MOST_PINS]


def owners(distributions: Iterable[metadata.Distribution], modules: Iterable[str]) -> dict[str, list[str]]:
    """Which distributions have files of a module."""
    found: dict[str, list[str]] = {}
    for distribution in distributions:
        listed = distribution.read_text("top_level.txt")
        tops = set(listed.split()) if listed else {str(file).split("/")[0] for file in distribution.files or ()}
        for module in modules:
            if module in tops or module + ".py" in tops:
                found.setdefault(module, []).append(distribution.metadata["Name"])
    return found


def main(order: dict[str, Any]) -> None:
    """Look, and print."""
    sys.path[:0] = [path for path in order.get("paths", ()) if path]
    everything: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            everything.setdefault(normal(name), distribution)
    distributions = list(everything.values())
    engines = set(map(normal, order.get("engines", ())))
    owned = owners(distributions, order.get("modules", ()))
    wanted = {*map(normal, order.get("names", ())), *(normal(one) for names in owned.values() for one in names)}
    here = place()
    found = {
        **here,
        **tools(),
        "distributions": {name: told(everything[name]) for name in sorted(wanted | engines) if name in everything},
        "owners": owned,
        "pins": requirements(distributions, wanted, engines),
        "libraries": libraries(order.get("libraries", ()), here["site"]),
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
