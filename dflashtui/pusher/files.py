"""Files: read without following links, replaced whole or not at all, on disk before anything is said about them."""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from contextlib import contextmanager, suppress
from typing import Any, Iterator

from dflashtui.pusher.trouble import Refusal, refusal_of

try:
    from _sha256 import sha256 as _sha256  # type: ignore[import-not-found]  # hashlib takes 3 ms
except ImportError:
    from hashlib import sha256 as _sha256

LARGEST_BYTES = 16 * 2**20
PART = re.compile(r"\.dflash-[0-9a-f]{8}\Z")
"""A file on its way. It ends in no suffix of a unit, so systemd does not read it."""
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
ACL, LABEL = "system.posix_acl_access", "security.selinux"
ACL_OWNER, ACL_WRITE = 0x01, 0x02
KINDS = (
    (stat.S_ISLNK, "link"),
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "fifo"),
)


def sha256(data: bytes) -> str:
    """In hex."""
    return str(_sha256(data).hexdigest())


def found(path: str) -> dict[str, Any]:
    """What stands at a path: `kind` (`absent`, `file`, `link`, `folder`, `fifo`, `other`), its `status`, its `data`.

    A FIFO is not opened, a link not followed. Raises `OSError`.
    """
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {"kind": "absent"}
    kind = next((word for test, word in KINDS if test(status.st_mode)), "other")
    if kind == "link":
        return {"kind": kind, "status": status, "link": os.readlink(path)}
    return {"kind": kind, "status": status, **({"data": content(path)} if kind == "file" else {})}


def content(path: str) -> bytes:
    """A regular file of at most 16 MiB. Raises `OSError`, `Refusal`."""
    with open(os.open(path, READ), "rb", closefd=True) as file:
        data = file.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise Refusal("too-large", "%s: larger than %d MiB" % (path, LARGEST_BYTES >> 20))
    return data


def hash_at(path: str) -> str | None:
    """The sha256 of a file; `None`: nothing is there. Refuses everything that is no regular file."""
    here = found(path)
    if here["kind"] == "absent":
        return None
    if here["kind"] != "file":
        raise Refusal("not-a-file", "%s: is a %s, not a file" % (path, here["kind"]))
    return sha256(here["data"])


def owner(status: os.stat_result) -> str:
    """`root:root`."""
    try:
        user = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        user = str(status.st_uid)
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    return "%s:%s" % (user, group)


def replace(path: str, data: bytes, mode: int, ids: tuple[int, int] | None = None) -> None:
    """Write beside `path`, fsync, rename over it, fsync the folder. `ids`: owner and group. Raises `Refusal`."""
    part = "%s.dflash-%s" % (path, os.urandom(4).hex())
    try:
        write(part, data, mode, ids, access(path, mode))
        os.replace(part, path)
        sync_folder(os.path.dirname(path))
    except OSError as problem:
        drop(part)
        raise refusal_of(problem, path) from problem


def access(path: str, mode: int) -> dict[str, bytes]:
    """The access list and the label of a file, for the one that takes its place; nothing where it has none.

    Where `mode` lets its owner alone write, so does the list.
    """
    kept = {}
    for name in (ACL, LABEL):
        with suppress(OSError):
            kept[name] = os.getxattr(path, name, follow_symlinks=False)
    if ACL in kept and not mode & 0o022:
        kept[ACL] = _unwritable(kept[ACL])
    return kept


def _unwritable(acl: bytes) -> bytes:
    """Without the others' right to write: a version, then entries of tag, rights, id (linux/posix_acl_xattr.h)."""
    kept = bytearray(acl)
    for entry in range(4, len(kept), 8):
        if kept[entry] != ACL_OWNER:
            kept[entry + 2] &= ~ACL_WRITE
    return bytes(kept)


def write(
    path: str,
    data: bytes,
    mode: int,
    ids: tuple[int, int] | None = None,
    kept: dict[str, bytes] | None = None,
) -> None:
    """A new file, readable by nobody else before it is whole. `kept`: see `access`. Raises `OSError`."""
    descriptor = os.open(path, FRESH, 0o600)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if ids is not None:
            os.fchown(descriptor, ids[0], ids[1])
        os.fchmod(descriptor, mode)
        for name, value in (kept or {}).items():
            _give(descriptor, name, value)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _give(descriptor: int, name: str, value: bytes) -> None:
    try:
        os.setxattr(descriptor, name, value)
    except OSError:
        if name != LABEL:  # a policy may give it by itself
            raise


@contextmanager
def acting_as(folder: str) -> Iterator[None]:
    """Write by the rights of the folder's owner: nothing that he puts there leads a write of root elsewhere."""
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        status = os.stat("/")
    if os.geteuid() != 0 or status.st_uid == 0:
        yield
        return
    os.setegid(status.st_gid)
    os.seteuid(status.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def remove(path: str) -> None:
    """Have nothing at `path`, also after a power cut. Raises `Refusal`."""
    try:
        os.unlink(path)
        sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise refusal_of(problem, path) from problem


def drop(path: str) -> None:
    """Remove what may not be there; trouble with it is no news."""
    with suppress(OSError):
        os.unlink(path)


def sync_folder(folder: str) -> None:
    """Have its names on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: str, mode: int = 0o700) -> None:
    """With those above it. Raises `Refusal`."""
    if os.path.isdir(folder):
        return
    make_folder(os.path.dirname(folder), mode)
    try:
        os.mkdir(folder, mode)
        sync_folder(os.path.dirname(folder))
    except FileExistsError:
        pass
    except OSError as problem:
        raise refusal_of(problem, folder) from problem


def parts(folder: str) -> list[str]:
    """Files on their way that an earlier push left in a folder."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if PART.search(name)]
