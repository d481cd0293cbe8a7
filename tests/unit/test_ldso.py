"""The loader's path: against ldconfig, against the real loader, and with a cache that nobody should trust."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.survey.elf import Elf
from dflashtui.survey.ldso import CACHE, MAGIC, OLD_MAGIC, X86_64, Loader, Searched, cached, expanded
from tests.support.shared_objects import named

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_the_cache_holds_what_ldconfig_prints() -> None:
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if ldconfig is None or not Path(CACHE).exists():
        pytest.skip("no ldconfig, or no cache")
    with Elf(os.path.realpath(sys.executable)) as program:
        found = cached(Path(CACHE).read_bytes(), program.machine)
    printed = subprocess.run((ldconfig, "-p"), check=True, capture_output=True, text=True).stdout
    told = re.findall(r"^\t(\S+) \(libc6,(?:x86-64|AArch64)[^)]*\) => (\S+)$", printed, re.MULTILINE)
    assert told
    for name, path in told:
        assert path in found[name]


@given(st.binary(max_size=300), st.sampled_from([b"", MAGIC, OLD_MAGIC + b"\0" + struct.pack("=I", 3)]))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_a_cache_or_none(data: bytes, head: bytes) -> None:
    found = cached(head + data, X86_64)
    assert all(isinstance(path, str) for paths in found.values() for path in paths)


def test_a_cache_behind_one_of_the_old_format_is_read() -> None:
    head = OLD_MAGIC.ljust(12, b"\0") + struct.pack("=I", 1) + b"\0" * 12
    names = b"libx.so.1\0/opt/libx.so.1\0"
    entry = struct.pack("=iIIIQ", 0x0303, 72, 82, 0, 0)
    body = MAGIC + struct.pack("=II", 1, len(names)) + b"\0" * 20 + entry + names
    padded = head.ljust(-(-len(head) // 8) * 8, b"\0")
    assert cached(padded + body, X86_64) == {"libx.so.1": ["/opt/libx.so.1"]}


@pytest.mark.parametrize(
    ("written", "place"),
    [("$ORIGIN/../lib", "/a/lib"), ("${ORIGIN}", "/a/b"), ("/x/$LIB", "/x/lib64"), ("/p/${PLATFORM}", "/p/x86_64")],
)
def test_words_in_a_search_path(written: str, place: str) -> None:
    assert expanded(written, "/a/b", X86_64) == place


RUNPATH, RPATH = "-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"


@pytest.mark.parametrize("kind", [RUNPATH, RPATH])
@pytest.mark.parametrize("places", [("own",), ("own", "environment"), ("environment",), ()])
def test_the_file_is_the_one_that_the_loader_takes(tmp_path: Path, kind: str, places: tuple[str, ...]) -> None:
    """LD_LIBRARY_PATH goes before RUNPATH, but after RPATH."""
    first = named(tmp_path / "build", "libwanted.so.7", "int wanted;")
    user = named(tmp_path, "libuser.so", "int user;", str(first), f"-Wl,-rpath,{tmp_path}/own", kind)
    for place in places:
        (tmp_path / place).mkdir()
        shutil.copy(first, tmp_path / place)
    environment = {"LD_LIBRARY_PATH": f"{tmp_path}/environment"}
    with Elf(str(user)) as elf:
        loader = Loader(elf.machine, environment)
        ours = loader.find("libwanted.so.7", Searched(str(tmp_path), *elf.search_path()))
    assert ours == loaded(user, environment)


def loaded(user: Path, environment: Mapping[str, str]) -> str | None:
    """What the real loader maps for it."""
    program = (
        "import ctypes, sys; ctypes.CDLL(sys.argv[1]); "
        "print([l.split()[-1] for l in open('/proc/self/maps') if 'libwanted' in l][0])"
    )
    done = subprocess.run(
        (sys.executable, "-c", program, user), capture_output=True, text=True, env=environment, check=False
    )
    return done.stdout.strip() or None
