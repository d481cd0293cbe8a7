"""The kernel's lines as a journal of their own, beside a unit's."""

from __future__ import annotations

import asyncio

import pytest

from dflashtui.fleet.journal_hub import JournalHub
from dflashtui.model.journal import JournalEntry
from dflashtui.source.journal_argv import KERNEL, JournalAccess, unit_matches
from dflashtui.source.kernel import matters
from tests.unit.journal_fakes import FakeHost

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=471, name=python3, GPU has fallen off the bus"
FROM_KERNEL = {"_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "kernel", "_PID": "0"}


def told(message: str, transport: str = "kernel") -> JournalEntry:
    return JournalEntry.model_validate({"cursor": "i=1", "at": 0, "message": message, "transport": transport})


async def test_a_reader_of_the_kernel_gets_what_is_there_and_what_comes_and_no_unit_does() -> None:
    host, hub = FakeHost(), JournalHub("gpu-a")
    host.log(XID, None, **FROM_KERNEL)
    running = asyncio.create_task(hub.run(host))
    async with asyncio.timeout(10), hub.subscribe(KERNEL) as kernel, hub.subscribe("a.service") as unit:
        seen = [item.message for item in await anext(kernel) if isinstance(item, JournalEntry)]
        assert await anext(unit) == ()
        host.log("Out of memory: Killed process 9 (python3)", None, **FROM_KERNEL)
        host.log("of the unit")
        seen += [item.message for item in await anext(kernel) if isinstance(item, JournalEntry)]
        lines = [item.message for item in await anext(unit) if isinstance(item, JournalEntry)]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert seen == [XID, "Out of memory: Killed process 9 (python3)"]
    assert lines == ["of the unit"]


def test_a_login_without_rights_to_the_kernel_s_lines_does_not_ask_for_everything_instead() -> None:
    assert unit_matches((KERNEL,), JournalAccess(kernel=False)) == ("_TRANSPORT=kernel",)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (XID, True),
        ("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python3,pid=9,uid=0", True),
        ("python3[77]: segfault at 0 ip 00007f sp 00007f error 4 in libcuda.so", True),
        ("usb 1-1: new high-speed USB device", False),
        ("IPv6: ADDRCONF(NETDEV_CHANGE): veth0: link becomes ready", False),
    ],
)
def test_what_of_the_kernel_s_lines_matters(message: str, *, expected: bool) -> None:
    assert matters(told(message)) is expected
    assert not matters(told(message, "syslog"))
