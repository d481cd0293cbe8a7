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
export TZ=UTC
part() { printf '\n%s %s\n' "$mark" "$1"; }
ended() { printf '\n%s = %s\n' "$mark" "$1"; }

part host
read -r boot </proc/sys/kernel/random/boot_id && echo "$boot"
date +%s.%N
ended "$?"

part manager
if [ -d /run/systemd/system ]; then
  set +f
  for library in /usr/lib/systemd/libsystemd-shared-*.so /usr/lib/*/systemd/libsystemd-shared-*.so; do
    [ -e "$library" ] || continue
    version=${library##*-shared-}
    version=${version%%[!0-9]*}
    break
  done
  set -f
  if [ -n "$version" ]; then echo "Version=$version"; else systemctl show --property=Version 2>&1; fi
  ended "$?"
else
  echo 'not been booted with systemd'
  ended 1
fi

part units
etc=/etc/systemd run=/run/systemd own=/usr/local/lib/systemd lib=/usr/lib/systemd
if [ "$manager" = user ]; then
  export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
  folders="$HOME/.config/systemd/user $XDG_RUNTIME_DIR/systemd/user $etc/user $run/user $own/user $lib/user"
else
  folders="$etc/system $run/system $run/generator $run/transient $own/system $lib/system /lib/systemd/system"
fi
files=
for pattern; do
  case $pattern in *[*?[]*) ;; *) continue ;; esac
  for folder in $folders; do
    set +f
    for path in "$folder"/$pattern; do
      case $path in *@.* | *.d | *.wants | *.requires) continue ;; esac
      [ ! -e "$path" ] && [ ! -L "$path" ] || files="$files ${path##*/}"
    done
    set -f
  done
done
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
"""Values come in as arguments only; nothing is ever put into this text.

Each process here is paid on every host, and `systemctl list-unit-files` costs PID 1 more than all
the rest: unit files are found by their names in the folders of systemd.unit(5) instead.
"""


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
