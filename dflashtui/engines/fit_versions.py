"""Versions and the machine: what must belong together, by number alone. Pure.

Sources: NVIDIA's compatibility table (driver for CUDA), the checks that torchvision, torchaudio and flashinfer make
themselves at import, the engines' release metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.packages import FLASHINFER, KERNELS, cuda_of, kernel_torch, parsed, torchvision_minor
from dflashtui.model.misfit import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.environment import Environment

DRIVER_FOR_CUDA = {11: 450, 12: 525, 13: 580}
"""The oldest driver branch for each CUDA generation; newer drivers run older CUDA."""
BLACKWELL_SM, BLACKWELL_CUDA = 100, (12, 8)
NO_CHECK = "FLASHINFER_DISABLE_VERSION_CHECK"


def version_misfits(environment: Environment) -> tuple[Misfit, ...]:
    """Every rule on versions, in the order in which a start would meet them."""
    return (
        *_driver(environment),
        *_capability(environment),
        *_torch_itself(environment),
        *_torchvision(environment),
        *_torchaudio(environment),
        *_flashinfer(environment),
        *_kernels(environment),
    )


def _driver(environment: Environment) -> Iterator[Misfit]:
    generation, driver = environment.cuda_generation, parsed(environment.system.driver)
    if generation is None:
        return
    if driver is None:
        why = environment.gpus_problem or "its version could not be read"
        level = "fatal" if "no NVIDIA driver" in why else "unknown"
        message = f"torch is built for CUDA {environment.cuda}, but the driver does not answer: {why}"
        yield Misfit(id="driver:none", level=level, about=("driver",), message=message)
        return
    oldest = DRIVER_FOR_CUDA.get(generation)
    if oldest and driver.major < oldest:
        yield Misfit(
            id="driver:old",
            level="fatal",
            about=("driver", "torch"),
            message=f"driver {driver} is too old: CUDA {environment.cuda}, which torch is built for, needs {oldest}",
            evidence=(f"the driver runs CUDA up to {environment.cuda_driver or '?'}",),
            remedy=f"a driver of branch {oldest} or newer, or a torch that is built for an older CUDA",
        )


def _capability(environment: Environment) -> Iterator[Misfit]:
    cuda = tuple(int(part) for part in (environment.cuda or "").split(".") if part.isdigit())
    new = [gpu for gpu in environment.gpus if gpu.sm and gpu.sm >= BLACKWELL_SM]
    if new and cuda and cuda < BLACKWELL_CUDA:
        yield Misfit(
            id="capability:torch",
            level="fatal",
            about=("torch", "gpus"),
            message=f"torch for CUDA {environment.cuda} has no code for {new[0].name} (sm_{new[0].sm})",
            evidence=tuple(f"GPU {gpu.index}: {gpu.name}, sm_{gpu.sm}" for gpu in new),
            remedy="install a torch for CUDA 12.8 or newer",
        )


def _torch_itself(environment: Environment) -> Iterator[Misfit]:
    """Copied over by hand: pip believes the metadata, the program runs the code."""
    for name, code in environment.code_of.items():
        told = environment.by_name.get(name)
        metadata = parsed(told.version) if told else None
        real = parsed(code.version)
        if metadata and real and metadata.public != real.public:
            yield Misfit(
                id=f"metadata:{name}",
                level="warning",
                about=(name,),
                message=f"{name} says {code.version} of itself, its metadata says {metadata}: copied over, or patched?",
                evidence=(code.directory, told.metadata if told else ""),
                remedy=f"install {name}=={metadata} again, or the metadata that belongs to the code",
            )


def _torchvision(environment: Environment) -> Iterator[Misfit]:
    torch, vision = environment.version("torch"), environment.version("torchvision")
    ours, theirs = parsed(torch), parsed(vision)
    if ours is None or theirs is None:
        return
    wanted = torchvision_minor(ours)
    if wanted and (theirs.major, theirs.minor) != wanted:
        yield Misfit(
            id="torchvision:torch",
            level="fatal",
            about=("torchvision", "torch"),
            message=f"torchvision {vision} is not built for torch {torch}: that needs {wanted[0]}.{wanted[1]}",
            remedy=f"install torchvision {wanted[0]}.{wanted[1]}",
            install=(f"torchvision=={wanted[0]}.{wanted[1]}.*",),
        )
    cuda = cuda_of(vision)
    if cuda and environment.cuda and cuda.partition(".")[0] != environment.cuda.partition(".")[0]:
        yield _other_cuda("torchvision", cuda, environment)


def _torchaudio(environment: Environment) -> Iterator[Misfit]:
    torch, audio = environment.version("torch"), environment.version("torchaudio")
    ours, theirs = parsed(torch), parsed(audio)
    if ours is None or theirs is None:
        return
    if (ours.major, ours.minor) != (theirs.major, theirs.minor):
        yield Misfit(
            id="torchaudio:torch",
            level="warning",
            about=("torchaudio", "torch"),
            message=f"torchaudio {audio} is not of the same release as torch {torch}",
            remedy=f"install torchaudio {ours.major}.{ours.minor}",
            install=(f"torchaudio=={ours.major}.{ours.minor}.*",),
        )
    cuda = cuda_of(audio)
    if cuda and environment.cuda and cuda != environment.cuda:
        yield _other_cuda("torchaudio", cuda, environment)


def _other_cuda(name: str, cuda: str, environment: Environment) -> Misfit:
    return Misfit(
        id=f"{name}:cuda",
        level="fatal",
        about=(name, "torch"),
        message=f"{name} is built for CUDA {cuda}, torch for {environment.cuda}: it refuses to be imported",
        evidence=(f"{name} {environment.version(name)}", f"torch {environment.version('torch')}"),
        remedy=f"install the {name} for CUDA {environment.cuda}, from the same index as torch",
    )


def _flashinfer(environment: Environment) -> Iterator[Misfit]:
    main = environment.version(FLASHINFER[0])
    if main is None:
        return
    is_hidden = environment.interpreter.environment.get(NO_CHECK) == "1"
    for name in FLASHINFER[1:]:
        version = environment.version(name)
        if version and version.partition("+")[0] != main.partition("+")[0]:
            yield Misfit(
                id=f"{name}:version",
                level="warning" if is_hidden else "fatal",
                about=(name, FLASHINFER[0]),
                message=f"{name} {version} does not match {FLASHINFER[0]} {main}: it refuses to be imported",
                evidence=(f"{NO_CHECK}=1 hides it",) if is_hidden else (),
                remedy=f"install {name}=={main.partition('+')[0]}",
                install=(f"{name}=={main.partition('+')[0]}",),
            )


def _kernels(environment: Environment) -> Iterator[Misfit]:
    torch = parsed(environment.version("torch"))
    for name in KERNELS:
        version = environment.version(name)
        wanted = kernel_torch(version)
        if torch and wanted and f"{torch.major}.{torch.minor}" != wanted:
            yield Misfit(
                id=f"{name}:torch",
                level="fatal",
                about=(name, "torch"),
                message=f"{name} {version} is built for torch {wanted}, this is {environment.version('torch')}",
                remedy=f"install the {name} that the engine asks for, or torch {wanted}",
            )
