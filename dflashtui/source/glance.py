"""One look at a host by one command: what `--check` needs, at the cost of one channel and a handful of processes.

The console subscribes instead (see `fleet.serve`); here nothing is kept open and nothing is left behind.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError
from dflashtui.source.systemd_values import PROPERTIES
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.transport.base import Transport

GPU_FIELDS = (
    "index",
    "uuid",
    "pci.bus_id",
    "driver_version",
    "utilization.gpu",
    "utilization.memory",
    "memory.total",
    "memory.used",
    "power.draw",
    "enforced.power.limit",
    "temperature.gpu",
    "ecc.errors.uncorrected.volatile.total",
    "name",
)
"""Those that every driver still in use knows: one unknown field would cost all of them."""
SCRIPT = r"""
mark=$1 manager=$2 properties=$3 gpu_fields=$4
shift 4
set -f
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}" TZ=UTC
part() { printf '\n%s %s\n' "$mark" "$1"; }
ended() { printf '\n%s = %s\n' "$mark" "$1"; }

part host
read -r boot </proc/sys/kernel/random/boot_id && echo "$boot"
date +%s.%N
ended "$?"

part manager
systemctl "--$manager" show --property=Version 2>&1
ended "$?"

part units
files= globs=
for pattern; do
  case $pattern in *[*?[]*) globs="$globs $pattern" ;; esac
done
if [ -n "$globs" ]; then
  files=$(systemctl "--$manager" list-unit-files --no-legend --plain -- $globs 2>/dev/null |
    while read -r name _; do case $name in *@.*) ;; *) echo "$name" ;; esac; done)
fi
if [ $# -gt 0 ]; then
  systemctl "--$manager" show --timestamp=us+utc --property="$properties" -- "$@" $files 2>&1
fi
ended "$?"

part gpus
if command -v nvidia-smi >/dev/null 2>&1; then
  nvidia-smi --query-gpu="$gpu_fields" --format=csv,noheader,nounits 2>&1
  ended "$?"
  part processes
  apps=$(nvidia-smi --query-compute-apps=pid,used_memory,gpu_uuid,process_name --format=csv,noheader,nounits 2>&1)
  status=$?
  [ -z "$apps" ] || echo "$apps"
  ended "$status"
  pids=
  while IFS=', ' read -r pid _; do
    case $pid in *[!0-9]* | '') ;; *) pids="$pids $pid" ;; esac
  done <<-APPS
	$apps
	APPS
  set -- $pids
  for file in cgroup cmdline; do
    part "$file"
    case $file in cmdline) how=-z ;; *) how= ;; esac
    files=
    for pid; do files="$files /proc/$pid/$file"; done
    [ $# -eq 0 ] || grep -s -H -a $how '' $files
    ended 0
  done
elif [ -e /proc/driver/nvidia/version ]; then
  echo 'an NVIDIA driver is loaded, but nvidia-smi is not in PATH'
  ended 9
else
  ended 127
fi
"""
"""Values come in as arguments only; nothing is ever put into this text."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one section of the script printed, and its exit status (`None`: it never came to its end)."""

    text: bytes
    exit_status: int | None

    @property
    def words(self) -> str:
        """The first line of what it printed, for a message."""
        return next((line.strip() for line in decoded(self.text).splitlines() if line.strip()), "no message")


async def glance(transport: Transport, *, manager: str, patterns: Sequence[str]) -> dict[str, Part]:
    """Run the script; gives its parts by name. Raises `TransportLost`, `CommandFailed`, `DecodeError`."""
    mark = f"=={secrets.token_hex(8)}"
    argv = ("sh", "-c", SCRIPT, "sh", mark, manager, ",".join(PROPERTIES), ",".join(GPU_FIELDS), *patterns)
    done = (await transport.run(argv)).check()
    return parts(done.stdout, mark.encode())


def parts(output: bytes, mark: bytes) -> dict[str, Part]:
    """The sections of the script's output. Pure; raises `DecodeError` if there is none."""
    found: dict[str, Part] = {}
    for piece in output.split(b"\n" + mark + b" ")[1:]:
        name, _, text = piece.partition(b"\n")
        if name.startswith(b"= "):
            last = next(reversed(found), None)
            if last:
                found[last] = Part(found[last].text, int(name[2:]))
        else:
            found[name.decode("ascii", "replace")] = Part(text, None)
    if not found:
        raise DecodeError("look", output)
    return found
