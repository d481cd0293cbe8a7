"""The commands that change what an environment has installed: by its own interpreter, as whoever owns it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.environment import Interpreter

SPEC = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._,-]+\])?"
    r"(?:(?:===?|~=|!=|<=?|>=?)[A-Za-z0-9.+!*_-]+(?:,(?:===?|~=|!=|<=?|>=?)[A-Za-z0-9.+!*_-]+)*)?\Z"
)
"""What may stand as a requirement in a command: no option, no address."""


def obstacle(interpreter: Interpreter, login: str, become: str = "none") -> str | None:
    """Why nothing can be installed with this interpreter; `None`: it can."""
    if interpreter.is_externally_managed:
        return "this Python belongs to the system's package manager: give the unit a virtual environment of its own"
    if not interpreter.has_pip and not interpreter.uv:
        first = f"{interpreter.executable} -m ensurepip"
        return f"neither pip nor uv is there: put uv on the host, or run {first} first"
    return no_right(interpreter, login, become)


def no_right(interpreter: Interpreter, login: str, become: str = "none") -> str | None:
    """Why the login may not change the folder of packages; `None`: it may. `become`: see `Host.become`."""
    if login in {"root", interpreter.owner} or become == "sudo":
        return None
    return f"the login {login} may not write to {interpreter.purelib}, which belongs to {interpreter.owner or '?'}"


def as_owner(interpreter: Interpreter, login: str, become: str = "none") -> tuple[str, ...]:
    """Work as the user whose environment it is, so that this user can change it later, too."""
    owner = interpreter.owner
    if owner is None or owner == login:
        return ()
    if login == "root":
        return ("runuser", "-u", owner, "--")
    return ("sudo", "-n", "-u", owner, "--") if become == "sudo" else ()


def install_argv(
    interpreter: Interpreter, login: str, specs: Sequence[str], options: Iterable[str] = (), become: str = "none"
) -> tuple[str, ...] | None:
    """Install by pip, else by uv. `None`: nothing may be installed, or a requirement is no plain one.

    `options`: those that pip and uv have in common.
    """
    if obstacle(interpreter, login, become) or not specs or not all(SPEC.match(spec) for spec in specs):
        return None
    return (*as_owner(interpreter, login, become), *_tool(interpreter, "install"), *options, *specs)


def uninstall_argv(interpreter: Interpreter, login: str, names: Sequence[str]) -> tuple[str, ...] | None:
    """As `install_argv`."""
    if obstacle(interpreter, login) or not names or not all(SPEC.match(name) for name in names):
        return None
    answers = ("--yes",) if interpreter.has_pip else ()
    return (*as_owner(interpreter, login), *_tool(interpreter, "uninstall"), *answers, *names)


def _tool(interpreter: Interpreter, verb: str) -> tuple[str, ...]:
    if interpreter.has_pip:
        return (interpreter.executable, "-m", "pip", verb)
    return (interpreter.uv or "uv", "pip", verb, "--python", interpreter.executable)
