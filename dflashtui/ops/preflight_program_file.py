"""Preflight: the program is there and the unit's user may run it; its user and its folder exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import ROOT, as_user, finding, words_of
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question
    from dflashtui.transport.base import Completed

WALK = """
walked=
rest=${1#/}
while [ -n "$rest" ]; do
  walked=$walked/${rest%%/*}
  case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
  if [ -L "$walked" ] && [ ! -e "$walked" ]; then echo "link $walked"; readlink -- "$walked"; exit; fi
  if [ ! -e "$walked" ]; then echo "missing $walked"; exit; fi
  if [ -d "$walked" ] && [ ! -x "$walked" ]; then echo "closed $walked"; exit; fi
done
if [ -d "$1" ]; then echo "folder $1"; exit; fi
if [ ! -x "$1" ]; then echo "plain $1"; exit; fi
echo "fine $1"
"""
"""Constant programs of sh(1), run as the unit's user: where the way to a path ends, and what is there.

`folder`, `plain` and `fine` (executable) are there; `missing` and `link` (a link to nothing) are not; behind `closed`
the user may not look.
"""
ENTER = 'cd -- "$1" && echo fine'
RUNS_NOTHING = ("does not exist", "unknown user", "no such user")


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Findings in the order of what fails first. Raises `TransportLost`."""
    if not question.argv:
        return [finding(question, "program:none", "fatal", "the unit has no ExecStart= that could be run")]
    prefix = await as_user(question)
    program = question.argv[0]
    walked = await question.transport.run((*(prefix or ()), "sh", "-c", WALK, "sh", program))
    if prefix is None or (_is_denied(walked) and prefix[:1] == ("sudo",)):
        return await _from_outside(question, program)
    said = decoded(walked.stdout).splitlines()
    if not said:
        return [_not_asked(question, words_of(walked))]
    found = list(_of_program(question, program, said)) if program.startswith("/") else []
    return found + await _of_folder(question, prefix)


def _is_denied(walked: Completed) -> bool:
    return not walked.stdout and "password" in words_of(walked)


async def _from_outside(question: Question, program: str) -> list[PreflightFinding]:
    """As the login, which may not act as the unit's user: what it sees is there, and root may run it."""
    walked = await question.transport.run(("sh", "-c", WALK, "sh", program))
    word, _, where = decoded(walked.stdout).partition("\n")[0].partition(" ")
    who = question.user or "root"
    if word == "missing" and program.startswith("/"):
        message = f"{program} is not there: {where} does not exist"
        return [finding(question, "program:missing", "fatal", message, remedy=_anew(question, program))]
    if word == "fine" and who in ROOT:
        return []
    message = f"the login may not act as {who}: whether {program} can be run cannot be seen"
    return [finding(question, "program:unknown", "unknown", message)]


def _not_asked(question: Question, words: str) -> PreflightFinding:
    if any(one in words for one in RUNS_NOTHING):
        message = f"User={question.user}: there is no such user here: the start ends with 217/USER"
        return finding(question, "program:user", "fatal", message, words, remedy="make the user, or name another")
    return finding(question, "program:unknown", "unknown", f"the program could not be looked at: {words}")


def _of_program(question: Question, program: str, said: Sequence[str]) -> Iterator[PreflightFinding]:
    word, _, where = said[0].partition(" ")
    who = question.user or "root"
    match word:
        case "missing":
            message = f"{program} is not there: {where} does not exist"
            yield finding(question, "program:missing", "fatal", message, remedy=_anew(question, program))
        case "link":
            target = said[1] if len(said) > 1 else "?"
            message = f"{program} is not there: {where} leads to {target}, which is gone or closed to {who}"
            yield finding(question, "program:missing", "fatal", message, remedy=_anew(question, program))
        case "closed":
            message = f"{who} may not look into {where}, on the way to {program}: the start ends with 203/EXEC"
            remedy = f"let {who} in (chmod o+x {where}), or put the program elsewhere"
            yield finding(question, "program:closed", "fatal", message, remedy=remedy)
        case "folder" | "plain":
            message = f"{program} is {'a folder' if word == 'folder' else f'not executable by {who}'}"
            yield finding(question, "program:not-executable", "fatal", message, remedy=f"chmod a+x {program}")


def _anew(question: Question, program: str) -> str:
    if program == question.interpreter:
        return "make the virtual environment anew, or name another interpreter in python ="
    return "install it, or name another program"


async def _of_folder(question: Question, prefix: tuple[str, ...]) -> list[PreflightFinding]:
    folder = question.working_directory
    if folder is None:
        return []
    done = await question.transport.run((*prefix, "sh", "-c", ENTER, "sh", folder))
    if done.exit_status == 0:
        return []
    message = f"WorkingDirectory={folder} cannot be entered: the start ends with 200/CHDIR"
    remedy = f"make {folder}, or name another folder"
    return [finding(question, "program:folder", "fatal", message, words_of(done), remedy=remedy)]
