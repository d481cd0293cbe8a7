"""The JSON schema of `--check --json`, as kept in docs/check.schema.json (`make schema` writes it anew)."""

from __future__ import annotations

import json
import sys
from typing import Any

from dflashtui.check.document import CheckDocument


def schema() -> dict[str, Any]:
    """Readers must bear fields that later versions add, so nothing is forbidden."""
    found: dict[str, Any] = _open(CheckDocument.model_json_schema(by_alias=True, mode="serialization"))
    return found


def _open(node: Any) -> Any:  # noqa: ANN401 - any JSON
    match node:
        case dict():
            return {key: _open(value) for key, value in node.items() if key != "additionalProperties"}
        case list():
            return [_open(value) for value in node]
        case _:
            return node


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
