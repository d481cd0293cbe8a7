"""The ELF reader against readelf, and against bytes that nobody should trust."""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflashtui.survey.elf import Elf, ElfError, gnu_hash
from dflashtui.survey.fatbin import MAGIC, architectures
from tests.support.shared_objects import named

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = [
    path
    for name in ("libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libz.so.1")
    for path in sorted(Path("/lib").glob(f"*-linux-gnu/{name}"))
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with everything that is read: names, versions both ways, a search path, symbols."""
    folder = tmp_path_factory.mktemp("elf")
    below = named(folder, "libbelow.so.1", "int below(void) { return 1; }", versions="BELOW_1.0 { below; };")
    source = "int below(void);\nint missing_one(void);\nint above(void) { return below() + missing_one(); }"
    options = (str(below), "-Wl,-rpath,$ORIGIN/../lib:/opt/x", "-Wl,--enable-new-dtags")
    return named(folder, "libabove.so.2", source, *options, versions="ABOVE_1.0 { above; };\nABOVE_1.2 { };")


def readelf(path: Path, *options: str) -> str:
    return subprocess.run(("readelf", "-W", *options, path), check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("path", SYSTEM, ids=lambda path: path.name)
def test_system_libraries_read_as_readelf_reads_them(path: Path) -> None:
    dynamic, versions = readelf(path, "-d"), readelf(path, "-V")
    needs, _, defines = versions.partition("Version definition section")
    needs, defines = (defines, needs) if "Version needs" in defines else (needs, defines)
    with Elf(str(path)) as elf:
        assert elf.needed() == re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
        assert elf.soname() == re.search(r"\(SONAME\).*\[(.+)\]", dynamic)[1]  # type: ignore[index]
        wanted = {version.name for version in elf.wanted_versions()}
        offered = elf.defined_versions()
    section = versions[versions.find("Version needs section") :] if "Version needs section" in versions else ""
    assert wanted == set(re.findall(r"Name: (\S+)  Flags", section))
    section = versions[versions.find("Version definition section") :].partition("Version needs")[0]
    assert offered == set(re.findall(r"Name: (\S+)", section)) if "Version definition" in versions else not offered


def test_a_library_tells_its_path_and_symbols(sample: Path) -> None:
    with Elf(str(sample)) as elf:
        assert elf.needed()[0] == "libbelow.so.1"
        assert elf.search_path() == (["$ORIGIN/../lib", "/opt/x"], True)
        assert {version.name for version in elf.wanted_versions()} >= {"BELOW_1.0"}
        assert elf.defined_versions() == {"libabove.so.2", "ABOVE_1.0", "ABOVE_1.2"}
        assert {b"below", b"missing_one"} <= set(elf.undefined_symbols())
        assert elf.defines(b"above", gnu_hash(b"above"))
        assert not elf.defines(b"below", gnu_hash(b"below"))


def everything(path: Path) -> None:
    """All that the survey asks of a file."""
    with Elf(str(path)) as elf:
        parts: tuple[Callable[[], object], ...] = (
            elf.needed,
            elf.soname,
            elf.search_path,
            elf.wanted_versions,
            elf.defined_versions,
            lambda: list(elf.undefined_symbols()),
            lambda: elf.defines(b"above", gnu_hash(b"above")),
            lambda: architectures(elf),
        )
        for part in parts:
            try:
                part()
            except ElfError:
                continue


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), max_size=12), cut=st.integers(0, 20_000))
def test_damage_ends_in_an_error_of_ours_or_in_nothing(
    sample: Path, tmp_path: Path, places: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(sample.read_bytes())
    for place, value in places:
        data[place % len(data)] = value
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(bytes(data[: cut or len(data)]))
    with suppress(ElfError):
        everything(damaged)


@given(data=st.binary(max_size=400))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_after_the_magic(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.so"
    path.write_bytes(b"\x7fELF\x02\x01" + data)
    with suppress(ElfError):
        everything(path)


def test_tables_that_claim_to_be_endless_cost_no_time(sample: Path, tmp_path: Path) -> None:
    data = bytearray(sample.read_bytes())
    data[56:58] = b"\xff\xff"  # e_phnum
    data[60:62] = b"\xff\xff"  # e_shnum
    path = tmp_path / "endless.so"
    path.write_bytes(bytes(data) + b"\0" * (1 << 20))
    began = time.monotonic()
    with suppress(ElfError):
        everything(path)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "no ELF file"), (b"\x7fELF", "too early"), (b"\x7fELF\x01\x01" + b"\0" * 60, "32 bits"), (b"#!/", "no ELF")],
)
def test_what_is_no_file_for_this_machine_is_said(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(data)
    with pytest.raises(ElfError, match=words):
        Elf(str(path))


def entry(kind: int, architecture: int, payload: int = 8) -> bytes:
    header = kind.to_bytes(2, "little") + b"\x01\x01" + (64).to_bytes(4, "little") + payload.to_bytes(8, "little")
    return header + b"\0" * 12 + architecture.to_bytes(4, "little") + b"\0" * 32 + b"p" * payload


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return MAGIC.to_bytes(4, "little") + b"\x01\x00\x10\x00" + len(body).to_bytes(8, "little") + body


def test_fat_binaries_tell_their_architectures(tmp_path: Path) -> None:
    blob = container(entry(2, 90), entry(2, 120, 24)) + container(entry(1, 120), entry(2, 75))
    listed = ",".join(map(str, blob))
    section = '__attribute__((section(".nv_fatbin")))'
    path = named(tmp_path, "libkernels.so", f"{section} const unsigned char code[] = {{{listed}}};")
    with Elf(str(path)) as elf:
        assert architectures(elf) == {"sm": [75, 90, 120], "ptx": [120]}
