"""Advice about `Environment=` and `EnvironmentFile=`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.unitfile.look import VARIABLE, Advice, at
from dflashtui.unitfile.specifiers import accidents
from dflashtui.unitfile.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look
    from dflashtui.unitfile.reading import Entry

REFERENCE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
BAD_BEGINNING = "{["
FEWEST_SECRET_CHARACTERS = 4


def assignments(look: Look) -> Iterator[Advice]:
    """Words that are no `NAME=value`: a value with blanks that is not quoted, `export`."""
    for entry in look.unit.all("Service", "Environment"):
        try:
            found = words(entry.value)
        except ValueError:
            continue
        if any(VARIABLE.match(word.text) is None for word in found):
            message = "Environment=: a part of it is no NAME=value: systemd ignores that part"
            yield at(entry, "environment-invalid", "error", message, 'quote each whole assignment: "NAME=a value"')
        elif any(word.quotes_inside and word.text.partition("=")[2][:1] in {*BAD_BEGINNING} for word in found):
            message = "Environment=: systemd takes the quotes out of the value"
            yield at(
                entry, "eaten-quotes", "error", message, "put the whole assignment between single quotes: 'NAME={…}'"
            )


def references(look: Look) -> Iterator[Advice]:
    """`PATH=/venv/bin:$PATH`: nothing is replaced here."""
    for each in look.environment:
        if found := REFERENCE.search(each.value):
            message = f"Environment=: {found[0]} in {each.name} is not replaced: `$` means nothing here"
            yield at(each.entry, "environment-dollar", "error", message, "write the whole value")


def specifiers(look: Look) -> Iterator[Advice]:
    """`%` is replaced here too."""
    for entry in look.unit.all("Service", "Environment"):
        for written, meaning in accidents(entry.value):
            message = f"Environment=: systemd puts {meaning} in the place of {written}"
            yield at(entry, "specifier", "error", message, f"write %{written} if the text itself is meant")


def secrets(look: Look) -> Iterator[Advice]:
    """Every local user reads `Environment=`, by systemctl show."""
    for each in look.environment:
        said = f"{each.name}={each.value}"
        is_path = each.value.startswith(("/", "%"))
        if len(each.value) >= FEWEST_SECRET_CHARACTERS and not is_path and masked(said) != said:
            message = f"Environment=: {each.name} looks like a secret, and every local user may read it"
            yield at(each.entry, "secret-environment", "warning", message, _elsewhere(each.name))


def _elsewhere(name: str) -> str:
    if name == "HF_TOKEN":
        return "LoadCredential=hf_token:/etc/…/hf_token and Environment=HF_TOKEN_PATH=%d/hf_token"
    return "put it into an EnvironmentFile= of mode 0600, owned by root"


def files(look: Look) -> Iterator[Advice]:
    """Paths of `EnvironmentFile=`, which fails the start where it is missing."""
    for entry in look.unit.all("Service", "EnvironmentFile"):
        yield from _file(entry)


def _file(entry: Entry) -> Iterator[Advice]:
    path = entry.value.removeprefix("-")
    if not path.startswith(("/", "%")):
        message = "EnvironmentFile=: the path is not absolute: systemd ignores the line"
        yield at(entry, "relative-path", "error", message, "write the absolute path")


RULES = (assignments, references, specifiers, secrets, files)
