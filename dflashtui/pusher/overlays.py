"""Files laid over a package that is installed in a Python environment."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any, Callable

from dflashtui.pusher import files
from dflashtui.pusher.change import DONE, Change, FileChange
from dflashtui.pusher.records import PENDING, Store
from dflashtui.pusher.trouble import Refusal

if TYPE_CHECKING:
    from dflashtui.pusher.places import Places

LIMIT_SECONDS = 30
FIND = """
import importlib.metadata as metadata, importlib.util, json, sys
name = sys.argv[1]
spec = importlib.util.find_spec(name)
folders = list(spec.submodule_search_locations or ()) if spec else []
def version():
    for one in (name, *getattr(metadata, "packages_distributions", dict)().get(name, ())):
        try:
            return metadata.version(one)
        except metadata.PackageNotFoundError:
            pass
print(json.dumps({"folder": folders[0] if folders else None, "version": version(), "path": sys.path}))
"""
"""Finds a package without importing it."""


class Package:
    """An installed package of one interpreter."""

    def __init__(self, python: str, name: str, folder: str, version: str | None) -> None:
        self.python = python
        self.name = name
        self.folder = folder
        self.version = version

    def path(self, name: str) -> str:
        """The path of one file of it. Refuses what leaves the folder, also by a link."""
        parts = name.split("/")
        if not name or name.startswith("/") or any(part in {"", ".", ".."} for part in parts) or "\0" in name:
            raise Refusal("bad-name", "%r is no path within the package %s" % (name, self.name))
        path = os.path.join(self.folder, *parts)
        parent = os.path.realpath(os.path.dirname(path))
        if os.path.commonpath([parent, self.folder]) != self.folder:
            raise Refusal("link", "%s: leads out of %s by a link" % (path, self.folder))
        return path


def installed(places: Places, python: str, name: str) -> Package:
    """Raises `Refusal` if there is no such interpreter, or no such package in its site-packages."""
    if not os.path.isabs(python) or not os.access(places.root + python, os.X_OK):
        raise Refusal("no-python", "%s: there is no such interpreter" % python)
    found = _asked(places, places.root + python, name)
    folder = found.get("folder")
    if not folder:
        raise Refusal("no-package", "%s: the package %s is not installed" % (python, name))
    if os.path.basename(os.path.dirname(folder)) not in {"site-packages", "dist-packages"}:
        words = "%s: %s is installed from %s, outside of site-packages: change it there" % (python, name, folder)
        raise Refusal("editable", words)
    return Package(python, name, os.path.realpath(folder), found.get("version"))


def _asked(places: Places, python: str, name: str) -> dict[str, Any]:
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter of the inventory, no shell
            (python, "-I", "-B", "-c", FIND, name),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            env=places.environment(),
            check=False,
            preexec_fn=_owners_rights(python),
        )
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise Refusal("no-answer", "%s gave no answer within %d s" % (python, LIMIT_SECONDS)) from None
    except (OSError, ValueError) as problem:
        raise Refusal("no-python", "%s: cannot be asked where %s is: %s" % (python, name, problem)) from problem
    return found if isinstance(found, dict) else {}


def _owners_rights(python: str) -> Callable[[], None]:
    """What lies in an environment runs with its interpreter: by the rights of whoever may write there, not of root."""
    status = os.stat(os.path.dirname(python))

    def take() -> None:
        if os.geteuid() == 0 and status.st_uid != 0:
            os.setgroups([])
            os.setgid(status.st_gid)
            os.setuid(status.st_uid)

    return take


def store_of(places: Places, package: Package) -> Store:
    """Where changes to this package are kept: by its folder, whichever unit brought them."""
    return Store(places.state, "overlays", package.folder)


def look(places: Places, order: dict[str, Any]) -> dict[str, Any]:
    """How the overlay's files stand. `order`: `python`, `package`, `files` (their paths within the package)."""
    package = installed(places, order["python"], order["package"])
    try:
        records, trouble = store_of(places, package).records(), None
    except Refusal as refused:
        records, trouble = None, refused.words
    last = effective(records or [])
    return {
        "folder": package.folder,
        "version": package.version,
        "writable": os.access(package.folder, os.W_OK),
        "files": {name: hash_of(package, name) for name in dict.fromkeys([*order["files"], *last["laid"]])},
        "laid": last["laid"],
        "originals": last["originals"],
        "laid_version": last["version"],
        "records": records,
        "records_trouble": trouble,
    }


