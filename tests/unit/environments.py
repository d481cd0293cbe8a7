"""Environments made up for the rules."""

from __future__ import annotations

from typing import Any

from dflashtui.model.environment import Binary, Code, Distribution, Environment, EnvironmentGpu, Interpreter, System

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.2",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_release": "6.1",
    "platform_system": "Linux",
    "platform_version": "#1",
    "python_full_version": "3.11.2",
    "platform_python_implementation": "CPython",
    "python_version": "3.11",
    "sys_platform": "linux",
}
SITE = "/venv/lib/python3.11/site-packages"


def dist(name: str, version: str, *requires: str, site: str = SITE, **more: Any) -> Distribution:  # noqa: ANN401 - as the model takes them
    metadata = f"{site}/{name}-{version}.dist-info"
    return Distribution(name=name, version=version, requires=requires, site=site, metadata=metadata, **more)


def code(package: str, version: str, cuda: str | None = None) -> Code:
    return Code(package=package, directory=f"{SITE}/{package}", version=version, cuda=cuda)


def gpu(index: int = 0, major: int = 9, minor: int = 0, name: str = "NVIDIA H200") -> EnvironmentGpu:
    return EnvironmentGpu(index=index, name=name, uuid=f"GPU-{index}", capability=(major, minor))


def binary(path: str, **facts: Any) -> Binary:  # noqa: ANN401
    facts.setdefault("top", path.partition("/")[0])
    return Binary(binary=f"{SITE}/{path}", **facts)


def environment(*distributions: Distribution, host: str = "gpu-a", **facts: Any) -> Environment:  # noqa: ANN401
    driver = facts.pop("driver", "580.159.04")
    variables = facts.pop("variables", {})
    owner, has_pip = facts.pop("owner", "root"), facts.pop("has_pip", True)
    return Environment(
        host=host,
        interpreter=Interpreter(
            executable="/venv/bin/python",
            version="3.11.2",
            purelib=SITE,
            platlib=SITE,
            owner=owner,
            has_pip=has_pip,
            environment=variables,
        ),
        system=System(glibc="2.36", libstdcxx="3.4.30", driver=driver, markers=MARKERS),
        distributions=distributions,
        **facts,
    )
