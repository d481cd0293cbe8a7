"""Compiled files of an environment: what is told of them is what the loader says, or would."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from dflashtui.survey.binaries import found
from dflashtui.survey.place import Place
from tests.support.shared_objects import built, named
from tests.support.site_files import distribution, write

if TYPE_CHECKING:
    from pathlib import Path


def surveyed(site: Path, **order: object) -> dict[str, dict[str, Any]]:
    """Facts by file name."""
    facts = found(order, Place([str(site)], 20.0))
    return {fact["binary"].rpartition("/")[2]: fact for fact in facts if "binary" in fact}


def load_error(path: Path) -> str:
    """What the real loader says in a fresh process; empty: it takes the file."""
    program = "import ctypes, sys\ntry:\n  ctypes.CDLL(sys.argv[1])\nexcept OSError as e:\n  print(e)"
    return subprocess.run((sys.executable, "-c", program, path), capture_output=True, text=True, check=True).stdout


def test_cuda_generation_and_owner(tmp_path: Path) -> None:
    runtime = named(tmp_path / "elsewhere", "libcudart.so.12")
    extension = built(tmp_path / "site/sgl_kernel/common_ops.abi3.so", "int f;", str(runtime))
    name = "sgl_kernel/common_ops.abi3.so"
    write(tmp_path / "site", distribution("sgl-kernel", "0.3.21", {name: extension.read_bytes()}))
    fact = surveyed(tmp_path / "site")["common_ops.abi3.so"]
    assert fact["cuda"] == {"libcudart.so.12": 12}
    assert (fact["owner"], fact["top"]) == ("sgl_kernel", "sgl_kernel")
    assert fact["missing"] == [{"library": "libcudart.so.12", "elsewhere": []}]
    assert "libcudart.so.12: cannot open shared object file" in load_error(extension)


def test_a_library_of_another_package_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path / "site", distribution("nvidia-cublas", "13.0.0"))
    cublas = named(tmp_path / "site/nvidia/cu13/lib", "libcublas.so.13")
    built(tmp_path / "site/vllm/_C.abi3.so", "int f;", str(cublas))
    fact = surveyed(tmp_path / "site")["_C.abi3.so"]
    assert fact["missing"] == [{"library": "libcublas.so.13", "elsewhere": [str(cublas)]}]
    assert fact["owner"] is None


def test_an_unmet_symbol_version_is_the_one_that_the_loader_misses(tmp_path: Path) -> None:
    write(tmp_path / "site", distribution("mine", "1.0"))
    newer = named(tmp_path / "new", "libfam.so.1", "int fam(void){return 2;}", versions="FAM_1.0 {}; FAM_2.0 { fam; };")
    older = named(tmp_path / "site/mine.libs", "libfam.so.1", "int fam(void){return 1;}", versions="FAM_1.0 { fam; };")
    options = (str(newer), f"-Wl,-rpath,{older.parent}")
    extension = built(tmp_path / "site/mine/_mine.so", "int fam(void); int f(void){return fam();}", *options)
    fact = surveyed(tmp_path / "site")["_mine.so"]
    assert fact["versions"] == [{"library": str(older), "version": "FAM_2.0", "newest": "FAM_1.0"}]
    assert "version `FAM_2.0' not found" in load_error(extension)


TORCH_NEW = "void _ZN3c106detail4testEv(void){} void _ZN2at6_ops3addEv(void){}"
USES = "void _ZN3c106detail4testEv(void); void _ZNSt6vectorIN2at6TensorEE4pushEv(void) __attribute__((weak));"


def test_a_symbol_that_this_torch_lacks(tmp_path: Path) -> None:
    """Only torch's own names count, and none that may stay missing."""
    site = tmp_path / "site"
    write(site, distribution("torch", "2.11.0"))
    libtorch = named(site / "torch/lib", "libtorch_cpu.so", TORCH_NEW)
    source = f"{USES} void f(void){{ _ZN3c106detail4testEv(); }}"
    built(site / "sgl_kernel/common_ops.so", source, str(libtorch))
    assert "symbols" not in surveyed(site)["common_ops.so"]
    libtorch.unlink()
    named(site / "torch/lib", "libtorch_cpu.so", "void _ZN3c106detail5otherEv(void){}")
    assert surveyed(site)["common_ops.so"]["symbols"] == ["_ZN3c106detail4testEv"]


def test_a_sibling_may_define_names_of_torch(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site, distribution("torch", "2.11.0"))
    libtorch = named(site / "torch/lib", "libtorch_cpu.so", TORCH_NEW)
    sibling = named(site / "vllm", "libhelp.so", "void _ZN5torch4mineEv(void){}")
    built(
        site / "vllm/_C.so",
        "void _ZN5torch4mineEv(void); void f(void){_ZN5torch4mineEv();}",
        str(libtorch),
        str(sibling),
    )
    assert "symbols" not in surveyed(site)["_C.so"]


def test_damage_is_told_and_other_files_go_on(tmp_path: Path) -> None:
    site = write(
        tmp_path / "site", distribution("mine", "1.0", {"mine/cut.so": b"\x7fELF\x02\x01", "mine/no.so": b"GROUP"})
    )
    whole = named(site / "mine", "libwhole.so")
    (site / "mine/wide.so").write_bytes(whole.read_bytes()[:4] + b"\x01" + whole.read_bytes()[5:])
    other = bytearray(whole.read_bytes())
    other[18:20] = b"\xf3\x00"  # e_machine: RISC-V
    (site / "mine/other.so").write_bytes(bytes(other))
    facts = surveyed(site)
    assert "too early" in facts["cut.so"]["problem"]
    assert "32 bits" in facts["wide.so"]["problem"]
    assert "another processor" in facts["other.so"]["problem"]
    assert "no.so" not in facts  # a linker's script is no library that anybody loads
    assert "libwhole.so" not in facts


def test_only_the_packages_that_were_asked_for(tmp_path: Path) -> None:
    site = write(tmp_path / "site", distribution("mine", "1.0"))
    for name in ("mine", "other"):
        (site / name).mkdir(exist_ok=True)
        (site / name / "x.so").write_bytes(b"\x7fELF")
    assert {fact["top"] for fact in surveyed(site, packages=["mine"]).values()} == {"mine"}


def test_who_looks_at_some_packages_does_not_say_what_is_missing(tmp_path: Path) -> None:
    """The library may lie in a package that nobody looked at."""
    cublas = named(tmp_path / "site/nvidia/cu13/lib", "libcublas.so.13")
    built(tmp_path / "site/vllm/_C.abi3.so", "int f;", str(cublas))
    site = write(tmp_path / "site", distribution("vllm", "0.20.2"))
    fact = surveyed(site, packages=["vllm"])["_C.abi3.so"]
    assert (fact["cuda"], fact.get("missing")) == ({"libcublas.so.13": 13}, None)
    assert surveyed(site)["_C.abi3.so"]["missing"] == [{"library": "libcublas.so.13", "elsewhere": [str(cublas)]}]


def test_links_that_lead_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    site = write(tmp_path / "site", distribution("mine", "1.0"))
    (site / "mine/again").symlink_to(site / "mine")
    (site / "mine/x.so").write_bytes(b"\x7fELF")
    assert len(surveyed(site)) == 1


def test_the_running_interpreter_lacks_nothing() -> None:
    """The packages that these tests run with can be imported, so nothing may be said against them."""
    paths = [path for path in sys.path if path.endswith("site-packages")]
    facts = [fact for fact in found({}, Place(paths, 20.0)) if "binary" in fact]
    assert [fact for fact in facts if fact.get("missing") or fact.get("versions") or fact.get("problem")] == []
