"""Which unit templates exist: the packaged ones, and `templates/NAME.service.j2` beside hosts.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.config.words import proposal, shown

if TYPE_CHECKING:
    from pathlib import Path

PACKAGED = ("sglang", "vllm", "openai", "python")
SUFFIX = ".service.j2"


def own_template(name: str, folder: Path) -> Path | None:
    """The template of that name beside hosts.toml, never one that a link takes out of the folder."""
    templates = folder / "templates"
    path = templates / f"{name}{SUFFIX}"
    return path if path.is_file() and path.resolve().is_relative_to(templates.resolve()) else None


def complaint(name: str, folder: Path) -> str | None:
    """Why there is no template of that name, and which there are; `None` where there is one."""
    if name in PACKAGED or own_template(name, folder):
        return None
    known = [*PACKAGED, *sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"templates/*{SUFFIX}"))]
    return (
        f"no packaged template {shown(name)}, and no templates/{name}{SUFFIX} here{proposal(name, known, 'templates')}"
    )
