"""Advice about the service itself: its type, its end, its log, its rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.unitfile.look import Advice, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look

YES = frozenset({"yes", "true", "on", "1"})
HOMES = ("/root/", "/home/", "/run/user/")
BREAKS_CUDA = {
    "PrivateDevices": "hides /dev/nvidia*",
    "MemoryDenyWriteExecute": "forbids the code that Triton and torch compile while they run",
    "PrivateNetwork": "leaves no network but a loopback of its own",
}


def kind(look: Look) -> Iterator[Advice]:
    """`Type=` decides what a successful start means."""
    entry = look.unit.last("Service", "Type")
    if not look.starts:
        return
    if look.type == "simple":
        message = "Type=simple: systemctl start reports success before the program is even executed"
        yield at(entry, "type-simple", "warning", message, "Type=exec: a wrong path, user or folder fails the start")
    elif look.type in {"notify", "notify-reload", "forking", "dbus"} and look.engine:
        message = f"Type={look.type}: {look.engine} never says that it is ready: the start ends in a time-out"
        yield at(entry, "type-never-ready", "error", message, "Type=exec")


def starts(look: Look) -> Iterator[Advice]:
    """How many commands there are to start."""
    entry = look.unit.last("Service", "ExecStart")
    if look.type != "oneshot" and len(look.starts) > 1:
        message = "more than one ExecStart=: systemd refuses the unit"
        yield at(
            entry, "several-starts", "error", message, "one command; in a drop-in write ExecStart= first, to reset"
        )
    elif entry is None and look.is_service and not look.unit.value("Service", "ExecStop"):
        yield at(None, "no-start", "error", "no ExecStart=: there is nothing to start", "ExecStart=/absolute/path …")


def ends(look: Look) -> Iterator[Advice]:
    """Who gets the signal at a stop."""
    entry = look.unit.last("Service", "KillMode")
    mode = entry.value if entry else "control-group"
    if mode in {"none", "process"}:
        message = f"KillMode={mode}: worker processes survive a stop and keep the GPU's memory"
        yield at(entry, "kill-mode-leaves", "warning", message, "KillMode=mixed")
    elif mode == "control-group" and look.engine:
        message = "every worker gets SIGTERM at a stop, and their parent reports a crash"
        yield at(entry, "kill-mode", "warning", message, "KillMode=mixed: the server ends its workers itself")
    policy = look.unit.last("Service", "OOMPolicy")
    if policy and policy.value == "continue":
        message = "OOMPolicy=continue: after the kernel killed a worker the rest stays, and answers nothing"
        yield at(policy, "oom-continue", "warning", message, "OOMPolicy=stop")


def log(look: Look) -> Iterator[Advice]:
    """Whether the reason of a crash will be read."""
    for key in ("StandardOutput", "StandardError"):
        entry = look.unit.last("Service", key)
        if entry and entry.value.startswith(("null", "file:", "append:", "truncate:")):
            message = f"{key}={entry.value}: the journal does not have what it prints, nor has anything that reads it"
            yield at(entry, "log-elsewhere", "warning", message, f"{key}=journal")
    zero = look.unit.last("Service", "LogRateLimitIntervalSec") or look.unit.last("Service", "LogRateLimitBurst")
    if zero and zero.value in {"0", "0s"}:
        message = f"{zero.key}=0 means the default of journald, not: no limit (systemd 252)"
        yield at(zero, "log-limit-zero", "warning", message, "LogRateLimitIntervalSec=1s and LogRateLimitBurst=1000000")
    elif zero is None and look.engine:
        message = "journald drops what comes too fast, such as the tracebacks of eight workers at once"
        remedy = "LogRateLimitIntervalSec=1s and LogRateLimitBurst=1000000"
        yield at(None, "log-limit", "note", message, remedy)
    if look.is_python and "PYTHONUNBUFFERED" not in look.variables and not _is_unbuffered(look):
        message = "Python holds back what it prints until 8 KiB are full: the last words of a crash may be lost"
        yield at(None, "buffered-output", "note", message, "Environment=PYTHONUNBUFFERED=1")


def _is_unbuffered(look: Look) -> bool:
    return any("-u" in command.argv[1:3] for command in look.starts)


def rights(look: Look) -> Iterator[Advice]:
    """Hardening that CUDA does not survive, users that cannot reach the program."""
    for key, words in BREAKS_CUDA.items():
        entry = look.unit.last("Service", key)
        if entry and entry.value.lower() in YES and look.is_python:
            yield at(entry, "breaks-cuda", "error", f"{key}=yes {words}", f"leave {key}= out")
    programs = [command.program for command in look.starts if command.program.startswith(HOMES)]
    home = look.unit.last("Service", "ProtectHome")
    if programs and home and home.value.lower() in {*YES, "tmpfs"}:
        message = f"ProtectHome={home.value} hides {programs[0]}: the start fails with 203/EXEC"
        yield at(home, "home-hidden", "error", message, "ProtectHome=read-only, or a venv outside of the homes")
    user = look.unit.last("Service", "User")
    if user and user.value not in {"root", "0"} and any(program.startswith("/root/") for program in programs):
        message = f"User={user.value} may not look into /root, where {programs[0]} is"
        yield at(user, "program-of-root", "warning", message, "put the venv where that user can read it, such as /srv")


def boot(look: Look) -> Iterator[Advice]:
    """What becomes of it at boot."""
    if look.starts and not any(entry.section == "Install" for entry in look.unit.entries):
        message = "no [Install]: it cannot be enabled, and does not start at boot"
        yield at(None, "no-install", "note", message, "[Install] WantedBy=multi-user.target")
    ordered = next((one for one in look.unit.all("Unit", "After") if "network-online.target" in one.value), None)
    wanted = [one.value for key in ("Wants", "Requires") for one in look.unit.all("Unit", key)]
    if ordered and not any("network-online.target" in value for value in wanted):
        message = "After=network-online.target alone waits for nothing: nobody asks for that target"
        yield at(ordered, "online-not-wanted", "note", message, "Wants=network-online.target")


RULES = (kind, starts, ends, log, rights, boot)
