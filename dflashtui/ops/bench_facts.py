"""Under which conditions a service is measured, as far as its host and its engine tell."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

from dflashtui.engines.command_line import option
from dflashtui.errors import DflashError
from dflashtui.model.bench import GpuFacts, SideFacts
from dflashtui.source.asking import fetch
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config
    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.endpoint import Asked, Endpoint

VERSION_PATHS = {"sglang": ("/server_info", "/get_server_info"), "vllm": ("/version",)}
VERSION_SECONDS = 5.0
"""SGLang asks its scheduler, which may hang."""
HASHED = ("config.json", "model.safetensors.index.json", "generation_config.json")
PACKAGES = ("sglang", "vllm", "torch", "transformers", "flashinfer-python", "sglang-kernel", "triton")
PROGRAM = """
import importlib.metadata as m, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        one = m.distribution(name)
    except m.PackageNotFoundError:
        continue
    source = json.loads(one.read_text("direct_url.json") or "{}")
    commit = (source.get("vcs_info") or {}).get("commit_id", "")
    found[name] = one.version + ("@" + commit[:12] if commit else "")
print(json.dumps(found))
"""


async def facts(fleet: Asked, config: Config, service: Endpoint, model: str | None) -> SideFacts:
    """What can be read; the rest stays unknown. Raises nothing that a host may cause."""
    path = _model_path(config, service)
    version, packages, digest = await asyncio.gather(
        _version(service), _packages(fleet, config, service), _hash(fleet, service.host, path)
    )
    return SideFacts(
        engine=service.engine,
        engine_version=version or packages.get(service.engine),
        packages=packages,
        argv=service.argv,
        model=model,
        model_path=path,
        model_hash=digest,
        gpus=tuple(map(_gpu_facts, gpus_of(config, service, fleet.snapshot(service.host)), _drivers(fleet, service))),
    )


def gpus_of(config: Config, service: Endpoint, snapshot: HostSnapshot) -> tuple[Gpu, ...]:
    """Those that its processes hold; else those that the inventory gives it."""
    gpus = snapshot.gpus or ()
    held = tuple(gpu for gpu in gpus if any(process.unit == service.unit for process in gpu.processes or ()))
    defined = config.unit(service.unit)
    wanted = defined.gpus if defined else ()
    return held or tuple(gpu for gpu in gpus if gpu.index in wanted or gpu.uuid in wanted)


def _drivers(fleet: Asked, service: Endpoint) -> list[str | None]:
    snapshot = fleet.snapshot(service.host)
    return [snapshot.driver_version] * len(snapshot.gpus or ())


def _gpu_facts(gpu: Gpu, driver_version: str | None) -> GpuFacts:
    return GpuFacts(
        index=gpu.index,
        uuid=gpu.uuid,
        name=gpu.name,
        driver_version=driver_version,
        power_limit_watts=gpu.power_limit_watts,
        sm_clock_mhz=gpu.clock_sm_mhz,
        temperature_celsius=gpu.temperature_celsius,
    )


def _model_path(config: Config, service: Endpoint) -> str | None:
    """A folder; a name of the hub is none."""
    defined = config.unit(service.unit)
    named = [option(service.argv, "--model-path"), option(service.argv, "--model"), defined.model if defined else None]
    return next((one for one in (*named, *service.models) if one and one.startswith("/")), None)


async def _version(service: Endpoint) -> str | None:
    for path in VERSION_PATHS.get(service.engine, ()):
        found = await fetch(service.dial, service.base + path, key=service.key, limit_seconds=VERSION_SECONDS)
        if found.is_ok and (version := _object(found.body).get("version")):
            return printable(str(version), limit=80)
    return None


async def _packages(fleet: Asked, config: Config, service: Endpoint) -> dict[str, str]:
    defined = config.unit(service.unit)
    python = next(iter(service.argv[:1]), None) or (defined.python if defined else None)
    if not python or "python" not in python.rpartition("/")[2]:
        return {}
    output = await _told(fleet, service.host, (python, "-I", "-c", PROGRAM, *PACKAGES))
    return {printable(str(name)): printable(str(version)) for name, version in _object(output).items()}


async def _hash(fleet: Asked, host: str, folder: str | None) -> str | None:
    """One word for a model: of the hashes of its small files."""
    if folder is None:
        return None
    files = [f"{folder.rstrip('/')}/{name}" for name in HASHED]
    sums = [line.split()[0] for line in decoded(await _told(fleet, host, ("sha256sum", "--", *files))).splitlines()]
    return hashlib.sha256(" ".join(sums).encode()).hexdigest()[:16] if sums else None


async def _told(fleet: Asked, host: str, argv: Sequence[str]) -> bytes:
    try:
        return (await fleet.ask(host, argv)).stdout
    except DflashError:
        return b""


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
