"""One booted host: its container, its init process, and commands run inside."""

import os
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from . import cgroups
from .shell import HarnessError, run, wait_until

BOOT_SECONDS = 30
# systemd-nspawn with --keep-unit ends with 133 when the container asks for a reboot
# the open FIFO keeps init and journald from waiting for another end of /dev/kmsg
SUPERVISOR = 'echo $$ >"$CGROUP/cgroup.procs"; unset CGROUP; exec 3<>kmsg; while "$@"; [ $? -eq 133 ]; do :; done'
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd")


@dataclass(frozen=True, slots=True)
class Host:
    """A host by name, with the facts that tests need."""

    name: str
    address: str
    netns: str
    folder: Path
    """Where its overlay and console log lie, on the console machine."""
    cgroup: Path
    has_gpus: bool
    port: int = 22

    @property
    def leader_pid(self) -> int:
        """Its init process as seen from outside; another one after a reboot. HarnessError when it is down."""
        for scope in self.cgroup.glob("payload/init.scope"):
            for pid in (scope / "cgroup.procs").read_text().split():
                if _pid_inside(int(pid)) == 1:
                    return int(pid)
        raise HarnessError(f"{self.name}: no init process (console log: {self.folder / 'console.log'})")

    @property
    def root(self) -> Path:
        """Its root folder as it sees it, /run and /tmp too."""
        return Path(f"/proc/{self.leader_pid}/root")

    @property
    def is_up(self) -> bool:
        """Whether its manager has finished the boot, running or degraded, and sshd listens."""
        try:
            done = self.exec("systemctl", "is-system-running")
            listening = b":22 " in self.exec("ss", "-Hltn").stdout
        except HarnessError:
            return False
        return done.stdout.strip() in {b"running", b"degraded"} and listening

    def exec(self, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command on the host as root, not through SSH; the caller looks at the status."""
        return subprocess.run(self.command(*argv), input=stdin, capture_output=True, check=False)

    def command(self, *argv: str) -> tuple[str, ...]:
        """The argv that runs a command inside, with the environment of a fresh root shell."""
        target = ("nsenter", "--target", str(self.leader_pid), *NAMESPACES)
        return (*target, "--", "env", "-i", PATH, "LC_ALL=C.UTF-8", "HOME=/root", *argv)

    def check(self, *argv: str, stdin: bytes = b"") -> bytes:
        """The output of a command on the host; HarnessError when it fails."""
        done = self.exec(*argv, stdin=stdin)
        if done.returncode:
            problem = done.stderr.decode(errors="replace").strip()
            raise HarnessError(f"{self.name}: {' '.join(argv)}: exit {done.returncode}: {problem}")
        return done.stdout

    def start(self) -> None:
        """Boot the container as nobody's child, in a session of its own; `wait` for it."""
        cgroups.make(self.cgroup)
        os.mkfifo(self.folder / "kmsg", 0o600)
        nspawn = (
            "systemd-nspawn", "--register=no", "--keep-unit", f"--machine={self.name}", "--directory=root",
            f"--network-namespace-path=/run/netns/{self.netns}", "--kill-signal=SIGRTMIN+3", "--link-journal=no",
            "--resolv-conf=off", "--timezone=off", f"--bind={self.folder}/kmsg:/dev/kmsg", "--boot", "--console=pipe",
        )  # fmt: skip
        environment = {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1", "CGROUP": str(self.cgroup)}
        with (self.folder / "console.log").open("ab") as log:
            subprocess.run(
                ("setsid", "--fork", "/bin/sh", "-c", SUPERVISOR, "fleet-host", *nspawn),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=True,
            )

    def wait(self) -> None:
        """Return when it is up; HarnessError after BOOT_SECONDS."""
        wait_until(lambda: self.is_up, f"{self.name} to boot (see {self.folder}/console.log)", seconds=BOOT_SECONDS)

    def reboot(self) -> None:
        """Reboot in order and return when it is up again; its journal and files stay, /run does not."""
        old = self.leader_pid
        self.exec("systemctl", "reboot")
        wait_until(lambda: _pid_inside(old) == 0, f"{self.name} to shut down", seconds=BOOT_SECONDS)
        self.wait()

    def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Replace a file of the host atomically, as root."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.fleet-part")
        part.write_bytes(data)
        part.chmod(mode)
        part.rename(target)

    def log_kernel(self, text: str, *, priority: int) -> None:
        """Hand journald a record as the kernel's ring buffer would (dev-kmsg), and return when it has been read."""
        sequence = self._kernel_sequence()
        record = f"{priority},{sequence},{time.monotonic_ns() // 1000},-;{text}\n"
        with (self.folder / "kmsg").open("wb", buffering=0) as ring:
            ring.write(record.encode())
        wait_until(lambda: self._kernel_sequence() > sequence, f"journald of {self.name} to read /dev/kmsg", seconds=5)

    def _kernel_sequence(self) -> int:
        """The number that journald expects next; it drops records with a lower one."""
        return int.from_bytes(self.read_file("/run/systemd/journal/kernel-seqnum"), sys.byteorder)

    def find_file(self, path: str) -> bytes | None:
        """The text of a file, None where there is none."""
        target = self.root / path.lstrip("/")
        return target.read_bytes() if target.is_file() else None

    def restore_file(self, path: str, data: bytes | None) -> None:
        """Bring back what `find_file` gave, with the mode that the file has now."""
        target = self.root / path.lstrip("/")
        if data is None:
            target.unlink(missing_ok=True)
        else:
            self.write_file(path, data, mode=stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644)

    def read_file(self, path: str) -> bytes:
        return (self.root / path.lstrip("/")).read_bytes()


def _pid_inside(pid: int) -> int:
    """The process' id in its own, innermost namespace; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    line = next(line for line in status.splitlines() if line.startswith("NSpid:"))
    return int(line.split()[-1])


def ssh(config: Path, host: str, *argv: str, stdin: bytes = b"") -> bytes:
    """The output of a command over OpenSSH with the fleet's own client configuration."""
    return run("ssh", "-F", config, host, "--", *argv, stdin=stdin)
