"""Why the host refuses an order, in a word for the console and a sentence for the person."""

from __future__ import annotations

import errno
import os

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class Refusal(Exception):
    """Nothing was changed by this step. `kind` is what the console branches on."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind
        self.words = words


def refusal_of(problem: OSError, path: str) -> Refusal:
    """The same, for what the kernel refused about `path`."""
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "/"
    if problem.errno in NO_SPACE:
        return Refusal("no-space", "%s: %s" % (folder, _space(folder, problem)))
    if problem.errno == errno.EFBIG:
        return Refusal("no-space", "%s: a limit on the size of files (ulimit -f) is too small for it" % path)
    if problem.errno == errno.EBUSY:
        return Refusal("mount", "%s: something is mounted there: unmount it first" % path)
    if problem.errno == errno.EROFS:
        return Refusal("read-only", "%s: the file system is read-only" % folder)
    if problem.errno in (errno.EACCES, errno.EPERM):
        return Refusal("no-permission", "%s: %s; immutable, or not yours" % (path, problem.strerror))
    words = str(problem.strerror or problem)
    return Refusal("failed", "%s: %s" % (path, words) if path else words)


def _space(folder: str, problem: OSError) -> str:
    try:
        found = os.statvfs(folder)
    except OSError:
        return str(problem.strerror)
    if found.f_files and not found.f_favail:
        return "no inodes left (0 of %d free)" % found.f_files
    return "%s (%d B free)" % (problem.strerror, found.f_bavail * found.f_frsize)
