"""The command line: parse, then import only what the command needs."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

from dflashtui.cli.parser import parse
from dflashtui.cli.parser_commands import COMMANDS
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from dflashtui.cli.parser import Options

OUTPUT_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
WITHOUT_GC = frozenset({"console", "diagnose"})
"""The console enables it behind its first picture; a diagnosis makes no garbage that refers to itself."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code (contract, part 2)."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins costs the first picture 25 ms
    gc.disable()  # imports leave no garbage: looking for it among them costs the first picture 35 ms
    try:
        return _answered(argv)
    finally:
        gc.freeze()  # nor is any left at the end, where looking for it takes longer than all else: 0.1 to 0.4 s
        gc.enable()


def _answered(argv: Sequence[str] | None) -> int:
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
    except BrokenPipeError:
        return _reader_is_gone()
    with nullcontext() if options.command == "console" else _discreet_output():
        return _ended(options)


def _discreet_output() -> AbstractContextManager[None]:
    """Imported for commands alone: the first picture of the console needs none of it."""
    from dflashtui.cli.discreet import discreet_output

    return discreet_output()


def _ended(options: Options) -> int:
    try:
        return _run(options)
    except ConfigError as wrong:
        return _complain(wrong.problems, ExitCode.USAGE)
    except DflashError as failed:
        return _complain([str(failed)], ExitCode.UNKNOWN if failed.transient else ExitCode.FAILED)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_is_gone()
    except Exception as fault:  # noqa: BLE001 - the one place that tells of our own faults
        return _own_fault(fault)


def _own_fault(fault: Exception) -> ExitCode:
    """Python's own words would be raw, and its status, 1, would say that there are only warnings."""
    if isinstance(fault, ExceptionGroup) and fault.split(BrokenPipeError)[1] is None:
        return _reader_is_gone()
    if isinstance(fault, OSError) and fault.filename is None and fault.errno in OUTPUT_FAULTS:
        _forget_output()
        return _complain([f"the output could not be written: {fault.strerror}"], ExitCode.UNKNOWN)
    from dflashtui.cli.discreet import tell_own_fault

    tell_own_fault(fault)
    return ExitCode.UNKNOWN


def _reader_is_gone() -> ExitCode:
    """`| head`: no traceback."""
    _forget_output()
    return ExitCode.OK


def _forget_output() -> None:
    """So that the flush at exit has nothing to complain of either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(options: Options) -> int:
    if options.verbose and options.command != "console":
        from dflashtui.cli.logging_setup import log_to_stderr

        log_to_stderr()
    if options.command not in WITHOUT_GC:
        gc.enable()
    if options.command != "console":
        _end_as_by_ctrl_c()
    code = _runner(options.command)(options)
    sys.stdout.flush()  # here a full disk can still be told
    return code


def _end_as_by_ctrl_c() -> None:
    """SIGTERM, and a terminal that is gone, let an action say how it left its hosts, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda _number, _frame: signal.raise_signal(signal.SIGINT))


def _runner(command: str) -> Callable[[Options], int]:
    """`run_NAME` of the module `NAME` of this package: each command imports what it needs, no other pays for it."""
    name = COMMANDS[command].module if command in COMMANDS else command
    run: Callable[[Options], int] = getattr(import_module(f"dflashtui.cli.{name}"), f"run_{name}")
    return run


def _complain(problems: Sequence[str], code: ExitCode) -> ExitCode:
    for problem in problems:
        sys.stderr.write(f"dflashtui: {printable(problem)}\n")
    return code
