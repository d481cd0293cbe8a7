"""hosts.toml -> Config: the only reader of the file (contract, part 3)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dflashtui.config import file, names, references
from dflashtui.config.build import build
from dflashtui.config.model import Config, Host
from dflashtui.config.problems import Problem, refusal
from dflashtui.config.schema import Document
from dflashtui.config.syntax import Parsed, parse

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ENGINE_UNITS = (
    "*sglang*.service",
    "*vllm*.service",
    "*dflash*.service",
    "*ddtree*.service",
    "*llama*.service",
    "text-generation*.service",
    "tgi*.service",
    "tritonserver*.service",
    "lmdeploy*.service",
    "litellm*.service",
)
"""What is watched where no file says it: the services that people run engines as."""


def load(path: Path | None) -> Config:
    """The inventory; without a file the local machine alone. Raises `ConfigError` with every problem of the file."""
    if path is None:
        return this_machine()
    found = file.read(path)
    parsed = parse(found.text)
    document, problems = _judged(parsed, path.absolute().parent)
    if document is None or problems:
        raise refusal(path, parsed.text, problems)
    return build(document, path, found.warnings)


def this_machine() -> Config:
    """The local host under its own name, with the usual engine services."""
    own_name = os.uname().nodename
    name = own_name if names.LABEL.match(own_name) else "localhost"
    return Config(hosts=(Host(name=name, transport="local", units=ENGINE_UNITS),))


def _judged(parsed: Parsed, folder: Path) -> tuple[Document | None, list[Problem]]:
    if parsed.problems and not parsed.data:
        return None, list(parsed.problems)
    document, wrong = _validated(parsed.data)
    problems = [*parsed.problems, *wrong, *references.problems(parsed.data, folder)]
    if parsed.problems:  # what is missing may stand on a line that could not be read
        problems = [problem for problem in problems if not problem.message.startswith("is missing")]
    return document, problems


def _validated(data: dict[str, Any]) -> tuple[Document | None, list[Problem]]:
    from pydantic import ValidationError  # noqa: PLC0415 - loaded by the schema anyway

    try:
        return Document.model_validate(data), []
    except ValidationError as error:
        from dflashtui.config import validation  # noqa: PLC0415 - for errors alone

        return None, validation.problems(error)
