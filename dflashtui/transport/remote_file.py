"""Writing a file on a host by one command: whole and on disk, or not at all."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import PurePosixPath

SCRIPT = """
target=$1 mode=$2 size=$3 sum=$4
fail() { echo "$*" >&2; exit 1; }
[ ! -d "$target" ] || fail "$target: is a directory"
fresh=$(mktemp "$target.dflash-XXXXXXXX") || exit 1
trap 'rm -f -- "$fresh"' EXIT
trap 'exit 1' HUP INT PIPE TERM
cat >"$fresh" || exit 1
came=$(wc -c <"$fresh")
[ "$came" -eq "$size" ] || fail "$target: $came of $size bytes arrived"
if command -v sha256sum >/dev/null 2>&1; then
  [ "$(sha256sum <"$fresh")" = "$sum  -" ] || fail "$target: arrived damaged"
fi
chmod "$mode" "$fresh" || exit 1
sync "$fresh" 2>/dev/null || sync
mv -f -- "$fresh" "$target" || exit 1
folder=$(dirname -- "$target")
sync "$folder" 2>/dev/null || sync
"""
"""The name of the fresh file ends in no unit suffix, so systemd does not read it. A cut shows in size and sum:
`cat` cannot tell it from the end. `sync FILE` is fsync(2) (coreutils 8.24); elsewhere it means all files."""


def put_argv(data: bytes, path: PurePosixPath, mode: int) -> tuple[str, ...]:
    """The command; it reads `data` from stdin. It ends with 1 and words on stderr, leaving the old file alone."""
    numbers = (f"{mode:o}", str(len(data)), hashlib.sha256(data).hexdigest())
    return ("/bin/sh", "-c", SCRIPT, "sh", str(path), *numbers)
