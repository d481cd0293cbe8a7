"""The compiled files of an environment, and what they want that is not there.

A module finds a library along the loader's path, or among those that are loaded before it: torch brings its own and
those of the nvidia wheels, a package may load the ones that lie in its folder. So a library that lies elsewhere in the
environment is not missing for sure, and is told with the places where it is (`elsewhere`).
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from dflashtui.survey.elf import Elf, ElfError, gnu_hash
from dflashtui.survey.fatbin import architectures
from dflashtui.survey.ldso import Loader, Searched, program_folders
from dflashtui.survey.sites import sites

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

SHARED = re.compile(r"\.so(?:\.[0-9]+)*$")
IN_RECORD = re.compile(rb'^"?([^,"\n]*\.so[^,"\n]*)"?,', re.MULTILINE)
CUDA = re.compile(r"lib(cudart|nvrtc|nvJitLink|cublas|cublasLt|cupti)\.so\.(\d+)")
"""Libraries whose number is CUDA's own generation; others (cufft, cusparse) count for themselves."""
TORCH = re.compile(r"lib(?:torch\w*|c10\w*)\.so$")
TORCH_SYMBOL = re.compile(rb"_Z(?:T[VIST])?N[KVRO]*(?:3c10|2at|5torch|6caffe2)")
"""Of torch's own namespaces, as the C++ ABI writes them."""
LISTED_SYMBOLS = 5
MOST_ELSEWHERE = 3
RECORD_BYTES = 64 << 20


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """A fact for each file that wants CUDA or torch, or lacks something; at the end how many there were.

    `order`: `packages`, folders or modules at the top of site-packages to look at; absent: all. Only who has looked at
    all of them can say that a library is missing.
    """
    packages = order.get("packages")
    folders = sites(place.path)
    unread: Dict[str, str] = {}
    files = list(_shared(folders, packages, place, unread))
    environment = _Environment(files, folders)
    count = 0
    for path, top in files:
        place.check()
        fact = environment.fact(path)
        if fact is None:
            continue
        count += 1
        if packages is not None:
            fact.pop("missing", None)
        if fact:
            yield {"binary": path, "top": top, "owner": environment.owner(path), **fact}
    for folder, problem in unread.items():
        yield {"unread": folder, "problem": problem}
    yield {"binaries": count, "looked_at": list(folders)}


def _shared(
    folders: Iterable[str], tops: Optional[List[str]], place: Place, unread: Dict[str, str]
) -> Iterator[Tuple[str, str]]:
    """Path and top folder of every shared object. Links to folders are not followed; `unread` takes what is closed."""
    for folder in folders:
        for entry in _entries(folder, unread):
            name = entry.name.split(".")[0]
            if tops is not None and name not in tops:
                continue
            if entry.is_dir(follow_symlinks=False):
                for path in _below(entry.path, place, unread):
                    yield path, entry.name
            elif SHARED.search(entry.name):
                yield entry.path, name


def _below(folder: str, place: Place, unread: Dict[str, str]) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        place.check()
        for entry in _entries(waiting.pop(), unread):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    waiting.append(entry.path)
            elif SHARED.search(entry.name):
                yield entry.path


def _entries(folder: str, unread: Optional[Dict[str, str]] = None) -> List[Any]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as problem:
        if unread is not None:
            unread[folder] = problem.strerror or str(problem)
        return []


