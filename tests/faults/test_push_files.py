"""What may happen to a unit's file while it is replaced, on a folder that stands for a host."""

from __future__ import annotations

import os
import resource
import stat
import struct
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.errors import ConfigError
from dflashtui.model.push import Outcome
from dflashtui.ops.push import Push, Terms, wanted_text
from dflashtui.pusher import files
from dflashtui.pusher.places import Places
from dflashtui.pusher.stage import Stage
from dflashtui.pusher.trouble import Refusal
from dflashtui.source.systemd_names import full_pattern
from tests.faults.marks import fault
from tests.support.pusher_root import HOST, PusherRoot
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.model.push import PushResult

UNIT = "a.service"
OLD = "[Service]\nType=exec\nExecStart=/bin/sleep 1\n"
NEW = "[Service]\nType=exec\nExecStart=/bin/sleep 2\n"
STRANGER = 4711


@pytest.fixture
def host(tmp_path: Path) -> PusherRoot:
    return PusherRoot(tmp_path)


async def push(host: PusherRoot, text: str = NEW, unit: str = UNIT, *, force: bool = False) -> PushResult:
    return await Push(wanted_text(HOST, unit, text, "a test"), Terms(force=force)).run(host.opened)


def acl(*, group: int, stranger: int, mask: int) -> bytes:
    """An access list: owner rw, a group, a stranger, others nothing (linux/posix_acl_xattr.h)."""
    entries = ((1, 6, 2**32 - 1), (2, stranger, STRANGER), (4, group, 2**32 - 1), (16, mask, 2**32 - 1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in (*entries, (32, 0, 2**32 - 1)))


@fault(
    "B10",
    how="an access list that lets one stranger read and write",
    result="he may read on, not write; the group may not",
)
async def test_an_access_list_is_kept_and_lets_nobody_else_write(host: PusherRoot) -> None:
    target = host.write(UNIT, OLD)
    os.setxattr(target, files.ACL, acl(group=0, stranger=6, mask=6))
    done = await push(host)
    assert done.outcome is Outcome.DONE
    assert f"{target}: its access list is kept; nobody but its owner may write" in done.notes
    assert os.getxattr(target, files.ACL) == acl(group=0, stranger=4, mask=4)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@fault("B10", how="every file on its way is looked at as it is opened", result="0600 until it is whole")
async def test_what_is_on_its_way_is_private(host: PusherRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []

    def opened(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:  # noqa: ANN401 - os.open's own
        descriptor = really_open(path, flags, mode, **more)
        if flags & os.O_CREAT:
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    really_open = os.open
    monkeypatch.setattr(os, "open", opened)
    assert (await push(host)).outcome is Outcome.DONE
    assert len(modes) > 3
    assert set(modes) == {0o600}


@fault("B5", how="a hard link in the unit's place", result="told; the other name keeps the old text")
async def test_another_name_of_the_file_keeps_the_old_text(host: PusherRoot) -> None:
    target = host.write(UNIT, OLD)
    other = host.root / "other-name"
    other.hardlink_to(target)
    done = await push(host)
    assert f"{target}: has 2 names (hard links): the others keep the old text" in done.notes
    assert (target.read_text(), other.read_text()) == (NEW, OLD)


@fault("B4", how="a limit of 4 KiB on files (ulimit -f)", result="told as that; the old file stands, nothing is left")
async def test_a_limit_on_file_sizes_is_told(host: PusherRoot) -> None:
    target = host.write(UNIT, OLD)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))
    try:
        wanted = wanted_text(HOST, UNIT, NEW + "# more than the limit\n" * 500, "a test")
        refused = await Push(wanted, Terms()).run(host.shipped)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert refused.outcome is Outcome.REFUSED
    assert "a limit on the size of files (ulimit -f) is too small for it" in refused.message
    assert (target.read_text(), host.reloads) == (OLD, 0)
    await until(lambda: host.leftovers == [])


class Disk:
    """What would be left of a folder after a power cut: contents and names count once they were synced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: set[int] = set()
        self.faults: list[str] = []
        self.unsynced_names: set[str] = set()
        for name, call in (("fsync", self._fsync), ("replace", self._replace), ("unlink", self._unlink)):
            monkeypatch.setattr(os, name, partial(call, getattr(os, name)))

    def _fsync(self, real: Callable[[int], None], descriptor: int) -> None:
        real(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            folder = Path(f"/proc/self/fd/{descriptor}").readlink()
            self.unsynced_names = {one for one in self.unsynced_names if Path(one).parent != folder}
        else:
            self.synced.add(status.st_ino)

    def _replace(self, real: Callable[[str, str], None], source: str, target: str) -> None:
        if Path(source).stat().st_ino not in self.synced:
            self.faults.append(f"{target}: renamed before its bytes were on disk")
        real(source, target)
        self.unsynced_names.add(target)

    def _unlink(self, real: Callable[[str], None], path: str) -> None:
        real(path)
        self.unsynced_names.discard(path)


@fault(
    "B6",
    how="each rename is held against what was synced by then",
    result="bytes before the name, the folder after; a record before the file",
    stand_in="power loss on a real disk",
)
async def test_everything_is_on_disk_in_order(host: PusherRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    host.write(UNIT, OLD)
    disk = Disk(monkeypatch)
    assert (await push(host)).outcome is Outcome.DONE
    assert len(disk.synced) > 3
    assert disk.faults == []
    assert disk.unsynced_names == set()


BAD_TEXTS = {
    "section": ("[Servce]\n" + NEW, ":1: section [Servce] is unknown"),
    "open quote": (NEW.replace("sleep 2", 'sleep "2'), ':3: ExecStart=: a " is opened and not closed'),
    "NUL": (NEW + "#\0\n", ":4: a lone carriage return or a NUL"),
    "no equals sign": (NEW + "Environment\n", ":4: this line has no ="),
    "a line of 2 MB": (NEW + f"Environment=A={'x' * 2**21}\n", ":4: is longer than 1 MiB"),
}


@fault("E2", how="section, quote, NUL, no =, a line of 2 MB", result="refused with the line before anything is sent")
@pytest.mark.parametrize("name", BAD_TEXTS)
async def test_a_bad_text_is_refused_before_it_is_sent(host: PusherRoot, name: str) -> None:
    host.write(UNIT, OLD)
    text, words = BAD_TEXTS[name]
    refused = await push(host, text)
    assert refused.outcome is Outcome.REFUSED
    assert f"{UNIT}{words}" in refused.message
    assert not host.state.exists(), "nothing of it was staged"


@fault("E2", how="a byte order mark, line ends of Windows", result="pushed byte for byte, and told")
@pytest.mark.parametrize(
    ("text", "words"),
    [("\ufeff" + NEW, "begins with a byte order mark"), (NEW.replace("\n", "\r\n"), "has the line ends of Windows")],
)
async def test_marks_of_another_world_are_told(host: PusherRoot, text: str, words: str) -> None:
    done = await push(host, text)
    assert done.outcome is Outcome.DONE
    assert any(f"{UNIT}:1: {words}" in note for note in done.notes)
    assert (host.units / UNIT).read_bytes() == text.encode()


@fault("I5", how="links at the names that staging will take", result="fresh files only; nothing is followed")
def test_no_link_is_followed_while_staging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    state = Path(Places({"manager": "system", "root": str(tmp_path)}).state)
    state.mkdir(parents=True)
    monkeypatch.setattr(os, "urandom", lambda count: b"\0" * count)  # a guesser who is always right
    (state / f"staged-{'00' * 8}").symlink_to(tmp_path)
    with pytest.raises(Refusal, match="File exists"):
        Stage(str(state)).take("victim", b"ours")
    target = tmp_path / "unit.service"
    target.write_text("old")
    (tmp_path / f"unit.service.dflash-{'00' * 4}").symlink_to(victim)
    with pytest.raises(Refusal):
        files.replace(str(target), b"ours", 0o644)
    assert (victim.read_text(), target.read_text()) == ("untouched", "old")


@fault("E4", how="slashes, blanks, semicolons, 300 characters", result="refused before anything is asked")
@pytest.mark.parametrize("name", ["../../x.service", "a;b.service", "a b.service", f"{'a' * 300}.service", "x/y", "\n"])
def test_no_name_becomes_more_than_a_name(name: str) -> None:
    with pytest.raises((ValueError, ConfigError)):
        full_pattern(name)
