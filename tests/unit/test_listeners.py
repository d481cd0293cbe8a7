"""Whose server answers on a port."""

from __future__ import annotations

import pytest

from dflashtui.source.listeners import NAMESPACE, Listener, asked_at, foreign_listener, listeners, own_elsewhere
from tests.faults.marks import fault
from tests.support.fake_transport import FakeTransport

URL = "http://127.0.0.1:30001/model_info"
SS = b"""\
LISTEN 0      128          0.0.0.0:30001     0.0.0.0:*    users:(("sglang::server",pid=77,fd=5),("python3",pid=78,fd=5))
LISTEN 0      128        127.0.0.1:30001      0.0.0.0:*    users:(("old server",pid=12,fd=5))
LISTEN 0      128             [::]:30001         [::]:*
"""


def host(*, groups: bytes, ss: bytes = SS) -> FakeTransport:
    transport = FakeTransport()
    transport.answer("ss", stdout=ss)
    transport.answer("grep", stdout=groups)
    return transport


def test_every_process_of_every_listener_is_read() -> None:
    assert listeners(SS) == (
        Listener("0.0.0.0", 77, "sglang::server"),  # noqa: S104 - read, not bound
        Listener("0.0.0.0", 78, "python3"),  # noqa: S104
        Listener("127.0.0.1", 12, "old server"),
    )


def test_a_listener_of_the_very_address_answers_before_one_of_all_addresses() -> None:
    assert [one.pid for one in asked_at("127.0.0.1", listeners(SS))] == [12]
    assert [one.pid for one in asked_at("10.0.0.7", listeners(SS))] == [77, 78]


async def test_another_units_server_is_named() -> None:
    transport = host(groups=b"/proc/12/cgroup:0::/system.slice/old.service\n")
    found = await foreign_listener(transport, URL, {"sglang.service"})
    assert found == "port 30001 is held by another process: pid 12 (old server) of old.service"
    assert transport.asked[0] == ("ss", "-Hltnp", "sport", "=", ":30001")


async def test_the_units_own_server_is_no_stranger_under_any_of_its_names() -> None:
    transport = host(groups=b"/proc/12/cgroup:0::/system.slice/old.service\n")
    assert await foreign_listener(transport, URL, {"alias.service", "old.service"}) is None


async def test_one_of_several_processes_on_the_port_is_enough() -> None:
    wildcard = SS.splitlines(keepends=True)[0]
    groups = b"/proc/77/cgroup:0::/system.slice/other.service\n/proc/78/cgroup:0::/system.slice/ours.service\n"
    assert await foreign_listener(host(groups=groups, ss=wildcard), URL, {"ours.service"}) is None


async def test_a_process_of_no_unit_is_told_by_what_holds_it() -> None:
    transport = host(groups=b"/proc/12/cgroup:0::/user.slice/user-0.slice/session-5.scope\n")
    assert "of session-5.scope" in str(await foreign_listener(transport, URL, {"a.service"}))


@pytest.mark.parametrize(
    "ss",
    [
        b"",
        b"LISTEN 0 128 0.0.0.0:30001 0.0.0.0:*\n",  # what ss tells a user who is not root
        b"rubbish\n\xff\xfe users:((\n",
    ],
)
async def test_what_cannot_be_told_is_no_accusation(ss: bytes) -> None:
    assert await foreign_listener(host(groups=b"", ss=ss), URL, {"a.service"}) is None


async def test_a_host_without_ss_cannot_tell() -> None:
    assert await foreign_listener(FakeTransport(), URL, {"a.service"}) is None


async def test_a_process_that_ended_meanwhile_is_no_stranger() -> None:
    assert await foreign_listener(host(groups=b""), URL, {"a.service"}) is None


@fault("F4", how="the server listens on ::1, 127.0.0.1 is asked", result="said where it listens")
async def test_a_server_on_another_address_is_told() -> None:
    ss = b'LISTEN 0 128 [::1]:30001 [::]:* users:(("python3",pid=12,fd=5))\n'
    transport = host(groups=b"/proc/12/cgroup:0::/system.slice/a.service\n", ss=ss)
    assert await own_elsewhere(transport, URL, {"a.service"}, 12) == (
        "it listens on [::1]:30001, and 127.0.0.1 is asked"
    )
    assert await own_elsewhere(transport, URL, {"b.service"}, None) is None, "that is another unit's"


@fault("F4", how="a network namespace of its own", result="said")
@pytest.mark.parametrize(("links", "expected"), [(b"net:[1]\nnet:[2]\n", NAMESPACE), (b"net:[1]\nnet:[1]\n", None)])
async def test_a_server_in_a_network_of_its_own_is_told(links: bytes, expected: str | None) -> None:
    transport = host(groups=b"", ss=b"")
    transport.answer("readlink", stdout=links)
    assert await own_elsewhere(transport, URL, {"a.service"}, 12) == expected
    assert await own_elsewhere(transport, URL, {"a.service"}, None) is None
