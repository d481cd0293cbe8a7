"""What the service manager says of a unit (crash-log forms, part 7)."""

from __future__ import annotations

import re
from typing import NamedTuple

from dflashtui.diagnosis.form import Weight

UNIT = r"(?P<unit>[\w@:.\\-]{1,255}\.(?:service|scope|socket))"


class Word(NamedTuple):
    """A sentence of the manager and what it means; `kind` None: the end of the unit without a reason."""

    pattern: re.Pattern[str]
    weight: Weight
    kind: str | None


def _word(pattern: str, weight: Weight, kind: str | None) -> Word:
    return Word(re.compile(pattern), weight, kind)


EXPLICIT, STATUS = Weight.EXPLICIT, Weight.STATUS
WORDS: tuple[Word, ...] = (
    _word(r"Failed at step (?P<step>[A-Z_]{2,40}) spawning .*", EXPLICIT, "systemd-exec"),
    _word(r"Unable to locate executable .*", EXPLICIT, "systemd-exec"),
    _word(r"Changing to the requested working directory failed.*", EXPLICIT, "systemd-exec"),
    _word(r"Failed to determine (?:user|group|supplementary group) credentials.*", EXPLICIT, "systemd-exec"),
    _word(
        r"Failed to (?:load environment files|set up (?:mount|user) namespac\w+|set up standard (?:output|"
        r"input|error)|set up credentials|execute \S+:).*",
        EXPLICIT,
        "systemd-exec",
    ),
    _word(r"Failed to locate executable .*", EXPLICIT, "systemd-exec"),
    _word(r"Failed to run 'start(?:-pre)?' task:.*", EXPLICIT, "systemd-exec"),
    _word(
        r"(?:A process of this unit has been killed by the OOM killer|systemd-oomd killed \d+ process).*",
        EXPLICIT,
        "host-oom",
    ),
    _word(r"Failed with result 'oom-kill'.*", EXPLICIT, "host-oom"),
    _word(r"start(?:-pre|-post)? operation timed out\. Terminating\..*", EXPLICIT, "timeout"),
    _word(r"Watchdog timeout .*|Failed with result 'watchdog'.*", EXPLICIT, "timeout"),
    _word(
        r"(?:[Mm]ain|[Cc]ontrol) process exited, code=(?P<code>exited|killed|"
        r"dumped), status=(?P<status>\d+)(?:/(?P<name>[\w/-]+))?.*",
        STATUS,
        None,
    ),
    _word(r"Failed with result 'timeout'.*", STATUS, "timeout"),
    _word(r"Failed with result 'resources'.*", STATUS, "systemd-exec"),
    _word(r"Failed with result '(?P<result>[\w-]+)'.*", STATUS, None),
    _word(r"Unit entered failed state.*", STATUS, None),
)
STARTING = re.compile(r"^(?:Starting|Started) (?!Session |User |.*\.(?:scope|slice|timer|socket|target|mount)\b)")
STOPPING = re.compile(r"^Stopping (?!Session |User )")
OVER = re.compile(
    r"[Mm]ain process exited|Failed with result|Deactivated successfully|^Stopped |Unit entered failed state"
)
"""Behind these a "Started" belongs to the next attempt; reports of a failed spawn may come before the own one."""
OF_UNIT = re.compile(rf"^{UNIT}: (?P<text>.*)$", re.DOTALL)
SIGNAL_KINDS = {4: "unsupported-arch", 6: "abort", 7: "resource-limit", 11: "segfault"}
EXIT_KINDS = {
    126: "systemd-exec",
    127: "systemd-exec",
    132: "unsupported-arch",
    134: "abort",
    135: "resource-limit",
    139: "segfault",
}
FIRST_SPAWN_STATUS, LAST_SPAWN_STATUS = 200, 243


def kind_of_exit(code: str, status: int) -> str:
    """What an exit status alone says. A SIGKILL is no proof that memory ran out: SGLang kills itself by it."""
    if code != "exited":
        return SIGNAL_KINDS.get(status, "unknown")
    if FIRST_SPAWN_STATUS <= status <= LAST_SPAWN_STATUS:
        return "systemd-exec"
    return EXIT_KINDS.get(status, "unknown")
