"""What differs between environments, and in which order it is told."""

from __future__ import annotations

import json

from dflashtui.model.comparison import Comparison, Remark
from dflashtui.model.environment import PackageFile, Source
from dflashtui.ops.compare import compare, compare_files
from dflashtui.ops.compare_report import document, lines
from tests.unit.environments import code, dist, environment, gpu

CT129 = environment(
    dist("zlib-x", "1"),
    dist("numpy", "2"),
    dist("nvidia-cublas", "13.0"),
    dist("xgrammar", "0.1.32"),
    dist("sglang", "0.5.11", source=Source(kind="git", url="https://x/sglang", commit="1a2b3c4d5e6f7")),
    dist("torch", "2.11.0"),
    dist("torchvision", "0.26.0"),
    host="ct129",
    codes=(code("torch", "2.11.0+cu130", "13.0"),),
    gpus=(gpu(0, 12), gpu(1, 12)),
)
CT200 = environment(
    dist("numpy", "2"),
    dist("nvidia-cublas-cu12", "12.8"),
    dist("xgrammar", "0.1.10"),
    dist("torch", "2.11.0"),
    dist("torchvision", "0.26.0"),
    host="ct200",
    codes=(code("torch", "2.11.0+cu128", "12.8"), code("torchvision", "0.26.0+cu130")),
    gpus=(gpu(0, 12),),
    variables={"PYTHONPATH": "/root/x"},
)


def names(comparison: Comparison) -> list[str]:
    return [row.name for row in comparison.differences]


def test_what_decides_comes_first_with_the_word_of_the_code() -> None:
    found = compare([CT129, CT200])
    assert names(found) == [
        "torch",
        "cuda",
        "gpus",
        "torchvision",
        "sglang",
        "xgrammar",
        "nvidia-cublas",
        "nvidia-cublas-cu12",
        "PYTHONPATH",
        "zlib-x",
    ]
    torch = found.rows[0]
    assert (torch.on("ct129"), torch.on("ct200")) == ("2.11.0+cu130", "2.11.0+cu128")
    assert found.verdict == "fatal"
    assert [remark.host for remark in torch.fatal] == ["ct200"]
    assert "torchvision is built for CUDA 13.0, torch for 12.8" in torch.fatal[0].message


def test_equal_environments_say_nothing() -> None:
    found = compare([CT129, CT129.model_copy(update={"host": "ct130"})])
    assert (names(found), found.verdict) == ([], "same")
    assert lines(found, every=False, colour=False) == [f"the same in all {len(found.rows)}"]
    assert len(lines(found, every=True, colour=False)) == len(found.rows) + 2


def test_many_hosts_are_grouped_by_answer_the_most_common_first() -> None:
    hosts = [CT129.model_copy(update={"host": f"ct{number}"}) for number in range(130, 134)]
    found = compare([CT200, *hosts])
    (line,) = (line for line in lines(found, every=False, colour=False) if "xgrammar" in line)
    assert line.split() == ["xgrammar", "0.1.32:", "ct130", "ct131", "ct132", "ct133", "·", "0.1.10:", "ct200"]


def test_a_fatal_thing_that_is_the_same_everywhere_is_no_difference() -> None:
    twin = CT200.model_copy(update={"host": "ct201"})
    assert compare([CT200, twin]).verdict == "same"


def test_a_host_that_could_not_be_read_is_said_and_changes_the_verdict() -> None:
    found = compare([CT129], [Remark(host="ct200", message="unreachable")])
    assert found.verdict == "unknown"
    assert lines(found, every=False, colour=False) == ["? ct200: unreachable"]


def test_text_of_hosts_acts_on_no_terminal() -> None:
    hostile = environment(dist("zlib-x", "1\x1b[31m\u202e"), host="ct666")
    said = "\n".join(lines(compare([CT129, hostile]), every=True, colour=False))
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_the_document_has_every_difference() -> None:
    told = json.loads(json.dumps(document(compare([CT129, CT200]), every=False)))
    assert told["verdict"] == "fatal"
    assert told["differences"][0]["stands"] == [
        {"value": "2.11.0+cu130", "hosts": ["ct129"]},
        {"value": "2.11.0+cu128", "hosts": ["ct200"]},
    ]
    assert told["same"] > 0


def file(name: str, sha256: str | None, recorded: str | None = "aa" * 32, **more: bool) -> PackageFile:
    return PackageFile(package="sglang", file=name, sha256=sha256, recorded=recorded, size=3, mode=0o644, **more)


def test_files_tell_which_host_has_which_patch() -> None:
    installed, patched = "aa" * 32, "bb" * 32
    found = compare_files(
        {
            "ct129": (
                file("sglang/a.py", patched),
                file("sglang/b.py", installed),
                file("sglang/new.py", patched, None, is_listed=False),
            ),
            "ct200": (
                file("sglang/a.py", installed),
                file("sglang/b.py", installed),
                file("x.dist-info/RECORD", patched),
            ),
        }
    )
    assert names(found) == ["sglang/a.py", "sglang/new.py"]
    assert found.rows[0].on("ct129") == "bbbbbbbbbb, patched"
    assert found.differences[1].on("ct129") == "bbbbbbbbbb, in no RECORD"
    assert found.differences[1].on("ct200") is None
