"""The task `parser`: what the engine's own parser says of a unit's arguments, in a process of its own, within a limit.

The order: `arguments`, `seconds`. It imports the engine (3 to 5 s, no GPU work), with `--model-path dummy`, which
spares it the model. The fact: `status` (`None`: it took too long), `said` (the last lines of stderr). Source:
inference-engines, part 1.5.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

PARSE = "import sys; from sglang.srt.server_args import prepare_server_args as p; p(sys.argv[1:]); print('ARGS_OK')"
REPLACED = ("--model-path", "--model", "--api-key", "--admin-api-key")
LAST_BYTES = 6000


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """One fact."""
    limit = min(float(order.get("seconds", 15.0)), max(place.left_seconds, 1.0))
    argv = [sys.executable, "-c", PARSE, *_replaced(list(order["arguments"]))]
    environment = dict(os.environ, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    try:
        done = subprocess.run(  # noqa: S603 - the unit's own interpreter and arguments
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        yield {"status": None, "said": ""}
        return
    is_fine = done.returncode == 0 and b"ARGS_OK" in done.stdout
    said = done.stderr[-LAST_BYTES:].decode("utf-8", "backslashreplace")
    yield {"status": done.returncode if done.returncode or is_fine else 1, "said": said}


def _replaced(arguments: List[str]) -> List[str]:
    """The model is looked at by another check, and reading its config takes time; keys are nobody's affair."""
    for position, word in enumerate(arguments):
        name, equals, _ = word.partition("=")
        if name in REPLACED and equals:
            arguments[position] = name + "=dummy"
        elif name in REPLACED and position + 1 < len(arguments):
            arguments[position + 1] = "dummy"
    return arguments
