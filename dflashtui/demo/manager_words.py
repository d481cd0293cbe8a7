"""What systemd writes about its units, with its message ids (systemd-ssh facts, part 3)."""

from __future__ import annotations

from typing import NamedTuple

from dflashtui.model.journal import Priority


class Word(NamedTuple):
    """A kind of manager message."""

    message_id: str | None
    text: str
    priority: Priority = Priority.INFO


STARTED = Word("39f53479d3a045ac8e11786248231fbf", "Started {unit} - {description}.")
STOPPING = Word("de5b426a63be47a7b6ac3eaac82e2f6f", "Stopping {unit} - {description}...")
STOPPED = Word("9d1aaa27d60140bd96365438aad20286", "Stopped {unit} - {description}.")
DEACTIVATED = Word("7ad2d189f7e94e70a38c781354912448", "{unit}: Deactivated successfully.")
RELOADING = Word("d34d037fff1847e6ae669a370e694725", "Reloading {unit} - {description}...")
RELOADED = Word("7b05ebc668384222baa8881179cfda54", "Reloaded {unit} - {description}.")
EXITED = Word(
    "98e322203f7a4ed290d09fe03c09fe15",
    "{unit}: Main process exited, code=exited, status={status}/FAILURE",
    Priority.NOTICE,
)
KILLED = Word(
    "98e322203f7a4ed290d09fe03c09fe15",
    "{unit}: Main process exited, code=killed, status={status}/{signal}",
    Priority.WARNING,
)
FAILED = Word("d9b373ed55a64feb8242e02dbe79a49c", "{unit}: Failed with result '{result}'.", Priority.WARNING)
CONSUMED = Word("ae8f7b866b0347b9af31fe1c80b127c0", "{unit}: Consumed {cpu:.3f}s CPU time.")
SCHEDULED = Word(
    "5eb03494b6584870a536b337290809b3", "{unit}: Scheduled restart job, restart counter is at {n_restarts}."
)
TOO_QUICKLY = Word(None, "{unit}: Start request repeated too quickly.", Priority.WARNING)
FAILED_TO_START = Word("be02cf6855d2428ba40df7e9d022f03d", "Failed to start {unit} - {description}.", Priority.ERR)
