"""What the metadata of distributions tells of imports: which may fail for want of others, which owns a name."""

from __future__ import annotations

import os
import re
from typing import Iterable, Iterator

from dflashtui.survey.metadata import folders, head, headers, small
from dflashtui.survey.sites import sites

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def open_packages(path: Iterable[str]) -> set[str]:
    """Top-level import names of distributions that ask, themselves or through others, for one that is not there.

    A distribution whose wants are met all the way is taken at its word: that spares its files, and those of torch are
    thousands.
    """
    places = [place for site in sites(path) for place in _places(site)]
    wants: dict[str, set[str]] = {}
    for folder in places:
        wants.setdefault(_normal(_name(folder)), set()).update(map(_normal, _wanted(folder)))
    lacking = _lacking(wants)
    return {top for folder in places if _normal(_name(folder)) in lacking for top in _tops(folder)}


def _lacking(wants: dict[str, set[str]]) -> set[str]:
    """Those of which a want is not there, or is lacking itself."""
    lacking: set[str] = set()
    more = {name for name, asked in wants.items() if asked - wants.keys()}
    while more:
        lacking |= more
        more = {name for name, asked in wants.items() if name not in lacking and asked & lacking}
    return lacking


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
