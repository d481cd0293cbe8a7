"""The message of a failure names the flags, paths, hosts and places that its remedies speak of."""

import pytest

from dflashtui.diagnosis.remedies import COMMANDS, TITLES, remedies
from dflashtui.diagnosis.remedies_told import READERS
from dflashtui.model.finding import Cause, Location

HTTP = "HTTPSConnectionPool(host='hub.example', port=443): Max retries exceeded with url: /api"
SAID = {
    "config-validation": (
        "--valve-cache and --no-cache are mutually exclusive; drop --no-cache.",
        ("change --valve-cache or --no-cache in the unit's command, as the message says", None),
    ),
    "cuda-oom": (
        "Not enough memory. Please try to increase --mem-fraction-static.",
        ("change --mem-fraction-static in the unit's command, as the message says", None),
    ),
    "permission": (
        "[Errno 13] Permission denied: '/srv/pump/cache dir'",
        ("who may reach /srv/pump/cache", "namei -l /srv/pump/cache"),
    ),
    "disk-full": (
        "[Errno 28] No space left on device: '/srv/pump/cache/a.bin'",
        ("free space where /srv/pump/cache/a.bin is", "df -h /srv/pump/cache/a.bin"),
    ),
    "model-not-found": (
        "[Errno 2] No such file or directory: '/srv/models/pump-27b/config.json'",
        ("whether /srv/models/pump-27b/config.json is there", "ls -ld /srv/models/pump-27b/config.json"),
    ),
    "auth": (
        "401 Client Error: Unauthorized for url: https://hub.example/pumps/pump-27b/resolve/main/config.json",
        ("ask for access to pumps/pump-27b at hub.example, with the account of the token", None),
    ),
    "network": (HTTP, ("whether this host can resolve hub.example", "getent hosts hub.example")),
    "kernel-compile": (
        "/srv/x/main.c:5:10: fatal error: Python.h: No such file or directory",
        ("install Python's headers (python3-dev) for the compiler", None),
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_the_message_names(kind: str) -> None:
    message, (title, command) = SAID[kind]
    first = remedies(Cause(kind=kind, message=message))[0]
    assert (first.title, first.command) == (title, command)


def test_the_place_of_a_bug_in_the_service_s_own_code() -> None:
    package = Location(file="/opt/venv/lib/python3.12/site-packages/valve/a.py", line=3, function="f")
    own = Location(file="/srv/pump/app/run.py", line=7, function="<module>")
    assert remedies(Cause(kind="code-bug", location=package))[0].title == f"look at {package.file}, line 3, in f"
    assert (
        remedies(Cause(kind="code-bug", location=package, own_location=own))[0].title == f"look at {own.file}, line 7"
    )


def test_a_message_that_names_nothing_leaves_the_general_remedies() -> None:
    for kind in READERS:
        told = remedies(Cause(kind=kind, message="no - it -- failed: a/b, C:x, http"))
        assert [one.title for one in told] == [*TITLES[kind], *(title for title, _ in COMMANDS.get(kind, ()))]


def test_every_kind_has_something_to_do() -> None:
    assert {"resource-limit", "nccl", "unsupported-arch", "timeout", "abi-mismatch"} <= set(TITLES)
    assert all(titles and all(len(title) > 20 for title in titles) for titles in TITLES.values())
