"""Advice about `Exec…=`: what the program gets is not what a shell would give it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.unitfile.command import BRACED, WHOLE
from dflashtui.unitfile.look import Advice, at
from dflashtui.unitfile.specifiers import accidents, used

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.command import Command
    from dflashtui.unitfile.look import Look
    from dflashtui.unitfile.reading import Entry

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
SHELL_WORDS = frozenset({"|", "||", "&&", "&", ">", ">>", "<", "<<", "2>", "2>>", "2>&1", ">&2", "&>"})
SHELL_BUILTINS = frozenset({"cd", "source", "export", "ulimit", "set", "exec", "."})
JSON_EATEN = re.compile(r"[{\[,:]\s*\\?[\"']|[\"']\s*[}\],:]")
IN_THE_MIDDLE = re.compile(r"(?<!\$)\$(?![\${(])[A-Za-z_]\w*")
ALWAYS_SET = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "MAINPID",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "SYSTEMD_EXEC_PID",
    }
    | {"RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY"}
    | {"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "MANAGERPID", "XDG_RUNTIME_DIR", "WATCHDOG_USEC", "TERM"}
)


def program(look: Look) -> Iterator[Advice]:
    """Where the program is looked for."""
    for entry, command in look.commands:
        name = command.program
        if name in SHELL_BUILTINS:
            message = f"{entry.key}=: {name} is a word of the shell, and there is no shell"
            yield at(entry, "no-shell", "error", message, "use WorkingDirectory= or Environment=, or /bin/sh -c '…'")
        elif "/" in name and not name.startswith(("/", "%")):
            message = f"{entry.key}=: {name} is a relative path: systemd refuses it"
            yield at(entry, "relative-program", "error", message, "write the absolute path")
        elif "/" not in name and not name.startswith("%"):
            message = (
                f"{entry.key}=: {name} is looked for in systemd's own path, not in the PATH of the unit or of a venv"
            )
            yield at(entry, "bare-program", "warning", message, "write the absolute path of the venv's program")


def eaten_quotes(look: Look) -> Iterator[Advice]:
    """`--cfg {"method":"dflash"}`: the program gets `{method:dflash}`."""
    for entry, command in look.commands:
        eaten = next((word for word in command.arguments if word.quotes_inside and JSON_EATEN.search(word.raw)), None)
        if eaten:
            message = f"{entry.key}=: systemd takes the quotes out of {masked(eaten.raw)}"
            yield at(entry, "eaten-quotes", "error", message, "put the whole argument between single quotes: '{…}'")


def shell_words(look: Look) -> Iterator[Advice]:
    """Pipes, redirections, `~` and `$(…)`: there is no shell."""
    for entry, command in look.commands:
        found = next((word.raw for word in command.arguments if _is_for_a_shell(command, word.raw)), None)
        if found:
            message = f"{entry.key}=: there is no shell: {masked(found)} reaches the program as it is"
            yield at(entry, "no-shell", "error", message, "use StandardOutput=, Environment=, or /bin/sh -c 'exec …'")


def _is_for_a_shell(command: Command, raw: str) -> bool:
    if raw in SHELL_WORDS or raw.startswith("~/"):
        return True
    return not _is_shell(command) and ("$(" in raw or (raw.startswith("`") and raw.endswith("`")))


def _is_shell(command: Command) -> bool:
    return command.program.rpartition("/")[2] in SHELLS


def shell_stays(look: Look) -> Iterator[Advice]:
    """A shell between systemd and the server swallows its exit status and its signals."""
    for command in look.starts:
        scripts = [word.text for word in command.arguments if " " in word.text]
        if _is_shell(command) and scripts and "exec " not in scripts[0]:
            entry = look.unit.last("Service", "ExecStart")
            message = (
                "ExecStart=: a shell stays between systemd and the server: signals and the exit status are its own"
            )
            yield at(entry, "shell-stays", "warning", message, "write exec before the last command of the script")


def specifiers(look: Look) -> Iterator[Advice]:
    """`50%done` becomes `50/run/credentials/NAMEone`."""
    for entry, command in look.commands:
        for word in command.arguments:
            for written, meaning in accidents(word.text):
                message = f"{entry.key}=: systemd puts {meaning} in the place of {written}"
                yield at(entry, "specifier", "error", message, f"write %{written} if the text itself is meant")
        if look.name and "@" not in look.name and used(entry.value) & {"i", "I"}:
            message = f"{entry.key}=: %i is empty, for {look.name} is no instance of a template"
            yield at(entry, "no-instance", "error", message, "name the unit NAME@.service, or write the value itself")


def variables(look: Look) -> Iterator[Advice]:
    """`$NAME` that nothing sets, or that is not replaced where it stands."""
    has_more = any(look.unit.all("Service", key) for key in ("EnvironmentFile", "PassEnvironment"))
    for entry, command in look.commands:
        if ":" in command.prefixes:
            continue
        for word in command.arguments:
            yield from _of_word(look, entry, command, word.text, has_more=has_more)


def _of_word(look: Look, entry: Entry, command: Command, text: str, *, has_more: bool) -> Iterator[Advice]:
    whole = WHOLE.match(text)
    names = {whole[1]} if whole else {part[2] for part in BRACED.finditer(text) if part[2]}
    for name in sorted(names - look.variables.keys() - ALWAYS_SET):
        if not has_more:
            message = f"{entry.key}=: ${name} is replaced by nothing, for the unit does not set it"
            yield at(
                entry, "unset-variable", "error", message, f"set {name} in Environment=, or write $${name} for the text"
            )
    if not whole and not _is_shell(command) and (found := IN_THE_MIDDLE.search(text)):
        message = f"{entry.key}=: {found[0]} inside a word is not replaced"
        yield at(
            entry, "variable-in-word", "warning", message, f"write ${{{found[0][1:]}}}, or ${found[0]} for the text"
        )


def secrets(look: Look) -> Iterator[Advice]:
    """A key on the command line is in the unit file and in `ps`."""
    for entry, command in look.commands:
        said = " ".join(word.text for word in command.arguments)
        if masked(said) != said and "$" not in _hidden(said):
            message = f"{entry.key}=: a secret stands on the command line: every local user reads it, also in ps"
            yield at(
                entry,
                "secret-argument",
                "warning",
                message,
                "put it into an EnvironmentFile= of mode 0600, or LoadCredential=",
            )


def _hidden(said: str) -> str:
    """What masking takes away: a `${NAME}` there is no secret of the unit file."""
    kept = set(masked(said).split())
    return " ".join(word for word in said.split() if word not in kept)


RULES = (program, eaten_quotes, shell_words, shell_stays, specifiers, variables, secrets)
