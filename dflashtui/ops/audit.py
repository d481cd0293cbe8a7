"""One line for every change that was asked of a host."""

from __future__ import annotations

import json
import os
import pwd
from typing import TYPE_CHECKING

from dflashtui.errors import ActionRefused
from dflashtui.mask import masked

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.action import ActionResult
    from dflashtui.model.command import CommandResult
    from dflashtui.model.push import PushResult

FILE_NAME = "audit.jsonl"
FOLDER_MODE = 0o700
FILE_MODE = 0o600
# a FIFO in place of the file would otherwise hold the console until somebody reads it
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


class Audit:
    """`audit.jsonl` in a folder of the person's own; lines of several consoles do not mix."""

    def __init__(self, folder: Path, *, required: bool = True) -> None:
        """`required`: without the file nothing is changed on any host."""
        self.path = folder / FILE_NAME
        self._required = required

    def require(self) -> None:
        """Raise `ActionRefused` if an action could not be recorded, unless that was allowed."""
        if not self._required:
            return
        try:
            os.close(self._open())
        except OSError as problem:
            raise ActionRefused(f"{self._trouble(problem)}; nothing was sent") from problem

    def record(self, result: ActionResult) -> str | None:
        """Append one line. Gives the trouble in words if it could not be written; the action is done by then."""
        return self._append(entry(result))

    def record_command(self, result: CommandResult) -> str | None:
        """As `record`, for a command that is no verb on a unit."""
        return self._append(command_entry(result))

    def record_push(self, result: PushResult) -> str | None:
        """As `record`, for a push, a roll-back or a change of overlays."""
        return self._append(push_entry(result))

    def _append(self, kept: dict[str, object]) -> str | None:
        line = f"{json.dumps(kept)}\n".encode()
        try:
            file = self._open()
            try:
                written = os.write(file, line)
            finally:
                os.close(file)
        except OSError as problem:
            return self._trouble(problem)
        return None if written == len(line) else f"{self.path}: the audit line was cut: no space left"

    def _open(self) -> int:
        self.path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        return os.open(self.path, FLAGS, FILE_MODE)

    def _trouble(self, problem: OSError) -> str:
        return f"{self.path}: the audit file cannot be written: {problem.strerror or problem}"


def entry(result: ActionResult) -> dict[str, object]:
    """What is kept of an action; JSON escapes newlines, so one line is one action."""
    action = result.action
    command = f"sudo -n {action.command}" if result.via == "sudo" else action.command
    return {
        "time": result.started_at.isoformat().replace("+00:00", "Z"),
        "who": who(),
        "host": action.host,
        "unit": action.unit,
        "action": action.verb.value,
        "command": masked(command),
        "result": result.result,
        "ok": result.ok,
        "message": masked(result.message),
        "via": result.via,
        "duration_s": round(result.duration_seconds, 3),
    }


def command_entry(result: CommandResult) -> dict[str, object]:
    """What is kept of a command; the keys are those of an action."""
    command = result.command
    return {
        "time": result.started_at.isoformat().replace("+00:00", "Z"),
        "who": who(),
        "host": command.host,
        "unit": command.unit,
        "action": "command",
        "command": masked(command.command),
        "result": result.result,
        "ok": result.ok,
        "message": masked(result.message),
        "via": None,
        "duration_s": round(result.duration_seconds, 3),
    }


def push_entry(result: PushResult) -> dict[str, object]:
    """What is kept of a push; the keys are those of an action, and which text took the place of which."""
    return {
        "time": result.started_at.isoformat().replace("+00:00", "Z"),
        "who": who(),
        "host": result.host,
        "unit": result.unit,
        "action": result.action,
        "command": f"dflashtui {result.action} {result.unit} --host {result.host}",
        "result": result.outcome.value,
        "ok": result.ok,
        "message": masked(result.message),
        "via": None,
        "duration_s": round(result.duration_seconds, 3),
        "change": result.change,
        "number": result.number,
        "before_sha256": result.before_sha256,
        "after_sha256": result.after_sha256,
    }


def who() -> str:
    """The local user, and the one behind sudo: not what `USER` claims."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    behind = os.environ.get("SUDO_USER") if uid == 0 else None
    return f"{name} (sudo by {behind})" if behind else name
