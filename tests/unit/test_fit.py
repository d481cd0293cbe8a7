"""What fits together: every rule by a case that breaks it, and by one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.fit import misfits
from tests.unit.environments import binary, code, dist, environment, gpu

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment

TORCH13 = code("torch", "2.11.0+cu130", "13.0")
TORCH12 = code("torch", "2.9.1+cu128", "12.8")
MISSING_TORCH = [{"library": "libc10.so", "elsewhere": ("/venv/torch/lib/libc10.so",)}]


def fatal(one: Environment) -> list[str]:
    return [misfit.id for misfit in misfits(one) if misfit.level == "fatal"]


def every(one: Environment) -> dict[str, str]:
    return {misfit.id: misfit.level for misfit in misfits(one)}


def test_a_good_environment_says_nothing() -> None:
    one = environment(
        dist("torch", "2.11.0"),
        dist("torchvision", "0.26.0"),
        dist("flashinfer-python", "0.6.8.post1"),
        dist("flashinfer-cubin", "0.6.8.post1"),
        dist("flashinfer-jit-cache", "0.6.8.post1+cu130"),
        dist("sglang-kernel", "0.4.2.post2"),
        codes=(TORCH13, code("torchvision", "0.26.0+cu130"), code("torchaudio", "2.11.0+cu130")),
        gpus=(gpu(), gpu(1, 12, 0)),
        binaries=(
            binary("torchvision/_C.so", cuda={"libcudart.so.13": 13}, torch=True, missing=MISSING_TORCH, sm=(90, 120)),
        ),
    )
    assert misfits(one) == ()


def test_a_driver_that_is_too_old_for_the_cuda_of_torch() -> None:
    assert fatal(environment(codes=(TORCH13,), driver="570.86.15")) == ["driver:old"]
    assert fatal(environment(codes=(TORCH12,), driver="570.86.15")) == []
    assert fatal(environment(codes=(TORCH12,), driver="515.1")) == ["driver:old"]


def test_no_driver_at_all() -> None:
    none = environment(codes=(TORCH13,), driver=None, gpus_problem="no NVIDIA driver: there is no libnvidia-ml.so.1")
    assert fatal(none) == ["driver:none"]
    slow = environment(codes=(TORCH13,), driver=None, gpus_problem="the driver gave no answer within 2 s")
    assert every(slow) == {"driver:none": "unknown"}
    assert misfits(environment(dist("torch", "2.11.0+cpu"), driver=None)) == ()


def test_blackwell_needs_a_torch_for_cuda_12_8() -> None:
    old = code("torch", "2.6.0+cu124", "12.4")
    assert fatal(environment(codes=(old,), gpus=(gpu(major=12),))) == ["capability:torch"]
    assert fatal(environment(codes=(old,), gpus=(gpu(),))) == []


def test_torchvision_of_another_torch_or_another_cuda() -> None:
    assert fatal(environment(dist("torchvision", "0.26.0"), codes=(TORCH12,))) == ["torchvision:torch"]
    mixed = (TORCH13, code("torchvision", "0.26.0+cu128"))
    assert fatal(environment(codes=mixed)) == ["torchvision:cuda"]
    assert fatal(environment(codes=(TORCH12, code("torchvision", "0.24.1+cu126")))) == []  # it compares majors alone


def test_torchaudio_compares_cuda_to_the_minor() -> None:
    assert fatal(environment(codes=(TORCH12, code("torchaudio", "2.9.1+cu126")))) == ["torchaudio:cuda"]
    assert every(environment(codes=(TORCH13, code("torchaudio", "2.10.0+cu130")))) == {"torchaudio:torch": "warning"}


def test_flashinfer_and_its_companions() -> None:
    one = (dist("flashinfer-python", "0.6.3"), dist("flashinfer-cubin", "0.6.8.post1"))
    assert fatal(environment(*one)) == ["flashinfer-cubin:version"]
    hidden = environment(*one, variables={"FLASHINFER_DISABLE_VERSION_CHECK": "1"})
    assert every(hidden) == {"flashinfer-cubin:version": "warning"}


def test_kernels_of_another_torch() -> None:
    assert fatal(environment(dist("sgl-kernel", "0.3.21"), codes=(TORCH13,))) == ["sgl-kernel:torch"]
    assert fatal(environment(dist("sgl-kernel", "0.3.21"), codes=(TORCH12,))) == []
    assert fatal(environment(dist("sglang-kernel", "0.4.10"), codes=(TORCH13,))) == ["sglang-kernel:torch"]
    assert fatal(environment(dist("sglang-kernel", "9.9"), codes=(TORCH13,))) == []  # nobody knows


def test_code_and_metadata_that_disagree() -> None:
    assert every(environment(dist("torch", "2.9.1+cu128"), codes=(TORCH13,))) == {"metadata:torch": "warning"}


def test_an_extension_of_another_cuda_generation_is_proven_by_its_file() -> None:
    wrong = binary("sgl_kernel/common_ops.abi3.so", cuda={"libcudart.so.12": 12}, torch=True, missing=MISSING_TORCH)
    (one,) = misfits(environment(dist("sgl-kernel", "0.3.21"), codes=(TORCH13,), binaries=(wrong,)))
    assert (one.id, one.level) == ("generation:sgl-kernel", "fatal")
    assert one.evidence == (wrong.binary,)
    assert "libcudart.so.12" in one.message
    alone = binary("cupy/core.so", cuda={"libcudart.so.12": 12})
    assert misfits(environment(codes=(TORCH13,), binaries=(alone,))) == ()  # not linked with torch: its own business


def test_symbols_of_another_torch() -> None:
    wrong = binary("torchvision/_C.so", torch=True, symbols=("_ZN3c104testEv",))
    (one,) = misfits(environment(dist("torchvision", "0.26.0"), codes=(TORCH12,), binaries=(wrong,)))
    assert (one.id, one.level) == ("symbols:torchvision", "fatal")
    assert "undefined symbol: _ZN3c104testEv" in one.evidence


def test_a_library_that_is_nowhere_weighs_as_its_file_does() -> None:
    def lacks(path: str) -> Environment:
        wants = binary(path, missing=[{"library": "libnccl.so.2"}])
        return environment(dist("sglang", "1", "torch"), dist("torch", "2.11.0"), codes=(TORCH13,), binaries=(wants,))

    assert every(lacks("torch/lib/libtorch_cuda.so")) == {"libraries:torch": "fatal"}
    assert every(lacks("torch/lib/libtorch_nvshmem.so")) == {"libraries:torch:late": "warning"}
    assert every(lacks("pyarrow/lib.so")) == {"libraries:pyarrow:late": "note"}


def test_all_that_a_package_lacks_is_said_at_once() -> None:
    names = ("libnccl.so.2", "libcublas.so.13", "libcudnn.so.9")
    wants = binary("torch/lib/libtorch_cuda.so", missing=[{"library": name} for name in names])
    (one,) = misfits(environment(dist("torch", "2.11.0"), codes=(TORCH13,), binaries=(wants,)))
    assert one.message == "torch is linked with libnccl.so.2 and 2 more libraries, which are nowhere to be found"
    assert one.evidence == (*names, wants.binary)


def test_what_the_driver_brings_is_said_once() -> None:
    wants = binary("torch/lib/libcaffe2_nvrtc.so", missing=[{"library": "libcuda.so.1"}])
    assert misfits(environment(codes=(TORCH13,), binaries=(wants,))) == ()


def test_a_c_library_that_is_too_old() -> None:
    unmet = {"library": "/lib/x86_64-linux-gnu/libc.so.6", "version": "GLIBC_2.38", "newest": "GLIBC_2.36"}
    wants = binary("xgrammar/xgrammar_bindings.cpython-311.so", versions=[unmet])
    (one,) = misfits(environment(dist("sglang", "1", "xgrammar"), dist("xgrammar", "0.1.32"), binaries=(wants,)))
    assert (one.level, one.about) == ("fatal", ("xgrammar", "glibc"))
    assert one.message == "xgrammar wants GLIBC_2.38, /lib/x86_64-linux-gnu/libc.so.6 has up to GLIBC_2.36"


def test_a_gpu_that_a_build_has_no_code_for() -> None:
    built = binary("sgl_kernel/sm90/common_ops.abi3.so", sm=(90,), owner="sgl_kernel")
    more = binary("sgl_kernel/sm100/common_ops.abi3.so", sm=(100, 103), owner="sgl_kernel")
    one = environment(gpus=(gpu(major=12),), binaries=(built, more))
    assert fatal(one) == ["architecture:sgl-kernel"]
    assert fatal(environment(gpus=(gpu(),), binaries=(built, more))) == []
    assert fatal(environment(gpus=(gpu(major=10, minor=3),), binaries=(built, more))) == []
    later = built.model_copy(update={"ptx": (90,)})
    assert fatal(environment(gpus=(gpu(major=12),), binaries=(later,))) == []


def test_code_for_gpus_in_wheels_of_nvidia_is_not_judged() -> None:
    """As seen on an H200 with a torch that works: the first containers of libcufft.so.12 are for sm_75 alone."""
    cufft = binary("nvidia/cu13/lib/libcufft.so.12", sm=(75,), owner="nvidia_cufft")
    assert misfits(environment(dist("torch", "2.11.0"), codes=(TORCH13,), gpus=(gpu(),), binaries=(cufft,))) == ()


def test_a_damaged_file() -> None:
    cut = binary("torch/lib/libtorch_cuda.so", problem="it ends too early: is it whole?")
    assert fatal(environment(dist("torch", "2.11.0"), binaries=(cut,))) == [f"damaged:{cut.binary}"]
