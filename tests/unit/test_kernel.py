from datetime import UTC, datetime
from pathlib import Path

import pytest

from dflashtui.model.gpu import Xid
from dflashtui.model.journal import JournalEntry
from dflashtui.model.kernel import OomKill
from dflashtui.model.xids import MEANINGS, meaning
from dflashtui.source.kernel import OomReader, nvml_bus_id, xid

AT = datetime(2026, 12, 1, tzinfo=UTC)
DATA = Path(__file__).parent.parent / "data"


def kernel_line(message: str, transport: str | None = "kernel") -> JournalEntry:
    return JournalEntry(cursor="c", at=AT, message=message, transport=transport, syslog_identifier="kernel")


def test_the_xids_of_a_real_h200() -> None:
    lines = (DATA / "nvml/h200-kernel-xid.log").read_text().splitlines()
    found = [told for line in lines if (told := xid(kernel_line(line)))]
    assert [(one.xid, one.pid, one.process_name) for one in found] == [
        (43, 471, "python3"),
        (31, 502, "python3"),
        (31, 526, "python3"),
    ]
    assert {one.pci_bus_id for one in found} == {"00000000:00:06.0"}
    assert found[0].message == "channel 0x0000000a"
    assert found[1].message.startswith("channel 0x0000000a, intr 00000000. MMU Fault: ENGINE GRAPHICS")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            ("00000000:3B:00.0", 79, None, None, "GPU has fallen off the bus."),
        ),
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
            ("00000000:3B:00.0", 79, None, None, "GPU has fallen off the bus."),
        ),
        (
            "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping",
            ("00000000:10:1C.0", 63, 1896, None, "Row Remapper: New row marked for remapping"),
        ),
        (
            "NVRM: Xid (0000:01:00): 31, Ch 0000000b, engmask 00000120, intr 10000000",
            ("00000000:01:00.0", 31, None, None, "Ch 0000000b, engmask 00000120, intr 10000000"),
        ),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 45, pid=9, name=VLLM::EngineCor, Ch 00000008",
            ("00000000:01:00.0", 45, 9, "VLLM::EngineCor", "Ch 00000008"),
        ),
        (
            "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            (
                "00000009:01:00.0",
                154,
                None,
                None,
                "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            ),
        ),
        (
            "NVRM: Xid (PCI:0000:18:00): 119, pid=12, name=nvc:[driver], Timeout after 6s of waiting",
            ("00000000:18:00.0", 119, 12, "nvc:[driver]", "Timeout after 6s of waiting"),
        ),
        (
            "NVRM: Xid (PCI:0000:01:00): 62, 0096(1c54) 00000000 00000000",
            ("00000000:01:00.0", 62, None, None, "0096(1c54) 00000000 00000000"),
        ),
        ("NVRM: Xid (PCI:0000:01:00): 13", ("00000000:01:00.0", 13, None, None, "")),
        (
            "NVRM: The NVIDIA GPU 0000:b3:00.0\nNVRM: (PCI ID: 10de:26b5)\nNVRM: fallen off the bus and is silent",
            ("00000000:B3:00.0", 79, None, None, "GPU has fallen off the bus"),
        ),
    ],
)
def test_the_forms_of_an_xid(line: str, expected: tuple[str, int, int | None, str | None, str]) -> None:
    bus, number, pid, name, message = expected
    assert xid(kernel_line(line)) == Xid(pci_bus_id=bus, xid=number, at=AT, pid=pid, process_name=name, message=message)


@pytest.mark.parametrize(
    "line",
    [
        "NVRM: GPU at PCI:0000:00:06: GPU-00000000-0000-4000-8000-000000000001",
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46",
        "NVRM: Xid error: xyz, invalid data",
        "NVRM: Xid (PCI:3b): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:::): 79, GPU has fallen off the bus.",
        "",
    ],
)
def test_other_lines_are_no_xid(line: str) -> None:
    assert xid(kernel_line(line)) is None


@pytest.mark.parametrize("transport", ["syslog", "journal", "stdout", None])
def test_nobody_but_the_kernel_can_tell_an_xid(transport: str | None) -> None:
    line = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    assert xid(kernel_line(line, transport)) is None


@pytest.mark.parametrize("pci", ["0000:3b:00", "0000:3b:00.0", "00000000:3B:00.0"])
def test_bus_ids_in_nvmls_form(pci: str) -> None:
    assert nvml_bus_id(pci) == "00000000:3B:00.0"


CONTEXT = (
    "oom-kill:constraint={constraint},nodemask=(null),cpuset=sglang.service,mems_allowed=0,"
    "oom_memcg=/system.slice/sglang.service,task_memcg=/system.slice/sglang.service,task=python3,pid=4242,uid=0"
)
KILLED = (
    "{scope}: Killed process 4242 (python3) total-vm:81920kB, anon-rss:20480kB, file-rss:4kB, shmem-rss:0kB, "
    "UID:0 pgtables:100kB oom_score_adj:0"
)


def killed(*lines: str) -> list[OomKill]:
    reader = OomReader()
    return [kill for line in lines if (kill := reader.read(kernel_line(line)))]


def test_a_kill_at_the_groups_limit_names_the_unit() -> None:
    lines = CONTEXT.format(constraint="CONSTRAINT_MEMCG"), KILLED.format(scope="Memory cgroup out of memory")
    assert killed(*lines) == [
        OomKill(
            at=AT,
            pid=4242,
            process_name="python3",
            unit="sglang.service",
            is_cgroup_limit=True,
            anon_rss_bytes=20480 * 1024,
        )
    ]


def test_a_kill_of_the_whole_host() -> None:
    (kill,) = killed(CONTEXT.format(constraint="CONSTRAINT_NONE"), KILLED.format(scope="Out of memory"))
    assert (kill.unit, kill.is_cgroup_limit) == ("sglang.service", False)


def test_a_kernel_before_5_0_does_not_name_the_unit() -> None:
    (kill,) = killed(
        "Memory cgroup out of memory: Kill process 4242 (python3) score 900 or sacrifice child",
        "Killed process 4242 (python3), UID 0, total-vm:81920kB, anon-rss:20480kB, file-rss:4kB, shmem-rss:0kB",
    )
    assert (kill.pid, kill.unit, kill.anon_rss_bytes) == (4242, None, 20480 * 1024)


def test_the_context_of_one_kill_is_not_used_for_another() -> None:
    (kill,) = killed(
        CONTEXT.format(constraint="CONSTRAINT_MEMCG").replace("4242", "1"), KILLED.format(scope="Out of memory")
    )
    assert (kill.pid, kill.unit, kill.is_cgroup_limit) == (4242, None, False)


def test_the_reaper_is_no_second_kill() -> None:
    assert killed("oom_reaper: reaped process 4242 (python3), now anon-rss:0kB, file-rss:0kB") == []


def test_a_program_cannot_pretend_a_kill() -> None:
    assert OomReader().read(kernel_line(KILLED.format(scope="Out of memory"), "stdout")) is None


def test_every_meaning_says_what_to_do() -> None:
    assert all(one.words and one.advice for one in MEANINGS.values())
    assert meaning(79) is not None
    assert meaning(79999) is None
