"""Write the lists of options of engine releases anew: `python -m docs.flag_lists WHEEL…`.

A wheel comes with `pip download --no-deps sglang==0.5.11`; nothing of it is installed or run. For each one
`dflashtui/engines/flag_lists/ENGINE-VERSION.json` is written.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path

from dflashtui.survey import flags
from dflashtui.survey.place import Place

FOLDER = Path(__file__).parent.parent / "dflashtui/engines/flag_lists"
LIMIT_SECONDS = 60.0


def write_list(wheel: Path) -> Path:
    """The list of one wheel."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.endswith((".py", "/METADATA"))])
        engine = wheel.name.partition("-")[0]
        *options, summary = flags.found({"engine": engine}, Place([folder], LIMIT_SECONDS))
    told = {key: summary[key] for key in ("engine", "version", "is_whole")}
    lines = ",\n".join(json.dumps(_without_defaults(option), separators=(",", ":")) for option in options)
    path = FOLDER / f"{engine}-{summary['version']}.json"
    path.write_text(json.dumps(told)[:-1] + ', "flags": [\n' + lines + "\n]}\n")
    return path


def _without_defaults(option: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in option.items() if value not in (None, False)}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        sys.stdout.write(f"{write_list(Path(argument))}\n")
