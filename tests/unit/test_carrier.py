"""Exchanging files of packages: whole or not at all, resumed, put back; run as it runs on a host."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.carrier import pack
from dflashtui.carrier.places import FOLDER, Places, Refusal
from dflashtui.carrier.swapping import last, mend
from tests.faults.marks import fault
from tests.support.site_files import distribution, write

if TYPE_CHECKING:
    from pathlib import Path

OLD = {"mine/__init__.py": "# old\n", "mine/gone.py": "# gone\n", "mine/deep/only.py": "# only\n"}
NEW = {"mine/__init__.py": "# new, and longer\n", "mine/added.py": "# added\n"}


class Host:
    """An environment in a folder, and the carrier in a process."""

    def __init__(self, root: Path) -> None:
        self.prefix = root
        self.site = root / "lib/site-packages"
        write(self.site, distribution("mine", "1.0", OLD))

    def order(self, action: str, **more: object) -> dict[str, object]:
        return {"action": action, "site": str(self.site), "prefix": str(self.prefix), "plan": "ab" * 8, **more}

    def run(self, order: dict[str, object], data: bytes = b"") -> list[dict[str, Any]]:
        done = subprocess.run(
            pack.argv(sys.executable), input=pack.payload(order) + data, capture_output=True, check=False
        )
        assert not done.stderr, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def exchange(self, data: bytes | None = None, **more: object) -> list[dict[str, Any]]:
        """Version 2 in place of what is there."""
        files = [[path, hashlib.sha256(text.encode()).hexdigest(), len(text), 0o644] for path, text in NEW.items()]
        order = self.order(
            "apply",
            id="cd" * 8,
            packages=["mine"],
            files=files,
            remove=["mine/gone.py", "mine/deep/only.py"],
            their_python="/theirs/bin/python",
            python="/ours/bin/python",
        )
        return self.run({**order, **more}, "".join(NEW.values()).encode() if data is None else data)

    def texts(self) -> dict[str, str]:
        """The package's files, without metadata."""
        found = (path for path in (self.site / "mine").rglob("*") if path.is_file())
        return {str(path.relative_to(self.site)): path.read_text() for path in found}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_files_are_exchanged_and_put_back(host: Host) -> None:
    (host.site / "mine/__pycache__").mkdir()
    (host.site / "mine/__pycache__/gone.cpython-311.pyc").write_bytes(b"x")
    said = host.exchange()
    assert [fact for fact in said if "wants" in fact] == [{"wants": 0}, {"wants": 1}]
    assert said[-1]["done"]["state"] == "done"
    assert host.texts() == NEW
    assert not (host.site / "mine/deep").exists()

    (one, _) = host.run(host.order("last"))
    assert one["exchange"]["packages"] == ["mine"]
    assert host.run(host.order("undo", id="cd" * 8))[-1]["done"]["state"] == "undone"
    assert host.texts() == OLD
    assert "put back already" in host.run(host.order("undo", id="cd" * 8))[-1]["refused"]
    assert "nothing was exchanged" in host.run(host.order("last"))[-1]["refused"]


def test_a_cut_in_the_middle_changes_nothing_and_the_rest_is_enough_the_next_time(host: Host) -> None:
    first, second = (text.encode() for text in NEW.values())
    said = host.exchange(first + second[:3])
    assert "stopped coming" in said[-1]["refused"]
    assert host.texts() == OLD
    said = host.exchange(second)
    assert [fact for fact in said if "wants" in fact] == [{"wants": 1}]
    assert host.texts() == NEW


def test_damage_on_the_way_is_refused(host: Host) -> None:
    said = host.exchange(b"x" * sum(map(len, NEW.values())))
    assert "arrived damaged" in said[-1]["refused"]
    assert host.texts() == OLD


@fault("I3", how="files of a package named with .., /, links, NUL", result="refused; nothing is written outside")
@pytest.mark.parametrize("path", ["../../../outside.py", "/etc/outside.py", "mine/link/outside.py", "a\0b"])
def test_nothing_outside_of_the_environment_is_touched(host: Host, tmp_path: Path, path: str) -> None:
    (host.site / "mine/link").symlink_to("/tmp")  # noqa: S108 - nothing is written there
    with pytest.raises(Refusal, match="outside"):
        Places(str(host.site), str(host.prefix)).target(path)
    said = host.exchange(files=[[path, "00", 0, 0o644]])
    assert "outside" in said[-1]["refused"]
    assert not (tmp_path.parent / "outside.py").exists()


