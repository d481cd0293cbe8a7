"""python -m benchmarks [NAME…]: measure, print a table, keep the numbers in benchmarks/results/."""

from __future__ import annotations

import argparse
import importlib
import statistics
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.row import Row, document, table
from benchmarks.setting import Setting, say
from benchmarks.terminal import NeverSeenError

NAMES = (
    "first_frame",
    "check_100",
    "event_to_screen",
    "idle",
    "quit",
    "dead_host",
    "diagnose",
    "log_pane",
    "probe",
    "compare",
    "imports",
    "deploy",
    "push",
    "serving",
)
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    wanted = _options()
    facts = machine() | {"scheduled_ahead_of_others": wanted.ahead}
    rows: list[Row] = []
    failed = False
    with Setting(wanted.repeat, wanted.patience) as setting:
        if wanted.ahead:
            setting.go_ahead_of_others()
        for name in wanted.names or NAMES:
            say(name)
            try:
                measured = importlib.import_module(f"benchmarks.{name}").measure(setting)
                rows += measured
                say("\n" + table(measured))
            except NeverSeenError as error:
                say(f"{name} could not be measured: {error}")
                failed = True
        facts["busy_percent_before_turns"] = setting.busy
    print(table(rows))
    print(f"{facts['cores']} cores, {facts['cpu']}; in use by others before the turns: {_busy(setting.busy)}")
    print(f"kept in {_keep(rows, facts)}")
    return int(failed)


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)} (default: all)")
    options.add_argument("--repeat", type=int, help="how often each thing is measured (default: as the figure needs)")
    options.add_argument(
        "--patience", type=float, default=0, metavar="SECONDS", help="wait so long for a quiet machine before each turn"
    )
    options.add_argument(
        "--ahead", action="store_true", help="run both sides and the hosts before whatever else runs here (SCHED_RR)"
    )
    wanted = options.parse_args()
    if unknown := set(wanted.names) - set(NAMES):
        options.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return wanted


def _busy(percents: list[float]) -> str:
    return f"median {statistics.median(percents):.0f} %, at most {max(percents):.0f} %" if percents else "unknown"


def _keep(rows: list[Row], facts: dict[str, object]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    moment = str(facts["at"]).replace(":", "").removesuffix("+0000")
    path = RESULTS / f"{moment}.json"
    path.write_text(document(rows, facts) + "\n")
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    raise SystemExit(main())
