"""The options of known releases, for engines that cannot be read, and to tell since when an option is gone.

The lists (`flag_lists/ENGINE-VERSION.json`) are read off the engines' wheels: `python -m docs.flag_lists WHEEL…`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from dflashtui.model.flag import FlagList

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "flag_lists"


def flag_list(engine: str, version: str | None) -> FlagList | None:
    """The list of exactly that release; `None`: it is none of those that are known."""
    return _read(f"{engine}-{version}") if version and version in known_versions(engine) else None


def known_versions(engine: str) -> tuple[str, ...]:
    """Oldest first."""
    found = (name.removesuffix(".json") for name in _names())
    mine = (name.removeprefix(f"{engine}-") for name in found if name.startswith(f"{engine}-"))
    return tuple(sorted(mine, key=_order))


def versions_with(engine: str, flag: str) -> tuple[str, ...]:
    """The known releases that have an option."""
    return tuple(version for version in known_versions(engine) if _has(flag_list(engine, version), flag))


def _has(known: FlagList | None, flag: str) -> bool:
    return known is not None and any(flag in one.names for one in known.flags)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


@lru_cache(maxsize=16)
def _read(name: str) -> FlagList:
    return FlagList.model_validate(json.loads(files(__package__).joinpath(FOLDER, f"{name}.json").read_text("utf-8")))


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(one.name for one in files(__package__).joinpath(FOLDER).iterdir() if one.name.endswith(".json"))


def engines() -> Iterable[str]:
    """Those of which lists are known."""
    return sorted({name.partition("-")[0] for name in _names()})
