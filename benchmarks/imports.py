"""The import sweep of a real SGLang without its dependencies, against importing it, which names one fault a round."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.row import Figure, Row
from benchmarks.setting import say
from dflashtui.ops.import_sweep import TASK, sweep_of, sweep_order
from dflashtui.ops.preflight_program import Program
from dflashtui.ops.survey import Where, survey
from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from benchmarks.setting import Setting
    from dflashtui.model.imports import ImportSweep

ENGINE = "sglang==0.5.9"
COLD_SECONDS, WARM_SECONDS = 8.0, 3.0
MANY, LIMIT_SECONDS = 20_000, 30.0
PROGRAM = Program("module", "sglang.launch_server")
IMPORTED = "import sglang.launch_server, sglang.srt.entrypoints.http_server"


def measure(setting: Setting) -> tuple[Row, ...]:
    python = _environment()
    caches = setting.folder / "imports"
    cold, warm, imported, checked = [], [], [], []
    sweep: ImportSweep | None = None
    for turn in range(setting.runs(5)):
        say(f"imports: {turn + 1}")
        setting.wait_for_quiet()
        where = Where(python=str(python), environment={"XDG_CACHE_HOME": str(caches / str(turn))})
        seconds, sweep = _swept(where)
        cold.append(seconds)
        warm.append(_swept(where)[0])
        imported.append(_timed(python, "-c", IMPORTED))
        checked.append(_timed(python, "-m", "pip", "check"))
    return (*_rows(sweep, cold, warm, imported, checked), _many(setting))


def _many(setting: Setting) -> Row:
    """As many modules as a survey may meet, each of which imports the next and lacks one."""
    folder = setting.folder / "imports-many"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(MANY):
        (folder / f"m{number}.py").write_text(f"import gone{number}, m{number + 1}\n")
    (folder / "app.py").write_text("import m0\n")
    first, again = [], []
    for turn in range(setting.runs(3)):
        say(f"imports: {MANY} files, {turn + 1}")
        setting.wait_for_quiet()
        where = Where(python=sys.executable, environment={"XDG_CACHE_HOME": str(folder / f"cache{turn}")})
        for taken in (first, again):
            seconds, sweep = _swept(where, Program("script", str(folder / "app.py")))
            if sweep.shortfall or len(sweep.faults) != MANY + 1:
                raise RuntimeError(f"not all was found: {sweep.shortfall}, {len(sweep.faults)} faults")
            taken.append(seconds)
    how = "a missing module in each, every one named"
    return Row(
        f"imports of {MANY} files in one folder: cold", "s", Figure("", tuple(first)), how, LIMIT_SECONDS,
        Figure("… warm", tuple(again)),
    )  # fmt: skip


def _rows(
    sweep: ImportSweep | None, cold: list[float], warm: list[float], imported: list[float], checked: list[float]
) -> tuple[Row, ...]:
    if sweep is None or sweep.shortfall:
        raise RuntimeError(f"the sweep did not come to its end: {sweep}")
    counts = {
        status: sum(one.status == status for one in sweep.faults) for status in ("certain", "conditional", "late")
    }
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    once = Figure("one import, which names one module", tuple(imported))
    return (
        Row(
            f"imports of {ENGINE}, {sweep.files} files: cold",
            "s",
            Figure("", tuple(cold)),
            f"nothing remembered; names all at once: {told}",
            COLD_SECONDS,
            Figure(
                f"… {counts['certain']} rounds of it, without the installs",
                tuple(one * counts["certain"] for one in imported),
            ),
        ),
        Row("  … warm", "s", Figure("", tuple(warm)), "files unchanged since", WARM_SECONDS, once),
        Row(
            "  … beside pip check",
            "s",
            Figure("", tuple(warm)),
            "it reads metadata alone",
            None,
            Figure("pip check", tuple(checked)),
        ),
    )


def _swept(where: Where, program: Program = PROGRAM) -> tuple[float, ImportSweep]:
    tasks = {TASK: sweep_order(program, where, "sglang")}
    began = time.perf_counter()
    found = asyncio.run(survey(LocalTransport("here"), where, tasks))
    return time.perf_counter() - began, sweep_of(found)


def _timed(python: Path, *argv: str) -> float:
    began = time.perf_counter()
    done = subprocess.run((str(python), *argv), capture_output=True, check=False)
    if done.returncode == 0:
        raise RuntimeError(f"{argv} was to fail: {done.stdout!r}")
    return time.perf_counter() - began


def _environment() -> Path:
    """Made once: `DFLASHTUI_BENCH_SGLANG` names the Python of another one, such as a whole one."""
    if named := os.environ.get("DFLASHTUI_BENCH_SGLANG"):
        return Path(named)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dflashtui-bench"
    folder = base / f"{ENGINE.replace('==', '-')}-py{sys.version_info[0]}{sys.version_info[1]}"
    python = folder / "bin/python"
    if not (folder / "whole").exists():
        say(f"imports: installing {ENGINE} without its dependencies")
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run((str(python), "-m", "pip", "install", "--quiet", "--no-deps", ENGINE), check=True)
        (folder / "whole").touch()
    return python
