"""What a valid hosts.toml means."""

import os
from pathlib import Path

import pytest

from dflashtui.config.file import find
from dflashtui.config.model import Overlay, ReadinessRule
from dflashtui.config.read import ENGINE_UNITS, load
from dflashtui.paths import shared
from tests.unit.config_text import FULL


@pytest.fixture
def full(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.toml"
    path.write_text(FULL)
    path.chmod(0o600)
    return path


def test_a_host_takes_what_it_does_not_say_from_the_defaults(full: Path) -> None:
    ct129, here = load(full).hosts
    assert (ct129.user, ct129.port, ct129.become) == ("ops", 22, "sudo")
    assert (here.user, here.port, here.transport, here.manager) == ("ops", 2222, "local", "user")


def test_vars_merge_by_key(full: Path) -> None:
    ct129, here = load(full).hosts
    assert ct129.vars == {"models": "/fast", "cache": "/cache"}
    assert here.vars == {"models": "/models", "cache": "/cache"}


def test_paths_count_from_the_folder_of_the_file_and_home_is_expanded(full: Path) -> None:
    config = load(full)
    host = config.host("ct129")
    assert host.identity_file == Path.home() / ".ssh/id_ed25519"
    assert host.known_hosts == full.parent / "known_hosts"
    unit = config.unit("b@1.service")
    assert unit is not None
    assert unit.file == full.parent / "b.service"


def test_a_relative_file_name_gives_absolute_paths(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(full.parent)
    assert load(Path("hosts.toml")).host("ct129").known_hosts == full.parent / "known_hosts"


def test_a_unit_is_read_whole(full: Path) -> None:
    unit = load(full).units[0]
    assert unit.hosts == ("ct129", "here")
    assert unit.gpus == (1, "GPU-5d1f0a3c", "MIG-GPU-5d1f0a3c/1/0")
    assert unit.listen == "[::]:30001"
    assert unit.args == {"mem-fraction-static": 0.75, "speculative-config": {"method": "dflash"}, "quiet": True}
    assert unit.readiness == ReadinessRule(url="https://example.org:8443/health", via="console", timeout_seconds=5400)
    assert unit.overlays == (Overlay(source=full.parent / "patches/sglang", package="sglang"),)
    assert unit.environment == {"A": "1"}


def test_groups_and_console(full: Path) -> None:
    config = load(full)
    group = config.group_of(config.host("ct129"))
    assert group is not None
    assert (group.protected, group.read_only) == (True, False)
    assert config.group_of(config.host("here")) is None
    console = config.console
    assert (console.theme, console.mouse, console.bell) == ("mine", False, "on-bad")
    assert console.keymap == {"unit.restart": "ctrl+r"}


def test_watched_are_the_units_of_a_host_then_its_patterns(full: Path) -> None:
    config = load(full)
    assert config.watched(config.host("ct129")) == ("a.service", "sglang-*.service", "nginx.service")


def test_reading_twice_gives_equal_values(full: Path) -> None:
    assert load(full) == load(full)


def test_crlf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_bytes(b'[hosts.a]\r\nuser = "root"\r\n')
    assert load(path).host("a").user == "root"


def test_an_own_template_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/mine.service.j2").write_text("[Service]\n")
    path = tmp_path / "hosts.toml"
    path.write_text('[hosts.a]\n[units."u.service"]\nhosts = ["a"]\ntemplate = "mine"\n')
    assert load(path).units[0].template == "mine"


def test_the_sample_is_valid_and_shows_the_two_hosts_and_five_units() -> None:
    config = load(shared("hosts.toml"))
    assert [host.name for host in config.hosts] == ["ct129", "ct200"]
    assert len(config.units) == 5
    smoke = config.unit("sglang-dflash-smoke.service")
    assert smoke is not None
    assert (smoke.hosts, smoke.gpus, smoke.listen, smoke.reference) == (("ct200",), (1,), "0.0.0.0:30001", "ct129")
    assert smoke.readiness.timeout_seconds == 900


def test_without_a_file_this_machine_alone_is_watched() -> None:
    config = load(None)
    assert config.path is None
    (host,) = config.hosts
    assert (host.name, host.transport, host.units) == (os.uname().nodename, "local", ENGINE_UNITS)


def test_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "dflashtui").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find(None) is None
    own = tmp_path / "dflashtui/hosts.toml"
    own.touch()
    assert find(None) == own
    Path("hosts.toml").symlink_to("gone")  # found, so that its error is told instead of another file being used
    assert find(None) == Path("hosts.toml")
    assert find(Path("other.toml")) == Path("other.toml")