class _Environment:
    """What all files of an environment have in common."""

    def __init__(self, files: List[Tuple[str, str]], folders: Iterable[str]) -> None:
        self._folders = list(folders)
        self._owners: Optional[Dict[str, str]] = None
        self._by_name: Dict[str, List[str]] = {}
        for path, _ in files:
            self._by_name.setdefault(os.path.basename(path), []).append(path)
        self._versions: Dict[str, Optional[Set[str]]] = {}
        opened = [open_or_none(path) for path in _torch_libraries(folders)]
        self._torch = [elf for elf in opened if elf]
        self._torch_knows: Dict[bytes, bool] = {}
        program = open_or_none(os.path.realpath(sys.executable))
        self._machine = program.machine if program else None
        own = Searched("", [], is_runpath=True)
        if program:
            own = Searched(os.path.dirname(os.path.realpath(sys.executable)), *program.search_path())
            program.close()
        self._of_program = program_folders(own)
        self._loader = Loader(self._machine or 0, dict(os.environ))

    def owner(self, path: str) -> Optional[str]:
        """The distribution whose RECORD names the file; all of them are read when first asked."""
        if self._owners is None:
            self._owners = dict(_owned(self._folders))
        return self._owners.get(path)

    def fact(self, path: str) -> Optional[Dict[str, Any]]:
        """What is worth telling of a file; `None`: the loader has nothing to do with it."""
        try:
            with Elf(path) as elf:
                return self._told(path, elf)
        except ElfError as problem:
            return None if str(problem) == "no ELF file" else {"problem": str(problem)}
        except OSError as problem:
            return {"problem": problem.strerror or str(problem)}

    def _told(self, path: str, elf: Elf) -> Dict[str, Any]:
        if self._machine is not None and elf.machine != self._machine:
            return {"problem": "built for another processor (ELF machine %d)" % elf.machine}
        needed = elf.needed()
        searched = Searched(os.path.dirname(os.path.realpath(path)), *elf.search_path())
        places = {name: self._loader.find(name, searched, self._of_program) for name in needed}
        links_torch = any(TORCH.match(name) for name in needed)
        fact = {
            "cuda": dict(_cuda(needed)),
            "missing": [self._missing(name) for name, where in places.items() if where is None],
            "versions": list(self._unmet(elf, places)),
            "symbols": self._strangers(elf, places) if links_torch else [],
            **architectures(elf),
        }
        told: Dict[str, Any] = {name: value for name, value in fact.items() if value}
        return {**told, "torch": True} if links_torch else told

    def _missing(self, name: str) -> Dict[str, Any]:
        return {"library": name, "elsewhere": self._by_name.get(name, [])[:MOST_ELSEWHERE]}

    def _unmet(self, elf: Elf, places: Dict[str, Optional[str]]) -> Iterator[Dict[str, Any]]:
        """Versions that a library which is there does not have: the loader refuses the file then."""
        for version in elf.wanted_versions():
            where = places.get(version.library)
            offered = self._offered(where) if where else None
            if offered and version.name not in offered and not version.is_weak:
                yield {"library": where, "version": version.name, "newest": _newest(version.name, offered)}

    def _offered(self, path: str) -> Optional[Set[str]]:
        """`None`: it says nothing of versions, or cannot be read."""
        if path not in self._versions:
            elf = open_or_none(path)
            try:
                self._versions[path] = (elf.defined_versions() if elf else None) or None
            except ElfError:
                self._versions[path] = None
            finally:
                if elf:
                    elf.close()
        return self._versions[path]

    def _strangers(self, elf: Elf, places: Dict[str, Optional[str]]) -> List[str]:
        """Symbols of torch's own names that the torch which is here does not have: built for another one."""
        if not self._torch:
            return []
        unknown = [name for name in elf.undefined_symbols() if TORCH_SYMBOL.match(name) and not self._is_known(name)]
        beside = [path for name in places for path in self._by_name.get(name, ()) if not TORCH.match(name)]
        for path in beside if unknown else ():
            unknown = [name for name in unknown if not _defines(path, name)]
        return [name.decode("ascii", "backslashreplace") for name in unknown[:LISTED_SYMBOLS]]

    def _is_known(self, name: bytes) -> bool:
        known = self._torch_knows.get(name)
        if known is None:
            hashed = gnu_hash(name)
            known = self._torch_knows[name] = any(library.defines(name, hashed) for library in self._torch)
        return known


def open_or_none(path: str) -> Optional[Elf]:
    """The file, if it is one that the loader could take."""
    try:
        return Elf(path)
    except (ElfError, OSError):
        return None


def _defines(path: str, name: bytes) -> bool:
    try:
        with Elf(path) as elf:
            return elf.defines(name, gnu_hash(name))
    except (ElfError, OSError):
        return False


def _cuda(needed: Iterable[str]) -> Iterator[Tuple[str, int]]:
    for name in needed:
        match = CUDA.match(name)
        if match:
            yield name, int(match.group(2))


def _newest(wanted: str, offered: Iterable[str]) -> Optional[str]:
    """`GLIBCXX_3.4.30`: the last that is there of the family of `GLIBCXX_3.4.32`."""
    family = wanted.rpartition("_")[0] + "_"
    of_family = [name for name in offered if name.startswith(family) and _numbers(name)]
    return max(of_family, key=_numbers) if of_family else None


def _numbers(name: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in name.rpartition("_")[2].split(".") if part.isdigit())


def _torch_libraries(folders: Iterable[str]) -> List[str]:
    """Those of the first torch that is found."""
    for folder in folders:
        library = os.path.join(folder, "torch", "lib")
        found_here = [os.path.join(library, entry.name) for entry in _entries(library) if TORCH.match(entry.name)]
        if found_here:
            return found_here
    return []


def _owned(folders: Iterable[str]) -> Iterator[Tuple[str, str]]:
    """Path and distribution of every shared object that some RECORD names."""
    for folder in folders:
        for entry in _entries(folder):
            if not entry.name.endswith(".dist-info"):
                continue
            try:
                with open(os.path.join(entry.path, "RECORD"), "rb") as file:
                    record = file.read(RECORD_BYTES)
            except OSError:
                continue
            owner = entry.name[: -len(".dist-info")].rpartition("-")[0]
            for match in IN_RECORD.finditer(record):
                yield os.path.normpath(os.path.join(folder, os.fsdecode(match.group(1)))), owner
