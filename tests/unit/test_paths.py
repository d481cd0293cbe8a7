"""Folders of the person, whatever the environment says; files that the package ships."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from dflashtui import paths
from dflashtui.paths import config_folder, shared, state_folder
from tests.faults.marks import fault

NOBODY = 2_000_000_123


def test_xdg_folders_are_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert config_folder() == tmp_path / "c/dflashtui"
    assert state_folder() == tmp_path / "s/dflashtui"


@pytest.mark.parametrize("value", ["", "relative/folder"])
@fault("G7", how="XDG folders that are empty or relative", result="ignored")
def test_empty_and_relative_xdg_folders_are_ignored(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", value)
    monkeypatch.setenv("XDG_STATE_HOME", value)
    assert config_folder() == tmp_path / ".config/dflashtui"
    assert state_folder() == tmp_path / ".local/state/dflashtui"


def test_asking_creates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    config_folder()
    state_folder()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an account without a home")
@fault("G7", how="no HOME and no entry in passwd", result="never a folder in the working directory")
def test_an_account_without_a_home_gets_no_folder_in_the_working_directory(tmp_path: Path) -> None:
    code = (
        f"import os; from dflashtui import paths; os.setuid({NOBODY}); os.environ.clear(); "
        "print(paths.config_folder(), paths.state_folder())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["/nonexistent/.config/dflashtui", "/nonexistent/.local/state/dflashtui"]


def test_shipped_files_are_found_beside_the_checkout() -> None:
    assert shared("hosts.toml").is_file()
    assert list(shared("themes").glob("*.toml"))


def test_the_wheel_carries_the_sample_and_the_themes(tmp_path: Path) -> None:
    root = paths.PACKAGE.parent
    (wheel,) = WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        sample = archive.read("dflashtui/_shared/hosts.toml")
    assert sample == (root / "hosts.toml").read_bytes()
    assert {f"dflashtui/_shared/themes/{theme.name}" for theme in (root / "themes").glob("*.toml")} <= names
    assert "dflashtui/cli/__init__.py" in names
    assert not [name for name in names if name.startswith("tests/")]
