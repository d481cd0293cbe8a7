from __future__ import annotations

from dflashtui.source.journal_argv import (
    JournalAccess,
    Narrowing,
    at_cursor_argv,
    follow_argv,
    follow_matches,
    history_argv,
    invocation_matches,
    unit_matches,
)
from tests.faults.marks import fault

ROOT = JournalAccess()
OPS = JournalAccess("user", 1000, kernel=False)


def groups(words: tuple[str, ...]) -> list[list[str]]:
    return [group.split() for group in " ".join(words).split(" + ")]


def test_a_unit_is_asked_for_as_dash_u_does_it() -> None:
    assert groups(unit_matches(["a.service"], ROOT)) == [
        ["_SYSTEMD_UNIT=a.service"],
        ["UNIT=a.service", "_PID=1"],
        ["OBJECT_SYSTEMD_UNIT=a.service", "_UID=0"],
        ["COREDUMP_UNIT=a.service", "_UID=0", "MESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1"],
    ]


def test_a_user_s_unit_is_bound_to_that_user() -> None:
    assert all("_UID=1000" in group or "OBJECT_UID=1000" in group for group in groups(unit_matches(["a"], OPS)))


def test_the_kernel_is_an_alternative_of_its_own() -> None:
    assert groups(follow_matches(["a.service"], ROOT))[-1] == ["_TRANSPORT=kernel"]
    assert ["_TRANSPORT=kernel"] not in groups(follow_matches(["a.service"], OPS))


def test_no_unit_still_follows_the_kernel() -> None:
    words = follow_matches([], ROOT)
    assert words[0] == "_TRANSPORT=driver"
    assert words[-2:] == ("+", "_TRANSPORT=kernel")


def test_one_run_has_its_own_lines_and_the_manager_s() -> None:
    assert groups(invocation_matches("ab", ROOT)) == [["_SYSTEMD_INVOCATION_ID=ab"], ["INVOCATION_ID=ab", "_PID=1"]]
    assert groups(invocation_matches("ab", OPS))[1] == ["USER_INVOCATION_ID=ab", "_UID=1000"]


def test_a_hostile_cursor_or_pattern_stays_one_argument() -> None:
    cursor = "x; touch /tmp/pwned --file=/etc/shadow"
    assert f"--cursor={cursor}" in at_cursor_argv(ROOT, cursor)
    narrowing = Narrowing(since="-1h --file=x", grep="-x; y", priority="err")
    argv = history_argv(ROOT, (), lines=5, before=None, narrowing=narrowing)
    assert argv[-3:] == ("--since=-1h --file=x", "--grep=-x; y", "--priority=err")


def test_the_entry_before_which_is_read_is_asked_for_too() -> None:
    argv = history_argv(ROOT, (), lines=5, before="C", narrowing=Narrowing(since="today"))
    assert {"--cursor=C", "--lines=6", "--reverse"} <= set(argv)
    # journalctl refuses --since beside a cursor
    assert "--since=today" not in argv


@fault("D5", how="where reading goes on", result="an inclusive cursor, always")
def test_never_after_cursor_and_always_all() -> None:
    argv = follow_argv(JournalAccess(prefix=("sudo", "-n", "--")), ("m",), ("--cursor=C",))
    assert argv[:5] == ("sudo", "-n", "--", "journalctl", "--follow")
    assert "--all" in argv
    assert not any("after-cursor" in word for word in argv)
