"""Metadata of distributions as the survey reads it: against importlib.metadata, and damaged."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.survey import distributions, files, machine
from dflashtui.survey.metadata import headers
from dflashtui.survey.place import Place
from tests.support.site_files import distribution, site, torch, write

if TYPE_CHECKING:
    from pathlib import Path


def surveyed(folder: Path | str, *more: str) -> dict[str, dict[str, Any]]:
    """Facts by name, those that code tells under `code:NAME`; they must go through JSON."""
    facts = json.loads(json.dumps(list(distributions.found({}, Place([str(folder), *more], 20.0)))))
    return {f"code:{fact['code']}" if "code" in fact else fact.get("name", fact["site"]): fact for fact in facts}


def test_this_environment_reads_as_importlib_reads_it() -> None:
    paths = [path for path in sys.path if path.endswith("site-packages")]
    found = surveyed(paths[0], *paths[1:])
    for one in metadata.distributions(path=paths):
        fact = found[one.metadata["Name"]]
        assert fact["version"] == one.version
        assert sorted(fact["requires"]) == sorted(" ".join(text.split()) for text in one.requires or ())


def test_sources_tags_and_the_word_of_the_code(tmp_path: Path) -> None:
    commit = {"vcs": "git", "commit_id": "1a2b3c4d5e6f"}
    url = "https://user:secret@example.org/sglang"
    write(
        tmp_path,
        site(
            torch("2.11.0+cu130", "13.0", metadata="2.9.1+cu128"),
            distribution("sglang", "0.5.11", direct_url={"url": url, "vcs_info": commit}),
            distribution("mine", "1", direct_url={"url": "file:///root/mine", "dir_info": {"editable": True}}),
            distribution("wheel-of-mine", "2", direct_url={"url": "file:///tmp/x.whl", "archive_info": {}}),
            distribution("plain", "3"),
        ),
    )
    found = surveyed(tmp_path)
    assert found["sglang"]["source"] == {"kind": "git", "url": url, "commit": "1a2b3c4d5e6f"}
    assert found["mine"]["source"]["kind"] == "editable"
    assert found["wheel-of-mine"]["source"]["kind"] == "local"
    assert found["plain"]["source"] == {"kind": "index"}
    assert found["plain"]["installer"] == "pip"
    assert found["plain"]["has_record"] is True
    assert found["torch"]["version"] == "2.9.1+cu128"
    assert (found["code:torch"]["__version__"], found["code:torch"]["cuda"]) == ("2.11.0+cu130", "13.0")


def test_eggs_and_their_requirements(tmp_path: Path) -> None:
    folder = tmp_path / "old.egg-info"
    folder.mkdir()
    (folder / "PKG-INFO").write_text("Metadata-Version: 1.2\nName: old\nVersion: 0.1\n")
    (folder / "requires.txt").write_text("six\n\n[:python_version<'3']\nenum34\n\n[test]\npytest>=3\n")
    (tmp_path / "older-0.2-py3.11.egg-info").write_text("Metadata-Version: 1.0\nName: older\nVersion: 0.2\n")
    found = surveyed(tmp_path)
    assert found["old"]["requires"] == ["six", "enum34; (python_version<'3')", 'pytest>=3; extra == "test"']
    assert found["older"]["version"] == "0.2"


def test_damaged_metadata_is_told_and_others_go_on(tmp_path: Path) -> None:
    write(tmp_path, distribution("whole", "1"))
    (tmp_path / "empty-1.0.dist-info").mkdir()
    (tmp_path / "odd-2.0.dist-info").mkdir()
    (tmp_path / "odd-2.0.dist-info/METADATA").write_bytes(b"\xff\xfe\x00garbage\n: :\n")
    (tmp_path / "odd-2.0.dist-info/direct_url.json").write_text("[1, 2")
    found = surveyed(tmp_path)
    assert found["empty"]["problem"] == "No such file or directory"
    assert "lacks a name" in found["odd"]["problem"]
    assert (found["odd"]["version"], found["odd"]["source"]) == ("2.0", {"kind": "unknown"})
    assert "problem" not in found["whole"]


def test_code_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    bad: dict[str, str | bytes] = {"torch/version.py": "__version__ = f(\n", "torch/__init__.py": b"\x00\x00"}
    write(tmp_path, site(distribution("torch", "1", bad), distribution("vllm", "2", {"vllm/_version.py": "(" * 5000})))
    assert {name for name in surveyed(tmp_path) if name.startswith("code:")} == set()


@settings(deadline=None)
@given(st.text())
def test_any_text_has_headers_or_none(text: str) -> None:
    assert all(isinstance(value, str) for values in headers(text).values() for value in values)


def test_files_tell_what_was_patched_added_and_lost(tmp_path: Path) -> None:
    names = ("__init__.py", "a.py", "b.py", "c.py")
    write(tmp_path, distribution("mine", "1", {f"mine/{name}": f"# {name}\n" for name in names}))
    (tmp_path / "mine/a.py").write_text("# patched\n")
    (tmp_path / "mine/c.py").unlink()
    (tmp_path / "mine/new.py").write_text("# new\n")
    (tmp_path / "mine/__pycache__").mkdir()
    (tmp_path / "mine/__pycache__/a.cpython-311.pyc").write_bytes(b"x")
    facts = list(files.found({"packages": ["mine", "absent"]}, Place([str(tmp_path)], 20.0)))
    by_name = {fact["file"]: fact for fact in facts if fact.get("file", "").startswith("mine/")}
    assert set(by_name) == {"mine/__init__.py", "mine/a.py", "mine/b.py", "mine/c.py", "mine/new.py"}
    assert by_name["mine/a.py"]["sha256"] == hashlib.sha256(b"# patched\n").hexdigest()
    assert by_name["mine/a.py"]["recorded"] == hashlib.sha256(b"# a.py\n").hexdigest()
    assert by_name["mine/b.py"]["sha256"] == by_name["mine/b.py"]["recorded"]
    assert by_name["mine/c.py"]["problem"] == "not there"
    assert by_name["mine/new.py"]["recorded"] is None
    assert facts[-1] == {"package": "absent", "problem": "not installed"}


def test_the_machine_is_this_one() -> None:
    (fact,) = json.loads(json.dumps(list(machine.found({}, Place([], 20.0)))))
    assert fact["interpreter"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert fact["interpreter"]["prefix"] == sys.prefix
    assert fact["system"]["markers"]["python_version"] == ".".join(map(str, sys.version_info[:2]))
    assert "gpus" in fact or "gpus_problem" in fact
