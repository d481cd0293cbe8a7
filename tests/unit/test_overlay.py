"""Overlays by the real pusher, over a package in a real virtual environment."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import venv
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.read import load
from dflashtui.errors import ConfigError
from dflashtui.model.overlay import OverlayState
from dflashtui.model.push import Outcome
from dflashtui.ops.overlay import OverlayFiles, look_at_overlay, overlay_files
from dflashtui.ops.push import Push, Terms, Wanted, wanted_text
from dflashtui.ops.rollback import wanted_before
from tests.faults.marks import fault
from tests.support.pusher_root import HOST, PusherRoot

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.overlay import OverlayLook
    from dflashtui.model.push import PushResult

UNIT = "a.service"
PYTHON = "/opt/venv/bin/python"
TEXT = "[Service]\nExecStart=/bin/true\n"
OWN = {"__init__.py": "own", "srt/engine.py": "own engine"}
LAID = {"__init__.py": b"laid", "srt/new.py": b"laid new"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One virtual environment for all tests; each gets a copy."""
    folder = tmp_path_factory.mktemp("overlay") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    return folder


@pytest.fixture
def host(tmp_path: Path, environment: Path) -> PusherRoot:
    host = PusherRoot(tmp_path / "root")
    shutil.copytree(environment, host.root / "opt/venv", symlinks=True)
    install(host, "1.0")
    return host


def site(host: PusherRoot) -> Path:
    return next((host.root / "opt/venv/lib").glob("python*/site-packages"))


def install(host: PusherRoot, version: str) -> None:
    """As pip would: the package's own files, whatever was there."""
    for old in site(host).glob("sglang*"):
        shutil.rmtree(old)
    for name, text in OWN.items():
        path = site(host) / "sglang" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = site(host) / f"sglang-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n")


def overlay(version: str | None = None, files: dict[str, bytes] = LAID) -> OverlayFiles:
    return OverlayFiles(unit=UNIT, source="patches", python=PYTHON, package="sglang", version=version, files=files)


async def change(
    host: PusherRoot, one: OverlayFiles, action: str = "overlay push", *, force: bool = False
) -> PushResult:
    restores = action == "overlay restore"
    wanted = Wanted(host=HOST, unit=UNIT, action=action, has_file=False, restores=restores)
    return await Push(wanted, Terms(force=force), (one,)).run(host.opened)


async def seen(host: PusherRoot, one: OverlayFiles) -> OverlayLook:
    async with host.open() as opened:
        return await look_at_overlay(opened, one)


def texts(host: PusherRoot) -> dict[str, str]:
    package = site(host) / "sglang"
    return {str(path.relative_to(package)): path.read_text() for path in sorted(package.rglob("*.py"))}


async def test_laid_over_and_given_back(host: PusherRoot) -> None:
    private = site(host) / "sglang/__init__.py"
    private.chmod(0o640)
    done = await change(host, overlay())
    assert done.outcome is Outcome.DONE
    assert texts(host) == {"__init__.py": "laid", "srt/engine.py": "own engine", "srt/new.py": "laid new"}
    assert stat.S_IMODE(private.stat().st_mode) == 0o640
    assert {one.state for one in (await seen(host, overlay())).files} == {OverlayState.LAID}
    before = host.tree()
    assert (await change(host, overlay())).outcome is Outcome.UNCHANGED
    assert host.tree() == before
    assert (await change(host, overlay(), "overlay restore")).outcome is Outcome.DONE
    assert texts(host) == OWN
    assert (await change(host, overlay(), "overlay restore")).outcome is Outcome.UNCHANGED


async def test_a_second_version_keeps_the_first_originals(host: PusherRoot) -> None:
    await change(host, overlay())
    second = overlay(files={"srt/engine.py": b"laid engine"})
    look = await seen(host, second)
    assert {one.name: one.state for one in look.files} == {
        "srt/engine.py": OverlayState.NOT_LAID,
        "__init__.py": OverlayState.EXTRA,
        "srt/new.py": OverlayState.EXTRA,
    }
    assert (await change(host, second)).outcome is Outcome.DONE
    assert texts(host) == {"__init__.py": "own", "srt/engine.py": "laid engine"}
    await change(host, second, "overlay restore")
    assert texts(host) == OWN


@fault("E17", how="a file of the overlay is changed by hand", result="refused until --force, file by file")
async def test_drift_is_told_file_by_file_and_needs_a_word(host: PusherRoot) -> None:
    await change(host, overlay())
    (site(host) / "sglang/__init__.py").write_text("by hand")
    look = await seen(host, overlay())
    assert [one.name for one in look.drifted] == ["__init__.py"]
    refused = await change(host, overlay(), "overlay restore")
    assert refused.outcome is Outcome.REFUSED
    assert "__init__.py: was changed by somebody since it was laid" in refused.message
    assert texts(host)["__init__.py"] == "by hand"
    assert (await change(host, overlay(), force=True)).outcome is Outcome.DONE
    assert texts(host)["__init__.py"] == "laid"


@fault("E17", how="the package is installed anew", result="told; laid again only when asked")
async def test_a_reinstall_that_wiped_it_is_noticed(host: PusherRoot) -> None:
    await change(host, overlay())
    install(host, "1.0")
    look = await seen(host, overlay())
    assert look.is_reinstalled
    assert {one.state for one in look.files} == {OverlayState.WIPED}
    again = await change(host, overlay())
    assert again.outcome is Outcome.DONE
    assert any("installed anew (1.0 again)" in note for note in again.notes)


