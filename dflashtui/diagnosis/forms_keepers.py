"""Lines of those who look after a process: containers, launchers, Slurm, systemctl.

Adding a form: one `form`, and a sample log beside it.
"""

from __future__ import annotations

from dflashtui.diagnosis.form import Form, Weight, form

FATAL, EXPLICIT, STATUS, SIGNALLED = Weight.FATAL, Weight.EXPLICIT, Weight.STATUS, Weight.SIGNALLED
_FATAL_SIGNAL = r"(?:4|6|7|8|9|11|ILL|ABRT|BUS|FPE|KILL|SEGV|SIGILL|SIGABRT|SIGBUS|SIGFPE|SIGKILL|SIGSEGV)\b"
_FATAL_CODE = r"(?:-(?:4|6|7|8|9|11)|13[245679])\b"
OTHERS_SAY = ("slurmstepd: ", "srun: ", "docker: ", "Error response from daemon: ")
"""Begins of lines that are no part of a message: they are written by those who look after the process."""
KEEPERS: tuple[Form, ...] = (
    form(
        "status",
        "(code=exited, status=",
        r"^ {0,9}(?:Main PID|Process): .{1,2000}(?P<text>\(code=exited, status=(?:2[0-3]\d|24[0-3])(?:/\S+)?\))",
        FATAL,
        "systemd-exec",
    ),
    form(
        "status",
        "(code=exited, status=12",
        r"^ {0,9}(?:Main PID|Process): .{1,2000}(?P<text>\(code=exited, status=12[67](?:/\S+)?\))",
        STATUS,
        "systemd-exec",
    ),
    form("status", "active: failed", r"^ {0,9}(?P<text>Active: failed .*)", STATUS),
    form("container", "oomkilled", r"^(?P<text>.*OOMKilled.*)", EXPLICIT, "host-oom"),
    form(
        "container",
        "could not select device driver",
        r"(?P<text>could not select device driver.*)",
        FATAL,
        "gpu-unavailable",
    ),
    form(
        "container",
        "nvidia-container-cli",
        r"(?P<text>nvidia-container-cli: .{0,2000}(?:unsatisfied|mismatch).*)",
        FATAL,
    ),
    form("container", "nvidia-container-cli", r"(?P<text>nvidia-container-cli: .*)", FATAL, "gpu-unavailable"),
    form(
        "signalled",
        "signal",
        rf"(?P<text>.{{0,200}}(?:signaled to shutdown with signal|died with <Signals\.|(?:terminated|"
        rf"killed) by signal) ?{_FATAL_SIGNAL}.*)",
        SIGNALLED,
    ),
    form(
        "signalled",
        "signal ",
        rf"(?P<text>Signal {_FATAL_SIGNAL} \(SIG[A-Z]+\) received by PID (?P<pid>\d+).*)",
        SIGNALLED,
    ),
    form("exit-code", "exit code", rf"(?P<text>.{{0,200}}[Ee]xit code:? {_FATAL_CODE}.*)", SIGNALLED),
    form("exit-code", "exitcode", rf"(?P<text>.{{0,200}}exitcode ?[:=] ?{_FATAL_CODE}.*)", SIGNALLED),
    form("exit-code", "return code", rf"^(?P<text>.*return ?code:? ?=? ?{_FATAL_CODE}.*)", SIGNALLED),
    form("exit-code", "exited with code", r"(?P<text>.{0,200}exited with code (?!0\b)-?\d+.*)", STATUS),
    form("exit-code", "exit status", r"(?P<text>.{0,200}exit status (?!0\b)\d+.*)", STATUS),
    form("panic", "kernel panic", r"(?P<text>Kernel panic.*)", EXPLICIT),
)
