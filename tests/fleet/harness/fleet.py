"""What tests hold in their hands: the running fleet, its hosts, and what may be done to them."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import gpus, network
from .host import Host, ssh

GPU_STATE = "/" + str(gpus.STATE)
HELPER_UNITS = ("sglang-*", "flood*", "counter*", "stubborn*", "oneshot*", "hostile*", "worker@*")


class TestFleet:
    """Three real hosts. Everything done through it is undone by `reset`, which runs after each test.

    A fleet that was attached to belongs to others too: there `reset` stops only the units that were started here.
    """

    __test__ = False

    def __init__(self, folder: Path, number: int, hosts: Mapping[str, Host], *, attached: bool) -> None:
        self.folder = folder
        self.hosts = hosts
        self.attached = attached
        self._number = number
        self._started: set[tuple[str, str]] = set()
        self._gpus_changed: set[str] = set()
        self._cut: set[str] = set()
        self._files: dict[tuple[str, str], bytes | None] = {}

    @property
    def config_path(self) -> Path:
        """hosts.toml with the three hosts."""
        return self.folder / "hosts.toml"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def identity_file(self) -> Path:
        return self.folder / "id_ed25519"

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F`: aliases gpu-a, gpu-b, gpu-c, strict host keys, the fleet's key."""
        return self.folder / "ssh_config"

    @property
    def console_address(self) -> str:
        """This machine as the hosts see it."""
        return network.console_address(self._number)

    def exec(self, host: str, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command on the host as root, beside SSH; works while the host is cut off. Look at the status."""
        return self.hosts[host].exec(*argv, stdin=stdin)

    def check(self, host: str, *argv: str, stdin: bytes = b"") -> bytes:
        """As exec, but gives the output and raises HarnessError on failure."""
        return self.hosts[host].check(*argv, stdin=stdin)

    def ssh(self, host: str, *argv: str, stdin: bytes = b"") -> bytes:
        """The output of a command over OpenSSH; `host` may be user@name."""
        return ssh(self.ssh_config, host, *argv, stdin=stdin)

    def cut(self, host: str) -> None:
        """Swallow silently what the host sends to the console; what the console sends still arrives there."""
        self._cut.add(host)
        network.cut(self._number, host)

    def join(self, host: str) -> None:
        """Undo `cut`."""
        network.join(self._number, host)
        self._cut.discard(host)

    def start(self, host: str, unit: str) -> subprocess.CompletedProcess[bytes]:
        """Start a unit behind the console's back; a failing start is a result, not an error."""
        self._started.add((host, unit))
        return self.exec(host, "systemctl", "start", "--", unit)

    def stop(self, host: str, unit: str) -> subprocess.CompletedProcess[bytes]:
        return self.exec(host, "systemctl", "stop", "--", unit)

    def show(self, host: str, unit: str) -> dict[str, str]:
        """The manager's properties of a unit, as text."""
        lines = self.check(host, "systemctl", "show", "--all", "--", unit).decode(errors="replace").splitlines()
        return {key: value for key, equals, value in (line.partition("=") for line in lines) if equals}

    def journal(self, host: str, unit: str, *matches: str) -> list[dict[str, Any]]:
        """The truth: every entry of the unit as read on the host itself, all fields."""
        output = self.check(host, "journalctl", "-q", "-o", "json", "--all", "-u", unit, *matches)
        return [json.loads(line) for line in output.splitlines()]

    def log_kernel(self, host: str, text: str, *, priority: int = 3) -> None:
        """A kernel line (`_TRANSPORT=kernel`), such as an Xid: the hosts have no kernel log of their own."""
        self.hosts[host].log_kernel(text, priority=priority)

    def write_file(self, host: str, path: str, data: bytes | str, *, mode: int = 0o644) -> None:
        """Replace a file of the host atomically, owned by root; `reset` brings the old one back."""
        self._files.setdefault((host, path), self.hosts[host].find_file(path))
        self.hosts[host].write_file(path, data.encode() if isinstance(data, str) else data, mode=mode)

    def read_file(self, host: str, path: str) -> bytes:
        return self.hosts[host].read_file(path)

    def set_gpu(self, host: str, index: int, **values: object) -> None:
        """Change what NVML says of one GPU; keys as in nvml/h200.state, None goes back to the default.

        `lost=True` makes every call answer "GPU is lost"; `hang="nvmlDeviceGetPowerUsage"` (or True: all) blocks.
        """
        self._change_gpus(host, gpus.with_values(self._gpu_state(host), f"gpu.{index}.", values))

    def set_driver(self, host: str, **values: object) -> None:
        """Change what NVML says of the whole host: `init=18` (mismatch), `init=9` (no driver), `count`, `hang`, …"""
        self._change_gpus(host, gpus.with_values(self._gpu_state(host), "", values))

    def fail_gpu_call(self, host: str, index: int, function: str, code: int) -> None:
        """Let one NVML function (name without _v2, _v3) of one GPU answer an error code."""
        self.set_gpu(host, index, **{f"error.{function}": code})

    def put_on_gpu(self, host: str, index: int, holder: int | str, memory_bytes: int) -> None:
        """Let a process (a pid of the host) or a unit's first process, whichever it is at the time, hold memory."""
        who = f"process {holder}" if isinstance(holder, int) else f"cgroup {gpus.unit_cgroup(holder)}"
        self._change_gpus(host, gpus.with_process(self._gpu_state(host), index, f"{who} {memory_bytes}"))

    def clear_gpu(self, host: str, index: int) -> None:
        """Take every process off a GPU."""
        self._change_gpus(host, gpus.without_processes(self._gpu_state(host), index))

    def _gpu_state(self, host: str) -> str:
        return self.read_file(host, GPU_STATE).decode()

    def _change_gpus(self, host: str, text: str) -> None:
        self._gpus_changed.add(host)
        self.hosts[host].write_file(GPU_STATE, text.encode())

    def reset(self) -> None:
        """Put every host back: booted, network joined, units stopped and forgotten, files and GPUs as they were."""
        for name in list(self._cut):
            self.join(name)
        for host in self.hosts.values():
            host.wait()
            self._stop_units(host)
        self._put_files_back()
        self._started.clear()

    def _stop_units(self, host: Host) -> None:
        units = [unit for where, unit in self._started if where == host.name] if self.attached else HELPER_UNITS
        if units:
            host.exec("systemctl", "kill", "--signal=KILL", "--", *units)
            host.check("systemctl", "stop", "--", *units)
            host.exec("systemctl", "reset-failed", "--", *units)

    def _put_files_back(self) -> None:
        for (host, path), data in self._files.items():
            self.hosts[host].restore_file(path, data)
        for host in self._gpus_changed:
            self.hosts[host].write_file(GPU_STATE, self.read_file(host, f"/{gpus.BOOT_STATE}"))
        for host in {host for host, path in self._files if "/systemd/" in path}:
            self.check(host, "systemctl", "daemon-reload")
        self._files.clear()
        self._gpus_changed.clear()
