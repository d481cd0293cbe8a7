"""Lines that tell a cause by themselves (crash-log forms, part 6).

Adding a form: one `form`, and a sample log beside it; those of containers and launchers are in `forms_keepers`.
"""

from __future__ import annotations

import re

from dflashtui.diagnosis.form import Form, Weight, form
from dflashtui.diagnosis.forms_keepers import KEEPERS

FATAL, TELLING, EXPLICIT, STATUS, SIGNALLED, ASSERTED = (
    Weight.FATAL,
    Weight.TELLING,
    Weight.EXPLICIT,
    Weight.STATUS,
    Weight.SIGNALLED,
    Weight.ASSERTED,
)
NAMED_RANK = re.compile(r"(?:local_rank: |(?<![\w-])[Rr]ank[ :=]{1,2})(?P<rank>\d+)")
FORMS: tuple[Form, ...] = (
    # the kernel
    form(
        "kernel-oom",
        "killed process",
        r"(?P<text>(?:Out of memory|Memory cgroup out of memory|oom-kill)[^\n]{0,40}Killed process (?P<pid>\d+)[^\n]*)",
        EXPLICIT,
        "host-oom",
    ),
    form("kernel-oom", "oom-kill:", r"(?P<text>oom-kill:constraint=.*)", TELLING, "host-oom"),
    form(
        "slurm",
        "slurmstepd: error: detected",
        r"(?P<text>Detected \d+ oom[-_]kill events?.*)",
        EXPLICIT,
        "host-oom",
    ),
    form("segv", "segfault at", r"(?P<text>(?<!\S)\S+\[(?P<pid>\d+)\]: segfault at .*)", TELLING, "segfault"),
    form("trap", "traps:", r"(?P<text>traps: \S+\[(?P<pid>\d+)\] trap invalid opcode.*)", TELLING, "unsupported-arch"),
    # loaders and shells
    form(
        "python-m",
        "no module named",
        r"(?:^|\s)/?\S{0,300}python[\d.]{0,6}: (?P<text>No module named .*)",
        FATAL,
        "missing-module",
    ),
    form(
        "python-m",
        "error while finding module",
        r"python[\d.]{0,6}: (?P<text>Error while finding module specification for .*)",
        FATAL,
    ),
    form("python-m", "can't open file", r"python[\d.]{0,6}: (?P<text>can't open file .*)", FATAL, "systemd-exec"),
    form(
        "loader",
        "error while loading shared libraries",
        r"(?P<text>error while loading shared libraries: .*)",
        FATAL,
        "shared-library",
    ),
    form("loader", "symbol lookup error", r"(?P<text>symbol lookup error: .*)", FATAL, "abi-mismatch"),
    form(
        "loader",
        "not found (required by",
        r"(?P<text>(?<!\S)\S+: version [`'\"]\S+' not found \(required by .*)",
        FATAL,
        "abi-mismatch",
    ),
    form(
        "shell",
        "command not found",
        r"^(?P<text>(?:\S+: )?line \d+: .{1,300}: command not found)$",
        FATAL,
        "systemd-exec",
    ),
    form(
        "shell",
        "command not found",
        r"^(?P<text>(?:\S*sh|\S+): (?:\d+: )?.{1,300}: command not found)$",
        FATAL,
        "systemd-exec",
    ),
    form(
        "shell",
        "not found",
        r"^(?P<text>(?:\S+: )?(?:line )?\d+: (?:exec: )?[\w./+-]{1,300}: not found)$",
        FATAL,
        "systemd-exec",
    ),
    form(
        "shell",
        "exec: ",
        r"(?P<text>exec: .{1,300}(?:not found|No such file or directory|executable file not found.*|"
        r"permission denied.*))",
        FATAL,
        "systemd-exec",
    ),
    form(
        "env",
        "no such file or directory",
        r"(?P<text>(?:/usr/bin/)?env: .{1,300}: No such file or directory)$",
        FATAL,
        "systemd-exec",
    ),
    form(
        "shell",
        "no such file or directory",
        r"(?P<text>\S{1,300}: line \d+: .{1,300}: No such file or directory)$",
        FATAL,
        "systemd-exec",
    ),
    form(
        "shell",
        "permission denied",
        r"(?P<text>\S{1,300}: line \d+: .{1,300}: Permission denied)$",
        FATAL,
        "permission",
    ),
    form("shell", "cannot execute", r"(?P<text>\S{1,300}: .{0,300}cannot execute.*)", FATAL, "systemd-exec"),
    form("shell", "exec format error", r"(?P<text>.{0,300}[Ee]xec format error)", FATAL, "systemd-exec"),
    form("shell", "bad interpreter", r"(?P<text>.{1,300}: bad interpreter: .*)", FATAL, "systemd-exec"),
    form("shell-signal", "killed", r"(?P<text>\S{1,300}: line \d+: +\d+ Killed\b.*)", STATUS, "host-oom"),
    form(
        "shell-signal",
        "segmentation fault",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Segmentation fault\b.*)",
        SIGNALLED,
        "segfault",
    ),
    form(
        "shell-signal",
        "bus error",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Bus error\b.*)",
        SIGNALLED,
        "resource-limit",
    ),
    form(
        "shell-signal",
        "illegal instruction",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Illegal instruction\b.*)",
        SIGNALLED,
        "unsupported-arch",
    ),
    form(
        "shell-signal",
        "abort",
        r"(?P<text>(?:\S{1,300}: line \d+: +\d+ )?Aborted\b(?: +\(core dumped\).*)?)$",
        SIGNALLED,
        "abort",
    ),
    form("killed", "killed", r"(?P<text>Killed)$", SIGNALLED, "host-oom"),
    # wrong use
    form(
        "argparse",
        ": error: ",
        r"(?:[\w./ -]{1,200}): error: (?P<text>(?:unrecognized arguments|argument |the following arguments|"
        r"one of the arguments|ambiguous option|invalid choice|not allowed|expected |no such|too (?:few|many)|"
        r"unknown ).*)",
        FATAL,
        "bad-argument",
    ),
    form("argparse", ": error: ", r"^[\w.-]{1,80}(?: [\w-]{1,40}){0,3}: error: (?P<text>.*)", FATAL),
    form(
        "click",
        "error: ",
        r"^(?:Error|error): (?P<text>(?:No such (?:option|command)|Missing (?:option|argument|parameter)|"
        r"Invalid value|Got unexpected|Option |unexpected argument|unrecognized|invalid value|unknown (?:flag|"
        r"shorthand|command|argument|option)|the following required|a value is required|invalid argument|"
        r"argument|required flag|flag |Found argument|The following required).*)",
        FATAL,
        "bad-argument",
    ),
    form(
        "go-flag", "flag provided but not defined", r"(?P<text>flag provided but not defined.*)", FATAL, "bad-argument"
    ),
    form("getopt", "option", r"(?P<text>(?<!\S)\S+: (?:unrecognized|invalid|unknown) option.*)", FATAL, "bad-argument"),
    form(
        "typer-box",
        "│",
        r"^│ (?P<text>(?:No such (?:option|command)|Missing (?:option|argument|parameter)|Invalid value|"
        r"Got unexpected|Option ).{0,300}?) *│$",
        FATAL,
        "bad-argument",
    ),
    form("llama", "error: ", r"^error: (?P<text>.{1,400})$", TELLING),
    # native
    form("glibc", "(): ", r"^(?P<text>(?:free|realloc|munmap_chunk|malloc)\(\): .*)", FATAL, "abort"),
    form("glibc", "double free", r"(?P<text>double free or corruption.*)", FATAL, "abort"),
    form(
        "glibc",
        "corrupted",
        r"^(?P<text>(?:corrupted (?:size|double|unsorted)|malloc\(\):|free\(\):|malloc_consolidate).*)",
        FATAL,
        "abort",
    ),
    form("glibc", "smashing", r"(?P<text>\*\*\* stack smashing detected \*\*\*.*)", FATAL, "abort"),
    form("glibc", "buffer overflow", r"(?P<text>\*\*\* buffer overflow detected \*\*\*.*)", FATAL, "abort"),
    form(
        "assert",
        "assertion",
        r"(?P<text>(?P<file>[\w./+-]{1,300}):(?P<line>\d+): .{1,600}: Assertion [`'].{1,600}' failed\.?)",
        FATAL,
        "abort",
    ),
    form(
        "device-assert",
        "assertion",
        r"(?P<text>(?<!\S)\S+\.cuh?:\d+: .{1,300}: block: \[.{1,60}\], thread: \[.{1,60}\] Assertion .*)",
        TELLING,
        "cuda-error",
    ),
    form("ggml", "ggml_assert", r"(?P<text>(?:(?P<file>[\w./+-]{1,300}):(?P<line>\d+): )?GGML_ASSERT\(.*)", ASSERTED),
    form(
        "ggml",
        "ggml_assert: ",
        r"(?P<text>GGML_ASSERT: (?P<file>[\w./\\:+-]{1,300}):(?P<line>\d+): .*)",
        ASSERTED,
    ),
    form(
        "ggml",
        ": fatal error",
        r"(?P<text>(?P<file>[\w./+-]{1,300}\.(?:c|cc|cpp|cu|h|cuh|m)):(?P<line>\d+): fatal error)$",
        STATUS,
        "abort",
    ),
    form(
        "ggml",
        "cuda error",
        r"(?P<text>(?:(?P<file>[\w./+-]{1,300}\.(?:cu|cpp)):(?P<line>\d+): |^)CUDA error)$",
        STATUS,
        "cuda-error",
    ),
    form("rocm", "memory access fault by gpu", r"(?P<text>Memory access fault by GPU.*)", FATAL, "cuda-error"),
    form("rocm", "hsa_status_error", r"(?P<text>(?:Queue \S{1,40} aborting with error : )?HSA_STATUS_ERROR.*)", FATAL),
    form("watchdog", "watchdog timeout", r"^(?P<text>Watchdog timeout.*)", FATAL, "timeout"),
    # uvicorn and friends
    form("bind", "address", r"(?P<text>\[Errno (?:98|48)\] .*)", FATAL, "port-in-use"),
    form(
        "bind",
        "bind",
        r"(?P<text>(?:listen tcp|couldn't bind|Error: listen|bind: |bind\(\)).{0,300}(?:in use|EADDRINUSE).*)",
        FATAL,
        "port-in-use",
    ),
    form(
        "bind", "listen", r"(?P<text>(?:listen tcp|Error: listen|.{0,60}failed to listen on).*)", FATAL, "port-in-use"
    ),
    form("asgi", "error loading asgi app", r"(?P<text>Error loading ASGI app\..*)", FATAL, "missing-module"),
    form("gunicorn", "connection in use", r"(?P<text>Connection in use: .*)", TELLING, "port-in-use"),
    # compilers
    form(
        "compiler",
        ": fatal error:",
        r"(?P<text>(?P<file>[\w./+-]{1,400}):(?P<line>\d+)(?::\d+)?: fatal error: .*)",
        TELLING,
        "kernel-compile",
    ),
    form("compiler", "ptxas", r"(?P<text>ptxas (?:fatal|error) ?.*)", TELLING, "kernel-compile"),
    form("compiler", "nvcc", r"(?P<text>nvcc fatal .*)", TELLING, "kernel-compile"),
    # NCCL says more than the exception behind it
    form("nccl-warn", "nccl warn", r"NCCL WARN (?P<text>.*)", TELLING, None),
    *KEEPERS,
)
XID = re.compile(r"NVRM: .{0,60}?(?P<text>Xid \(PCI:[^)]{1,40}\): (?P<xid>\d{1,3}),?.*)")
FALLEN = re.compile(r"(?P<text>NVRM: .{0,100}(?:fallen off the bus|GPU.{0,40} is lost).*)")


def form_of(text: str) -> tuple[Form, re.Match[str]] | None:
    """The first form that the line has."""
    lower = text.lower()
    for one in FORMS:
        if one.word in lower:
            match = one.pattern.search(text)
            if match:
                return one, match
    return None