def test_a_failure_while_files_are_exchanged_puts_all_back(host: Host) -> None:
    """A folder stands where a file shall go."""
    (host.site / "mine/added.py").mkdir()
    said = host.exchange()
    assert "refused" in said[-1]
    (host.site / "mine/added.py").rmdir()
    assert host.texts() == OLD


def test_a_host_that_died_in_the_middle_is_mended_by_the_next_order(host: Host) -> None:
    host.exchange()
    record = host.site.parent / FOLDER / ("cd" * 8) / "record.json"
    cut = json.loads(record.read_text()) | {"state": "swapping"}
    record.write_text(json.dumps(cut))
    (host.site / "mine/added.py").unlink()  # as far as it came
    places = Places(str(host.site), str(host.prefix))
    assert mend(places) == ["cd" * 8]
    assert host.texts() == OLD
    with pytest.raises(Refusal):
        last(places)


def test_scripts_name_the_interpreter_of_this_side(host: Host) -> None:
    text = b"#!/theirs/bin/python\nprint('/theirs/bin/python')\n"
    digest = hashlib.sha256(text).hexdigest()
    host.exchange(text, files=[["../../bin/tool", digest, len(text), 0o755]], remove=[])
    script = host.prefix / "bin/tool"
    assert script.read_text() == "#!/ours/bin/python\nprint('/ours/bin/python')\n"
    assert os.access(script, os.X_OK)


def test_old_exchanges_are_forgotten_and_what_came_lately_is_not(host: Host) -> None:
    places = Places(str(host.site), str(host.prefix))
    for number in range(8):
        places.keep({"id": f"{number:016x}", "plan": "", "at": float(number), "state": "done"})
    for name, age in (("aa" * 8, 0.0), ("bb" * 8, 30 * 86400.0)):
        os.utime(places.folder(name), (time.time() - age,) * 2)
    places.forget_old()
    left = {path.name for path in (host.site.parent / FOLDER).iterdir()}
    assert left == {*(f"{number:016x}" for number in range(3, 8)), "aa" * 8}


def test_two_at_once_are_one_too_many(host: Host) -> None:
    descriptor = Places(str(host.site), str(host.prefix)).locked()
    try:
        assert "somebody else" in host.exchange()[-1]["refused"]
    finally:
        os.close(descriptor)
    assert host.exchange()[-1]["done"]


def test_an_installers_work_is_put_back_too(host: Host) -> None:
    """Everything of the package is kept first; what the installer brought goes."""
    paths = [*OLD, "mine-1.0.dist-info/METADATA", "mine-1.0.dist-info/RECORD"]
    facts = {"id": "ef" * 8, "packages": ["mine"]}
    assert host.run(host.order("keep", **facts, paths=paths))[-1]["done"]["kept"] == len(paths)
    for path in paths:
        (host.site / path).unlink()
    write(host.site, distribution("mine", "2.0", NEW))
    host.run(host.order("seal", **facts))
    now = [*NEW, "mine-2.0.dist-info/METADATA", "mine-2.0.dist-info/RECORD"]
    host.run(host.order("undo", **facts, now=now))
    assert host.texts() == OLD
    assert (host.site / "mine-1.0.dist-info/METADATA").exists()
    assert not (host.site / "mine-2.0.dist-info/METADATA").exists()


def test_files_are_sent_as_they_were_looked_at(host: Host) -> None:
    size = len(OLD["mine/gone.py"])
    argv, order = pack.argv(sys.executable), host.order("send", files=[["mine/gone.py", size], ["mine/gone.py", size]])
    done = subprocess.run(argv, input=pack.payload(order), capture_output=True, check=True)
    assert done.stdout.decode() == OLD["mine/gone.py"] * 2
    for wrong in (size - 1, size + 1):
        order = host.order("send", files=[["mine/gone.py", wrong]])
        done = subprocess.run(argv, input=pack.payload(order), capture_output=True, check=False)
        assert (done.returncode, "changed while" in done.stderr.decode()) == (1, True)


def test_a_console_that_is_gone_does_not_end_what_was_begun(host: Host) -> None:
    files = [[path, hashlib.sha256(text.encode()).hexdigest(), len(text), 0o644] for path, text in NEW.items()]
    order = host.order(
        "apply", id="cd" * 8, packages=["mine"], files=files, remove=["mine/gone.py", "mine/deep/only.py"]
    )
    with subprocess.Popen(pack.argv(sys.executable), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdout.close()
        running.stdin.write(pack.payload(order) + "".join(NEW.values()).encode())
        running.stdin.close()
        assert running.wait(20) == 0
    assert host.texts() == NEW
