"""The first stage: takes on the unit's folder and environment, and starts its interpreter anew. Parses on any Python 3.

It runs isolated (-I -S): neither the login's nor the unit's modules take part. What is secret in the environment comes
over stdin, not in an argument list that every user of the host can read.
"""

import json
import os
import pwd
import sys

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
"""What the service manager gives to a unit that names none."""


def enter(order: str) -> None:
    """Never returns. `order`: JSON of python, flags, directory, environment, bootstrap."""
    wanted = json.loads(order)
    try:
        os.chdir(wanted["directory"] or "/")
    except OSError as problem:
        tell({"directory": wanted["directory"], "problem": problem.strerror or str(problem)})
        os.chdir("/")
    environment = dict(home(), PATH=PATH, LANG="C.UTF-8")
    environment.update(wanted["environment"])
    os.execve(wanted["python"], [wanted["python"]] + wanted["flags"] + ["-c", wanted["bootstrap"]], environment)  # noqa: S606


def home() -> dict:  # type: ignore[type-arg]  # as an old Python can read it
    """What the service manager tells a unit of its user."""
    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:
        return {"HOME": "/"}
    return {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell}


def tell(fact: dict) -> None:  # type: ignore[type-arg]  # as above
    """One line, as `main` prints them."""
    sys.stdout.write(json.dumps(dict(fact, task="place")) + "\n")
    sys.stdout.flush()
