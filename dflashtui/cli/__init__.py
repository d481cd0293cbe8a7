"""The command line: parse, then import only what the command needs."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.parser import parse
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options


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
        return _run(parse(sys.argv[1:] if argv is None else argv))
    except ConfigError as wrong:
        return _complain(wrong.problems, ExitCode.USAGE)
    except DflashError as failed:
        return _complain([str(failed)], ExitCode.UNKNOWN if failed.transient else ExitCode.FAILED)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_is_gone()
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        return _reader_is_gone()


def _reader_is_gone() -> ExitCode:
    """`| head`: no traceback, and none from the flush at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK


def _run(options: Options) -> int:
    if options.verbose and options.command != "console":
        from dflashtui.cli.logging_setup import log_to_stderr

        log_to_stderr()
    match options.command:
        case "console":
            from dflashtui.cli.console import run_console  # enables it behind the first picture

            return run_console(options)
        case "check":
            from dflashtui.cli.check import run_check

            gc.enable()
            return run_check(options)
        case "logs":
            from dflashtui.cli.logs import run_logs

            gc.enable()
            return run_logs(options)
        case "probe":
            from dflashtui.cli.probe import run_probe

            gc.enable()
            return run_probe(options)
        case "diagnose":
            from dflashtui.cli.diagnose import run_diagnose

            return run_diagnose(options)
        case _:
            from dflashtui.cli.act import run_action

            gc.enable()
            return run_action(options)


def _complain(problems: Sequence[str], code: ExitCode) -> ExitCode:
    for problem in problems:
        sys.stderr.write(f"dflashtui: {printable(problem)}\n")
    return code
