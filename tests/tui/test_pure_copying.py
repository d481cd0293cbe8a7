"""What can be copied from a row: whole, and as a shell would take it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from dflashtui.config.model import Config, Host
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.unit import UnitStatus
from dflashtui.tui.copying import SHOWN, copy_choices, shell_argv
from dflashtui.tui.picture import Picture
from dflashtui.tui.subject import Kind, Subject, gpu_subject, host_subject, unit_subject
from tests.tui.hostile import forbidden_in, hosts, patient, texts
from tests.tui.stage import HOSTKEY, LIVE, NOW, READY, host, unit

if TYPE_CHECKING:
    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.dialogs.menu import Choice

PICTURE = Picture(NOW, (LIVE, HOSTKEY))
PLAIN = Config(hosts=(Host(name="h-live", address="10.1.2.3", port=2222, user="root"), Host(name="h-hostkey")))


def choices(subject: Subject, picture: Picture = PICTURE, config: Config = PLAIN) -> dict[str, str]:
    return {choice.label: choice.value for choice in copy_choices(subject, picture, config)}


def test_the_shell_command_reaches_a_host_as_the_console_does() -> None:
    whole = Host(
        name="gpu07",
        address="10.1.2.3",
        port=2222,
        user="root",
        identity_file=Path("/keys/id"),
        known_hosts=Path("/keys/known hosts"),
    )
    assert shell_argv(Config(hosts=(whole,)), "gpu07") == (
        *("ssh", "-p", "2222", "-l", "root", "-i", "/keys/id"),
        *("-o", "UserKnownHostsFile=/keys/known hosts", "--", "10.1.2.3"),
    )


def test_what_the_file_does_not_say_is_left_to_ssh() -> None:
    assert shell_argv(PLAIN, "h-hostkey") == ("ssh", "--", "h-hostkey")


def test_an_address_is_never_an_option() -> None:
    evil = Config(hosts=(Host(name="x", address="-oProxyCommand=evil"),))
    assert shell_argv(evil, "x")[-2:] == ("--", "-oProxyCommand=evil")


def test_this_machine_needs_no_ssh() -> None:
    local = Config(hosts=(Host(name="h-live", transport="local"),))
    assert shell_argv(local, "h-live") == ()
    found = choices(unit_subject("h-live", READY.name), config=local)
    assert found["status command"] == "systemctl status -- sglang-a.service"
    assert "shell command" not in choices(host_subject("h-live"), config=local)


def test_a_host_that_is_not_in_the_inventory() -> None:
    with pytest.raises(KeyError):
        shell_argv(PLAIN, "nobody")
    assert set(choices(host_subject("nobody"))) == {"name"}
    assert set(choices(unit_subject("nobody", "x.service"))) == {"name", "host"}


def test_a_host_offers_what_is_known_of_it() -> None:
    found = choices(host_subject("h-live"))
    assert found["name"] == "h-live"
    assert found["address"] == "h-live.example"
    assert found["shell command"] == "ssh -p 2222 -l root -- 10.1.2.3"
    assert json.loads(found["row as JSON"])["name"] == "h-live"
    assert "error" not in found
    assert choices(host_subject("h-hostkey"))["known_hosts line"] == HOSTKEY.link.known_hosts_line


def test_a_unit_offers_its_commands() -> None:
    found = choices(unit_subject("h-live", READY.name))
    assert (found["name"], found["host"], found["pid"]) == ("sglang-a.service", "h-live", "4711")
    assert found["unit path"] == "/etc/systemd/system/sglang-a.service"
    assert found["invocation id"] == READY.invocation_id
    assert found["log command"] == "ssh -p 2222 -l root -- 10.1.2.3 'journalctl -f -u sglang-a.service'"


def test_a_unit_of_the_user_manager_is_asked_of_that_manager() -> None:
    own = Config(hosts=(Host(name="h-live", manager="user"),))
    found = choices(unit_subject("h-live", READY.name), config=own)
    assert found["status command"] == "ssh -- h-live 'systemctl --user status -- sglang-a.service'"
    assert found["log command"] == "ssh -- h-live 'journalctl --user -f -u sglang-a.service'"


def test_unknown_is_not_offered() -> None:
    bare = Picture(NOW, (host("h-live", units=(UnitStatus(name="x"),)),))
    assert set(choices(unit_subject("h-live", "x"), bare)) == {
        "name", "host", "row as JSON", "status command", "log command",
    }  # fmt: skip


def test_a_gpu_offers_its_identity_and_its_processes() -> None:
    found = choices(gpu_subject("h-live", 0))
    assert (found["UUID"], found["bus id"], found["pids"]) == ("GPU-0000", "00000000:00:00.0", "4711")
    assert "pids" not in choices(gpu_subject("h-live", 1))


def test_an_event_that_is_no_longer_kept_offers_nothing() -> None:
    one = Event(at=NOW, kind=EventKind.UNIT, severity=Severity.BAD, host="h", unit="x.service", message="a\nb")
    picture = Picture(NOW, events=(one,), first_event=7)
    assert choices(Subject(Kind.EVENT, "h", "6"), picture) == {}
    found = choices(Subject(Kind.EVENT, "h", "7"), picture)
    assert (found["message"], found["host"], found["unit"]) == ("a\nb", "h", "x.service")


@patient
@given(texts)
def test_a_hostile_name_is_one_word_for_two_shells(name: str) -> None:
    picture = Picture(NOW, (host("h-live", units=(unit(name),)),))
    found = choices(unit_subject("h-live", name), picture)
    for label in ("status command", "log command"):
        *ssh, remote = shlex.split(found[label])
        assert ssh == list(shell_argv(PLAIN, "h-live"))
        assert shlex.split(remote)[-1] == name


def check(found: tuple[Choice, ...]) -> None:
    keys = [choice.key for choice in found]
    assert len(set(keys)) == len(keys)
    for choice in found:
        assert not forbidden_in(choice.hint.replace("\t", " "))
        assert len(choice.hint) <= 3 * SHOWN * len(r"\U000e0041")
        assert choice.value


@patient
@given(hosts)
def test_what_is_shown_is_safe_and_every_key_is_used_once(found: HostSnapshot) -> None:
    picture, config = Picture(NOW, (found,)), Config(hosts=(Host(name=found.name, address=found.address),))
    check(copy_choices(host_subject(found.name), picture, config))
    for one in found.units or ():
        check(copy_choices(unit_subject(found.name, one.name), picture, config))
    for card in found.gpus or ():
        check(copy_choices(gpu_subject(found.name, card.index), picture, config))