@fault("E17", how="the package is upgraded", result="refused; restore forgets the overlay")
async def test_old_bytes_never_go_into_a_new_version(host: PusherRoot) -> None:
    await change(host, overlay("1.0"))
    install(host, "2.0")
    refused = await change(host, overlay("1.0"))
    assert refused.outcome is Outcome.REFUSED
    assert "sglang 2.0 is installed, patches is for 1.0" in refused.message
    forgotten = await change(host, overlay("1.0"), "overlay restore")
    assert (forgotten.outcome, texts(host)) == (Outcome.DONE, OWN)
    assert not (await seen(host, overlay())).is_reinstalled


@fault("E17", how="upgraded, with a file of ours left in it", result="the old original is not put into the new version")
async def test_old_files_left_in_a_new_version_are_not_overwritten_by_still_older_ones(host: PusherRoot) -> None:
    await change(host, overlay())
    install(host, "2.0")
    (site(host) / "sglang/__init__.py").write_bytes(LAID["__init__.py"])
    refused = await change(host, overlay(), "overlay restore", force=True)
    assert refused.outcome is Outcome.REFUSED
    assert "sglang is 2.0 by now, the files that were kept are of 1.0" in refused.message


async def test_a_roll_back_takes_the_overlay_of_that_push_with_it(host: PusherRoot) -> None:
    push = Push(wanted_text(HOST, UNIT, TEXT, "a test"), Terms(), (overlay(),))
    assert (await push.run(host.opened)).outcome is Outcome.DONE
    async with host.open() as opened:
        wanted = wanted_before(await opened.look(UNIT))
    back = await Push(wanted, Terms()).run(host.opened)
    assert back.outcome is Outcome.DONE
    assert not (host.units / UNIT).exists()
    assert texts(host) == OWN
    assert (await seen(host, overlay())).laid_version is None


async def test_an_overlay_pushed_alone_is_a_push_of_its_unit_too(host: PusherRoot) -> None:
    host.write(UNIT, TEXT)
    await Push(wanted_text(HOST, UNIT, TEXT, "a test"), Terms(), (overlay(),)).run(host.opened)
    async with host.open() as opened:
        wanted = wanted_before(await opened.look(UNIT))
    assert not wanted.has_file
    await Push(wanted, Terms()).run(host.opened)
    assert (texts(host), (host.units / UNIT).read_text()) == (OWN, TEXT)


@pytest.mark.parametrize("name", ["../escape.py", "/etc/passwd", "a/../../b.py", "out/x.py"])
@fault("E17", how="names with .., absolute ones, a link out of the package", result="refused, nothing written")
async def test_no_file_leaves_the_package(host: PusherRoot, name: str) -> None:
    (site(host) / "sglang/out").symlink_to(host.root)
    refused = await change(host, overlay(files={name: b"x"}))
    assert refused.outcome is Outcome.REFUSED
    assert not (host.root / "x.py").exists()


@fault("E17", how="the environment is behind a link", result="laid and given back in the real folder")
async def test_a_linked_environment_is_its_real_folder(host: PusherRoot) -> None:
    real = host.root / "opt/venv"
    real.rename(host.root / "opt/real")
    real.symlink_to("real")
    done = await change(host, overlay())
    assert done.outcome is Outcome.DONE
    assert (await seen(host, overlay())).folder == str((site(host) / "sglang").resolve())
    assert (await change(host, overlay(), "overlay restore")).outcome is Outcome.DONE
    assert texts(host) == OWN


@fault("E17", how="a file system turns read-only in the middle", result="refused; the first file is taken back")
async def test_an_environment_that_cannot_be_written_is_left_whole(
    host: PusherRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(source: str, target: str) -> None:
        if target.endswith("srt/new.py"):
            raise OSError(errno.EROFS, "Read-only file system")
        really_replace(source, target)

    really_replace = os.replace
    monkeypatch.setattr(os, "replace", read_only)
    refused = await change(host, overlay())
    assert refused.outcome is Outcome.REFUSED
    assert "the file system is read-only; nothing is changed" in refused.message
    assert texts(host) == OWN
    assert host.leftovers == []


async def test_what_is_missing_is_named(host: PusherRoot) -> None:
    missing = overlay().model_copy(update={"package": "vllm"})
    assert "the package vllm is not installed" in (await change(host, missing)).message
    nowhere = overlay().model_copy(update={"python": "/opt/none/bin/python"})
    assert "/opt/none/bin/python: there is no such interpreter" in (await change(host, nowhere)).message


def inventory(tmp_path: Path, python: str = f'python = "{PYTHON}"') -> Path:
    path = tmp_path / "hosts.toml"
    path.write_text(
        f'[hosts.a]\n[units."{UNIT}"]\nhosts = ["a"]\n{python}\n'
        f'[[units."{UNIT}".overlays]]\nsource = "patches"\npackage = "sglang"\nversion = "1.0+cu128"\n'
    )
    return path


def test_the_local_files_are_read_without_what_python_makes(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "sub/__pycache__/b.pyc", ".git/x", "c.pyc"):
        path = tmp_path / "patches" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    (found,) = overlay_files(load(inventory(tmp_path)), UNIT)
    assert (found.version, sorted(found.files)) == ("1.0+cu128", ["a.py", "sub/b.py"])
    (tmp_path / "patches/link.py").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match=r"link.py: is a link or no file"):
        overlay_files(load(inventory(tmp_path)), UNIT)


def test_an_overlay_needs_its_folder_and_an_interpreter(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"source: .*patches is no folder"):
        overlay_files(load(inventory(tmp_path)), UNIT)
    with pytest.raises(ConfigError, match="has overlays but no python"):
        overlay_files(load(inventory(tmp_path, python="")), UNIT)
