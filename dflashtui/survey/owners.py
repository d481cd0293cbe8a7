"""What the metadata of distributions tells of imports: which may fail for want of others, which owns a name."""

from __future__ import annotations

import os
import re
from typing import Iterable, Iterator

from dflashtui.survey.metadata import folders, head, headers, small
from dflashtui.survey.sites import sites

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def open_packages(path: Iterable[str]) -> set[str]:
    """Top-level import names of distributions that ask for one that is not there.

    A distribution whose wants are met is taken at its word: that spares its files, and those of torch are thousands.
    """
    found: set[str] = set()
    places = [place for site in sites(path) for place in _places(site)]
    there = {_normal(_name(folder)) for folder in places}
    for folder in places:
        if any(_normal(name) not in there for name in _wanted(folder)):
            found.update(_tops(folder))
    return found


def owner(path: Iterable[str], top: str) -> str | None:
    """The distribution that a top-level import name comes with."""
    for site in sites(path):
        for folder in _places(site):
            if top in _tops(folder):
                return _name(folder)
    return None


def version_of(path: Iterable[str], name: str) -> str | None:
    """Of an installed distribution, by the name of its folder."""
    for site in sites(path):
        for folder in _places(site):
            if _normal(_name(folder)) == _normal(name):
                return os.path.basename(folder).rpartition(".")[0].partition("-")[2] or None
    return None


def _name(folder: str) -> str:
    """`huggingface_hub-1.2.dist-info`: what stands before the version."""
    return os.path.basename(folder).rpartition(".")[0].partition("-")[0]


def _places(site: str) -> list[str]:
    try:
        return [path for _, path in folders(site)]
    except OSError:
        return []


def _wanted(folder: str) -> Iterator[str]:
    """Names that it asks for without any condition."""
    try:
        fields = headers(head(os.path.join(folder, "METADATA")))
    except OSError:
        return
    for requirement in fields.get("requires-dist", ()):
        name = NAME.match(requirement)
        if name and ";" not in requirement:
            yield name.group()


def _tops(folder: str) -> Iterator[str]:
    listed = small(folder, "top_level.txt")
    if listed:
        yield from listed.split()
        return
    try:
        with open(os.path.join(folder, "RECORD"), encoding="utf-8", errors="replace") as file:
            firsts = {line.partition(",")[0].partition("/")[0] for line in file}
    except OSError:
        return
    for first in firsts:
        stem = first.partition(".")[0]
        if stem.isidentifier() and (first == stem or first.endswith(".py")):
            yield stem


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
