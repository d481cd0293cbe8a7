"""The machine under an environment: interpreter, system, C libraries, driver, GPUs, CUDA toolkits."""

from __future__ import annotations

import glob
import os
import platform
import re
import shutil
import site
import sys
import sysconfig
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from dflashtui.survey.elf import Elf, ElfError
from dflashtui.survey.gpus import Gpus
from dflashtui.survey.ldso import Loader, Searched

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

LONGEST_GPU_SECONDS = 2.0
DRIVER_FILES = ("/sys/module/nvidia/version", "/proc/driver/nvidia/version")
DRIVER = re.compile(r"\b(\d{3}\.\d{2,3}(?:\.\d{2,3})?)\b")
TOLD = ("LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_HOME", "PYTHONNOUSERSITE", "FLASHINFER_DISABLE_VERSION_CHECK")
UV_PLACES = ("~/.local/bin/uv", "~/.cargo/bin/uv", "/usr/local/bin/uv")


def found(_order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """One fact: `interpreter`, `system`, `gpus`."""
    gpus = Gpus()
    interpreter, system = _interpreter(), _system(place)
    told = gpus.wait(LONGEST_GPU_SECONDS)
    system["driver"] = told.pop("driver", None) or _driver()
    yield {"interpreter": interpreter, "system": system, **told}


def _interpreter() -> Dict[str, Any]:
    paths = sysconfig.get_paths()
    is_venv = sys.prefix != sys.base_prefix
    return {
        "executable": sys.executable,
        "real_executable": os.path.realpath(sys.executable),
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "abi": sysconfig.get_config_var("SOABI"),
        "is_free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "prefix": sys.prefix,
        "is_venv": is_venv,
        "is_externally_managed": not is_venv and os.path.exists(os.path.join(paths["stdlib"], "EXTERNALLY-MANAGED")),
        "purelib": paths["purelib"],
        "platlib": paths["platlib"],
        "user_site": bool(site.ENABLE_USER_SITE),
        "environment": {name: os.environ[name] for name in TOLD if name in os.environ},
        **_tools(paths["purelib"]),
    }


def _tools(purelib: str) -> Dict[str, Any]:
    """What could install something here, and who may."""
    places = [os.path.join(sys.prefix, "bin", "uv"), *map(os.path.expanduser, UV_PLACES)]
    uv = shutil.which("uv") or next((place for place in places if os.access(place, os.X_OK)), None)
    return {
        "has_pip": os.path.exists(os.path.join(purelib, "pip", "__init__.py")),
        "uv": uv,
        "user": _owner("/proc/self"),
        "owner": _owner(purelib),
        "is_writable": os.access(purelib, os.W_OK),
    }


def _owner(path: str) -> Optional[str]:
    import pwd  # noqa: PLC0415 - not everywhere

    try:
        uid = os.stat(path).st_uid
    except OSError:
        return None
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _system(place: Place) -> Dict[str, Any]:
    del place
    return {
        "os": _os_name(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "glibc": _glibc(),
        "libstdcxx": _libstdcxx(),
        "toolkits": _toolkits(),
        "nvcc": shutil.which("nvcc"),
        "markers": _markers(),
    }


def _markers() -> Dict[str, str]:
    """What the markers of requirements are about here (PEP 508)."""
    version = "{0.major}.{0.minor}.{0.micro}".format(sys.implementation.version)
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": version,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "platform_python_implementation": platform.python_implementation(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def _os_name() -> Optional[str]:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        for line in _text(path).split("\n"):
            if line.startswith("PRETTY_NAME="):
                return line.partition("=")[2].strip().strip("\"'")
    return None


def _glibc() -> Optional[str]:
    """`None`: another C library."""
    try:
        told = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return None
    return told.partition(" ")[2] or None


def _libstdcxx() -> Optional[str]:
    """The newest version that the C++ library offers: `3.4.30`."""
    try:
        with Elf(os.path.realpath(sys.executable)) as program:
            searched = Searched(os.path.dirname(os.path.realpath(sys.executable)), *program.search_path())
            machine = program.machine
        path = Loader(machine, dict(os.environ)).find("libstdc++.so.6", searched)
        if path is None:
            return None
        with Elf(path) as library:
            offered = [name[8:] for name in library.defined_versions() if re.match(r"GLIBCXX_\d+(\.\d+)*$", name)]
    except (ElfError, OSError):
        return None
    return max(offered, key=lambda name: [int(part) for part in name.split(".")], default=None)


def _driver() -> Optional[str]:
    """The version of the loaded kernel module."""
    for path in DRIVER_FILES:
        match = DRIVER.search(_text(path))
        if match:
            return match.group(1)
    return None


def _toolkits() -> List[str]:
    """Versions of the CUDA toolkits in the usual folders."""
    versions = set()
    for path in glob.glob("/usr/local/cuda*/version.json"):
        match = re.search(r'"cuda"\s*:\s*\{[^{}]*"version"\s*:\s*"([^"]+)"', _text(path))
        if match:
            versions.add(match.group(1))
    return sorted(versions)


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 16).decode("utf-8", "backslashreplace")
    except OSError:
        return ""
