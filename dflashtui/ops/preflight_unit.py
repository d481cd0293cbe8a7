"""Preflight: the unit's text: what systemd says of it, what will bite, the files that it reads its environment from."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import Level, acting, finding, of_manager, words_of
from dflashtui.text import decoded, printable
from dflashtui.unitfile.advice import advice
from dflashtui.unitfile.reading import files_of_cat, read_cat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question
    from dflashtui.transport.base import Completed
    from dflashtui.unitfile.look import Advice
    from dflashtui.unitfile.reading import Entry

VERIFY = """
folder=$(mktemp -d) || exit 99
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 99' HUP INT PIPE TERM
cat >"$folder/$1" || exit 99
cd "$folder" || exit 99
shift
"$@" 2>&1
"""
"""A constant program of sh(1): the text from stdin under its real name, in a folder that nobody else may enter."""
NO_PROGRAM = "is not executable: "
REFUSALS = ("fatal error", "bad unit file", "Refusing", "Invalid argument")
COULD_NOT = frozenset({99, 126, 127, None})
LEVELS: dict[str, Level] = {"error": "warning", "warning": "note"}
"""Advice is about what will bite some day; what ends this start is told by systemd itself."""
OTHERS_MAY_READ = 0o044


async def check(question: Question) -> Sequence[PreflightFinding]:
    """What systemd refuses first. Raises `TransportLost`."""
    verified, files = await asyncio.gather(_verified(question), _files(question))
    told = [_advised(question, one) for one in advice(question.unit_text, name=question.unit.name)]
    return [*verified, *files, *filter(None, told)]


def _advised(question: Question, one: Advice) -> PreflightFinding | None:
    if one.level not in LEVELS:
        return None
    places = [f"{one.file or question.unit.name}:{one.line}"] if one.line else []
    id_ = f"unit:{one.id}:{one.line or 0}"
    return finding(question, id_, LEVELS[one.level], one.message, *places, remedy=one.remedy)


async def _verified(question: Question) -> list[PreflightFinding]:
    done = await _verify(question)
    said = [line.strip() for line in decoded(done.stdout).splitlines() if line.strip()]
    if done.exit_status in COULD_NOT:
        return [finding(question, "unit:unverified", "unknown", f"the unit could not be verified: {words_of(done)}")]
    if any(NO_PROGRAM in line for line in said):  # told better by the check of the program
        said = [line for line in said if NO_PROGRAM not in line]
        is_refused = any(word in line for line in said for word in REFUSALS)
    else:
        is_refused = done.exit_status != 0
    if is_refused:
        message = "systemd refuses the unit"
        return [finding(question, "unit:refused", "fatal", message, *said, remedy="correct these lines")]
    if said:
        return [finding(question, "unit:ignored", "warning", "systemd reads the unit, but not all of it", *said)]
    return []


async def _verify(question: Question) -> Completed:
    """The text that would be pushed, under its name; else what the host has, drop-ins and all."""
    user = ("--user",) if question.host.manager == "user" else ()
    argv = ("systemd-analyze", *user, "verify", "--man=no")
    files = files_of_cat(question.unit_text)
    if files and not (question.unit.template or question.unit.file):
        return await of_manager(
            question.transport, question.host, *argv[:1], *argv[1 + len(user) :], question.unit.name
        )
    program = ("env", "LC_ALL=C", "sh", "-c", VERIFY, "sh", question.unit.name, *argv, f"./{question.unit.name}")
    text = files[0][1] if files else question.unit_text
    return await question.transport.run(program, stdin=text.encode())


async def _files(question: Question) -> list[PreflightFinding]:
    """`EnvironmentFile=` is read by the manager, as root; a missing one fails the start unless `-` stands before it."""
    entries = [
        entry for entry in read_cat(question.unit_text).all("Service", "EnvironmentFile") if "%" not in entry.value
    ]
    paths = [entry.value.removeprefix("-") for entry in entries]
    if not paths:
        return []
    done = await question.transport.run(("stat", "-L", "-c", "%a %n", "--", *paths))
    modes = {line.partition(" ")[2]: int(line.partition(" ")[0], 8) for line in decoded(done.stdout).splitlines()}
    found = [_file(question, entry, path, modes.get(path)) for entry, path in zip(entries, paths, strict=True)]
    return [one for one in found if one]


def _file(question: Question, entry: Entry, path: str, mode: int | None) -> PreflightFinding | None:
    if mode is None and not entry.value.startswith("-"):
        message = f"EnvironmentFile={path} is not there: the start fails"
        remedy = f"write it, or EnvironmentFile=-{path} if it may be missing"
        return finding(question, f"unit:environment-file:{path}", "fatal", message, remedy=remedy)
    if mode is not None and mode & OTHERS_MAY_READ:
        message = f"EnvironmentFile={path} may hold secrets, and others than its owner may read it"
        evidence = f"mode {mode:04o}"
        command = acting(question, "chmod", "600", "--", path)
        return finding(
            question,
            f"unit:environment-file:{path}",
            "note",
            message,
            evidence,
            remedy=printable(f"chmod 600 {path}"),
            command=command,
        )
    return None