def hash_of(package: Package, name: str) -> str | None:
    """The sha256 of a file of the package; `None`: it has none of that name."""
    try:
        return files.hash_at(package.path(name))
    except OSError:
        return "unreadable"


def effective(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What our changes have left in place: `laid` and `originals` (sha256 by path within the package), `version`."""
    done = [record for record in records if record["state"] in {DONE, PENDING}]
    last = done[-1] if done else {}
    return {"laid": last.get("laid", {}), "originals": last.get("originals", {}), "version": last.get("version")}


def laying(places: Places, order: dict[str, Any], texts: dict[str, bytes]) -> Change:
    """The change that lays `texts` (by path within the package) over it, and takes away what was laid before.

    `order`: `python`, `package`; `version`, the only one that it fits; `seen`, the hashes that a person was shown;
    `force`, to replace files that somebody else changed.
    """
    package = installed(places, order["python"], order["package"])
    _require_version(package, order.get("version"))
    store = store_of(places, package)
    last = _last_of_version(store, package)
    wanted: dict[str, bytes | None] = dict(texts)
    for name in last["laid"]:
        wanted.setdefault(name, _original(store, last, name))
    changes = [_file_change(package, name, data) for name, data in wanted.items()]
    _require_known(changes, last, order)
    kept = {one.name: last["originals"].get(one.name, one.before) for one in changes if one.name in texts}
    new = {name: files.sha256(data) for name, data in texts.items()}
    return Change(store, changes, _facts(package, new, kept))


def restoring(places: Places, order: dict[str, Any]) -> Change:
    """The change that gives the package its own files back, as far as a reinstall has not done so."""
    package = installed(places, order["python"], order["package"])
    store = store_of(places, package)
    last = effective(store.records())
    if not last["laid"]:
        raise Refusal("nothing", "%s: nothing is laid over it" % package.folder)
    here = {name: hash_of(package, name) for name in last["laid"]}
    if last["version"] != package.version:
        ours = sorted(name for name, found in here.items() if found == last["laid"][name])
        if ours:
            words = "%s: %s is %s by now, the files that were kept are of %s: not put into another version"
            raise Refusal("version", words % (package.folder, package.name, package.version, last["version"]))
        return Change(store, [], _facts(package, {}, {}))
    changes = [_file_change(package, name, _original(store, last, name)) for name in last["laid"]]
    _require_known(changes, last, order)
    return Change(store, changes, _facts(package, {}, {}))


def _facts(package: Package, new: dict[str, str], kept: dict[str, Any]) -> dict[str, Any]:
    about = {"python": package.python, "package": package.name, "version": package.version}
    return {**about, "folder": package.folder, "laid": new, "originals": kept}


def _file_change(package: Package, name: str, data: bytes | None) -> FileChange:
    """With the mode and owner of the file that is there, else with the owner of the package."""
    path = package.path(name)
    change = FileChange(name, path, data, files.hash_at(path))
    status = os.stat(path if change.before is not None else package.folder)
    change.mode = status.st_mode & 0o777 if change.before is not None else 0o644
    owner = os.stat(package.folder).st_uid
    change.ids = (status.st_uid, status.st_gid) if os.geteuid() == 0 and owner == 0 else None
    change.base = package.folder
    return change


def _require_version(package: Package, version: str | None) -> None:
    if version is not None and version != package.version:
        words = "%s: %s %s is installed, the overlay is for %s"
        raise Refusal("version", words % (package.folder, package.name, package.version, version))


def _last_of_version(store: Store, package: Package) -> dict[str, Any]:
    """What is laid; nothing, where another version was installed since."""
    last = effective(store.records())
    return last if last["version"] == package.version else {"laid": {}, "originals": {}, "version": None}


def _original(store: Store, last: dict[str, Any], name: str) -> bytes | None:
    kept = last["originals"].get(name)
    return None if kept is None else store.text(kept)


def _require_known(changes: list[FileChange], last: dict[str, Any], order: dict[str, Any]) -> None:
    """Nothing is replaced that somebody else has changed, unless a person said so."""
    seen = order.get("seen") or {}
    for one in changes:
        if one.name in seen and seen[one.name] != one.before:
            raise Refusal("changed", "%s: was changed by somebody since it was looked at" % one.path)
    laid, kept = last["laid"], last["originals"]
    ours = [one for one in changes if one.name in laid]
    drifted = [one.name for one in ours if one.before not in {laid[one.name], kept.get(one.name), one.after}]
    if drifted and not order.get("force"):
        raise Refusal("changed", "changed by somebody since it was laid: %s" % ", ".join(sorted(drifted)))
