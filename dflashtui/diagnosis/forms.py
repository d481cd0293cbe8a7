"""Lines that tell a cause by themselves (crash-log forms, part 6).

Adding a form: one `Form`, and a sample log beside it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple


class Weight(IntEnum):
    """How much a line alone says; the smaller goes first."""

    EXPLICIT = 0
    """It names the end of a process and its reason: the kernel's killer, a lost GPU, a step of the manager."""
    FATAL = 1
    """A program ends with such a line."""
    TELLING = 2
    """A cause, if the process ends."""
    GENERAL = 3
    """An error, of which nothing more is known."""
    SIGNALLED = 4
    """A process was ended by a signal that tells a reason."""
    STATUS = 5
    """An exit status or a signal."""


class Form(NamedTuple):
    """`word`: what the line holds, in lower case, asked first because it is cheap. Groups: `text`, `file`, `line`."""

    name: str
    word: str
    pattern: re.Pattern[str]
    weight: Weight
    kind: str | None = None
    """`None`: the text decides."""


def _form(name: str, word: str, pattern: str, weight: Weight, kind: str | None = None) -> Form:
    return Form(name, word, re.compile(pattern), weight, kind)


FATAL, TELLING, EXPLICIT, STATUS, SIGNALLED = (
    Weight.FATAL,
    Weight.TELLING,
    Weight.EXPLICIT,
    Weight.STATUS,
    Weight.SIGNALLED,
)
_FATAL_SIGNAL = r"(?:4|6|7|8|9|11|ILL|ABRT|BUS|FPE|KILL|SEGV|SIGILL|SIGABRT|SIGBUS|SIGFPE|SIGKILL|SIGSEGV)\b"
_FATAL_CODE = r"(?:-(?:4|6|7|8|9|11)|13[245679])\b"
OTHERS_SAY = ("slurmstepd: ", "srun: ", "docker: ", "Error response from daemon: ")
"""Begins of lines that are no part of a message: they are written by those who look after the process."""
NAMED_RANK = re.compile(r"(?:local_rank: |(?<![\w-])[Rr]ank[ :=]{1,2})(?P<rank>\d+)")
FORMS: tuple[Form, ...] = (
    # the kernel
    _form(
        "kernel-oom",
        "killed process",
        r"(?P<text>(?:Out of memory|Memory cgroup out of memory|oom-kill)[^\n]{0,40}Killed process (?P<pid>\d+)[^\n]*)",
        EXPLICIT,
        "host-oom",
    ),
    _form("kernel-oom", "oom-kill:", r"(?P<text>oom-kill:constraint=.*)", TELLING, "host-oom"),
    _form(
        "slurm",
        "slurmstepd: error: detected",
        r"(?P<text>Detected \d+ oom[-_]kill events?.*)",
        EXPLICIT,
        "host-oom",
    ),
    _form("segv", "segfault at", r"(?P<text>\S+\[(?P<pid>\d+)\]: segfault at .*)", TELLING, "segfault"),
    _form("trap", "traps:", r"(?P<text>traps: \S+\[(?P<pid>\d+)\] trap invalid opcode.*)", TELLING, "unsupported-arch"),
    # loaders and shells
    _form(
        "python-m",
        "no module named",
        r"(?:^|\s)/?\S{0,300}python[\d.]{0,6}: (?P<text>No module named .*)",
        FATAL,
        "missing-module",
    ),
    _form(
        "python-m",
        "error while finding module",
        r"python[\d.]{0,6}: (?P<text>Error while finding module specification for .*)",
        FATAL,
    ),
    _form("python-m", "can't open file", r"python[\d.]{0,6}: (?P<text>can't open file .*)", FATAL, "systemd-exec"),
    _form(
        "loader",
        "error while loading shared libraries",
        r"(?P<text>error while loading shared libraries: .*)",
        FATAL,
        "shared-library",
    ),
    _form("loader", "symbol lookup error", r"(?P<text>symbol lookup error: .*)", FATAL, "abi-mismatch"),
    _form(
        "loader",
        "not found (required by",
        r"(?P<text>\S+: version [`'\"]\S+' not found \(required by .*)",
        FATAL,
        "abi-mismatch",
    ),
    _form(
        "shell",
        "command not found",
        r"^(?P<text>(?:\S+: )?line \d+: .{1,300}: command not found)$",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "shell",
        "command not found",
        r"^(?P<text>(?:\S*sh|\S+): (?:\d+: )?.{1,300}: command not found)$",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "shell",
        "not found",
        r"^(?P<text>(?:\S+: )?(?:line )?\d+: (?:exec: )?[\w./+-]{1,300}: not found)$",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "shell",
        "exec: ",
        r"(?P<text>exec: .{1,300}(?:not found|No such file or directory|executable file not found.*|"
        r"permission denied.*))",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "env",
        "no such file or directory",
        r"(?P<text>(?:/usr/bin/)?env: .{1,300}: No such file or directory)$",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "shell",
        "no such file or directory",
        r"(?P<text>\S{1,300}: line \d+: .{1,300}: No such file or directory)$",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "shell",
        "permission denied",
        r"(?P<text>\S{1,300}: line \d+: .{1,300}: Permission denied)$",
        FATAL,
        "permission",
    ),
    _form("shell", "cannot execute", r"(?P<text>\S{1,300}: .{0,300}cannot execute.*)", FATAL, "systemd-exec"),
    _form("shell", "exec format error", r"(?P<text>.{0,300}[Ee]xec format error)", FATAL, "systemd-exec"),
    _form("shell", "bad interpreter", r"(?P<text>.{1,300}: bad interpreter: .*)", FATAL, "systemd-exec"),
    _form("shell-signal", "killed", r"(?P<text>\S{1,300}: line \d+: +\d+ Killed\b.*)", STATUS, "host-oom"),
    _form(
        "shell-signal",
        "segmentation fault",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Segmentation fault\b.*)",
        SIGNALLED,
        "segfault",
    ),
    _form(
        "shell-signal",
        "bus error",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Bus error\b.*)",
        SIGNALLED,
        "resource-limit",
    ),
    _form(
        "shell-signal",
        "illegal instruction",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Illegal instruction\b.*)",
        SIGNALLED,
        "unsupported-arch",
    ),
    _form(
        "shell-signal",
        "abort",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Aborted\b(?: +\(core dumped\).*)?)$",
        SIGNALLED,
        "abort",
    ),
    _form("killed", "killed", r"(?P<text>Killed)$", SIGNALLED, "host-oom"),
    # systemctl status
    _form(
        "status",
        "(code=exited, status=",
        r"^ {0,9}(?:Main PID|Process): .{1,2000}(?P<text>\(code=exited, status=(?:2[0-3]\d|24[0-3])(?:/\S+)?\))",
        FATAL,
        "systemd-exec",
    ),
    _form(
        "status",
        "(code=exited, status=12",
        r"^ {0,9}(?:Main PID|Process): .{1,2000}(?P<text>\(code=exited, status=12[67](?:/\S+)?\))",
        STATUS,
        "systemd-exec",
    ),
    _form("status", "active: failed", r"^ {0,9}(?P<text>Active: failed .*)", STATUS),
    # wrong use
    _form(
        "argparse",
        ": error: ",
        r"(?:[\w./ -]{1,200}): error: (?P<text>(?:unrecognized arguments|argument |the following arguments|"
        r"one of the arguments|ambiguous option|invalid choice|not allowed|expected |no such|too (?:few|many)|"
        r"unknown ).*)",
        FATAL,
        "bad-argument",
    ),
    _form("argparse", ": error: ", r"^[\w.-]{1,80}(?: [\w-]{1,40}){0,3}: error: (?P<text>.*)", FATAL),
    _form(
        "click",
        "error: ",
        r"^(?:Error|error): (?P<text>(?:No such (?:option|command)|Missing (?:option|argument|parameter)|"
        r"Invalid value|Got unexpected|Option |unexpected argument|unrecognized|invalid value|unknown (?:flag|"
        r"shorthand|command|argument|option)|the following required|a value is required|invalid argument|"
        r"argument|required flag|flag |Found argument|The following required).*)",
        FATAL,
        "bad-argument",
    ),
    _form(
        "go-flag", "flag provided but not defined", r"(?P<text>flag provided but not defined.*)", FATAL, "bad-argument"
    ),
    _form("getopt", "option", r"(?P<text>\S+: (?:unrecognized|invalid|unknown) option.*)", FATAL, "bad-argument"),
    _form(
        "typer-box",
        "│",
        r"^│ (?P<text>(?:No such (?:option|command)|Missing (?:option|argument|parameter)|Invalid value|"
        r"Got unexpected|Option ).{0,300}?) *│$",
        FATAL,
        "bad-argument",
    ),
    _form("llama", "error: ", r"^error: (?P<text>.{1,400})$", TELLING),
    # native
    _form("glibc", "(): ", r"^(?P<text>(?:free|realloc|munmap_chunk|malloc)\(\): .*)", FATAL, "abort"),
    _form("glibc", "double free", r"(?P<text>double free or corruption.*)", FATAL, "abort"),
    _form(
        "glibc",
        "corrupted",
        r"^(?P<text>(?:corrupted (?:size|double|unsorted)|malloc\(\):|free\(\):|malloc_consolidate).*)",
        FATAL,
        "abort",
    ),
    _form("glibc", "smashing", r"(?P<text>\*\*\* stack smashing detected \*\*\*.*)", FATAL, "abort"),
    _form("glibc", "buffer overflow", r"(?P<text>\*\*\* buffer overflow detected \*\*\*.*)", FATAL, "abort"),
    _form(
        "assert",
        "assertion",
        r"(?P<text>(?P<file>[\w./+-]{1,300}):(?P<line>\d+): .{1,600}: Assertion [`'].{1,600}' failed\.?)",
        FATAL,
        "abort",
    ),
    _form(
        "device-assert",
        "assertion",
        r"(?P<text>\S+\.cuh?:\d+: .{1,300}: block: \[.{1,60}\], thread: \[.{1,60}\] Assertion .*)",
        TELLING,
        "cuda-error",
    ),
    _form("ggml", "ggml_assert", r"(?P<text>(?:(?P<file>[\w./+-]{1,300}):(?P<line>\d+): )?GGML_ASSERT\(.*)", FATAL),
    _form(
        "ggml",
        ": fatal error",
        r"(?P<text>(?P<file>[\w./+-]{1,300}\.(?:c|cc|cpp|cu|h|cuh|m)):(?P<line>\d+): fatal error)$",
        STATUS,
        "abort",
    ),
    _form("watchdog", "watchdog timeout", r"^(?P<text>Watchdog timeout.*)", FATAL, "timeout"),
    # uvicorn and friends
    _form("bind", "address", r"(?P<text>\[Errno (?:98|48)\] .*)", FATAL, "port-in-use"),
    _form(
        "bind",
        "bind",
        r"(?P<text>(?:listen tcp|couldn't bind|Error: listen|bind: |bind\(\)).{0,300}(?:in use|EADDRINUSE).*)",
        FATAL,
        "port-in-use",
    ),
    _form(
        "bind", "listen", r"(?P<text>(?:listen tcp|Error: listen|.{0,60}failed to listen on).*)", FATAL, "port-in-use"
    ),
    _form("asgi", "error loading asgi app", r"(?P<text>Error loading ASGI app\..*)", FATAL, "missing-module"),
    _form("gunicorn", "connection in use", r"(?P<text>Connection in use: .*)", TELLING, "port-in-use"),
    # compilers
    _form(
        "compiler",
        ": fatal error:",
        r"(?P<text>(?P<file>[\w./+-]{1,400}):(?P<line>\d+)(?::\d+)?: fatal error: .*)",
        TELLING,
        "kernel-compile",
    ),
    _form("compiler", "ptxas", r"(?P<text>ptxas (?:fatal|error) ?.*)", TELLING, "kernel-compile"),
    _form("compiler", "nvcc", r"(?P<text>nvcc fatal .*)", TELLING, "kernel-compile"),
    # NCCL says more than the exception behind it
    _form("nccl-warn", "nccl warn", r"NCCL WARN (?P<text>.*)", TELLING, None),
    # containers and launchers
    _form("container", "oomkilled", r"(?P<text>.*OOMKilled.*)", EXPLICIT, "host-oom"),
    _form(
        "container",
        "could not select device driver",
        r"(?P<text>could not select device driver.*)",
        FATAL,
        "gpu-unavailable",
    ),
    _form("container", "nvidia-container-cli", r"(?P<text>nvidia-container-cli: .*(?:unsatisfied|mismatch).*)", FATAL),
    _form("container", "nvidia-container-cli", r"(?P<text>nvidia-container-cli: .*)", FATAL, "gpu-unavailable"),
    _form(
        "signalled",
        "signal",
        rf"(?P<text>.{{0,200}}(?:signaled to shutdown with signal|died with <Signals\.|(?:terminated|"
        rf"killed) by signal) ?{_FATAL_SIGNAL}.*)",
        SIGNALLED,
    ),
    _form(
        "signalled",
        "signal ",
        rf"(?P<text>Signal {_FATAL_SIGNAL} \(SIG[A-Z]+\) received by PID (?P<pid>\d+).*)",
        SIGNALLED,
    ),
    _form("exit-code", "exit code", rf"(?P<text>.{{0,200}}[Ee]xit code:? {_FATAL_CODE}.*)", SIGNALLED),
    _form("exit-code", "exitcode", rf"(?P<text>.{{0,200}}exitcode ?[:=] ?{_FATAL_CODE}.*)", SIGNALLED),
    _form("exit-code", "return code", rf"(?P<text>.{{0,2000}}return ?code:? ?=? ?{_FATAL_CODE}.*)", SIGNALLED),
    _form("exit-code", "exited with code", r"(?P<text>.{0,200}exited with code (?!0\b)-?\d+.*)", STATUS),
    _form("exit-code", "exit status", r"(?P<text>.{0,200}exit status (?!0\b)\d+.*)", STATUS),
    _form("panic", "kernel panic", r"(?P<text>Kernel panic.*)", EXPLICIT),
)
XID = re.compile(r"NVRM: .{0,60}?(?P<text>Xid \(PCI:[^)]{1,40}\): (?P<xid>\d{1,3}),?.*)")
FALLEN = re.compile(r"(?P<text>NVRM: .{0,100}(?:fallen off the bus|GPU.{0,40} is lost).*)")


def form_of(text: str) -> tuple[Form, re.Match[str]] | None:
    """The first form that the line has."""
    lower = text.lower()
    for form in FORMS:
        if form.word in lower:
            match = form.pattern.search(text)
            if match:
                return form, match
    return None
