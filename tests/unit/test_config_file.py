"""Files that are no readable text, and files that others may change."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dflashtui.config import file
from dflashtui.config.read import load
from dflashtui.errors import ConfigError
from tests.faults.marks import fault

IS_ROOT = os.geteuid() == 0
NOBODY = 2_000_000_123


def problem(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        load(path)
    (sentence,) = raised.value.problems
    assert sentence.isprintable()
    return sentence.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbf[hosts.a]\n", "line 1: begins with a byte order mark"),
        ("[hosts.a]\n".encode("utf-16"), "line 1: begins with a UTF-16 mark"),
        (b'[hosts.a]\nuser = "\xff"\n', "line 2: byte 0xff is not UTF-8"),
        (b"#" * (file.LARGEST_BYTES + 1), "is larger than 1 MiB"),
    ],
)
@fault("G1", how="bytes that are no text", result="a clear error")
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "hosts.toml"
    path.write_bytes(data)
    assert problem(path).startswith(expected)


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    text = b"[hosts.a]\n#"
    path.write_bytes(text + b"#" * (file.LARGEST_BYTES - len(text)))
    assert load(path).host("a").name == "a"


@fault("G1", how="a FIFO", result="refused at once")
def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hosts.toml")
    assert problem(tmp_path / "hosts.toml").startswith("is a pipe")


def test_what_is_no_file(tmp_path: Path) -> None:
    assert problem(tmp_path) == "is a folder, not a file"
    assert problem(Path("/dev/null")) == "is a device"
    assert problem(tmp_path / "gone") == "cannot be opened: No such file or directory"
    assert problem(Path(f"{tmp_path}/\0x")).endswith("embedded null byte")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert problem(tmp_path / "loop").startswith("cannot be opened: Too many levels")


def test_a_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert problem(tmp_path / "s").startswith("cannot be opened: ")


@pytest.fixture
def plain_user() -> Iterator[None]:
    """Root may read everything: look as somebody else."""
    if not IS_ROOT:
        yield
        return
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)


def test_no_permission(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "hosts.toml"
    path.touch(mode=0)
    request.getfixturevalue("plain_user")
    assert problem(path) == "cannot be opened: Permission denied"


@fault("G6", how="a file that anyone may write", result="a warning")
def test_a_file_that_anyone_may_change_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text('[hosts.a]\n[units."u.service"]\nhosts = ["a"]\nfile = "u.service"\n')
    (tmp_path / "u.service").touch()
    path.chmod(0o644)
    assert load(path).warnings == ()
    path.chmod(0o666)
    (tmp_path / "u.service").chmod(0o666)
    assert load(path).warnings == tuple(
        f"{name}: any user of this machine may change it; run: chmod o-w {name}"
        for name in (path, path.parent / "u.service")
    )


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
def test_a_file_of_another_user_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("[hosts.a]\n")
    os.chown(path, 4_000_000, -1)
    assert load(path).warnings == (f"{path}: belongs to user 4000000, neither to you nor to root",)
