#!/usr/bin/env python3
"""Is what the shipped sampler says true? Runs it on a machine with an NVIDIA GPU, beside nvidia-smi.

    python3 benchmarks/gpu_truth.py [--record FOLDER]

The sampler starts as on any host: python3, bootstrap, packed source through stdin. Idle, under load (with torch,
if it is there), with memory held and after the end, each of its values is compared with nvidia-smi's: nvidia-smi runs
between two samples and agrees if it is within their span, give or take the tolerance. Then the cost of a tick.
Needs the standard library, `pynvml` and nvidia-smi. `--record` keeps what both printed, without identifiers.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dflashtui.sampler import pack

MIB = 1024 * 1024
NUMBERS = {  # nvidia-smi's field: the sampler's, how many of its units make one of nvidia-smi's, tolerance in those
    "utilization.gpu": ("utilization_percent", 1, 15),
    "utilization.memory": ("utilization_memory_percent", 1, 15),
    "memory.used": ("memory_used_bytes", MIB, 1),
    "memory.total": ("memory_total_bytes", MIB, 1),
    "memory.reserved": ("memory_reserved_bytes", MIB, 1),
    "power.draw": ("power_watts", 1, 5),
    "enforced.power.limit": ("power_limit_watts", 1, 0.01),
    "temperature.gpu": ("temperature_celsius", 1, 1),
    "clocks.sm": ("clock_sm_mhz", 1, 60),
    "clocks.mem": ("clock_memory_mhz", 1, 0),
    "clocks.max.sm": ("clock_sm_max_mhz", 1, 0),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_count", 1, 0),
    "remapped_rows.uncorrectable": ("remapped_rows_uncorrectable", 1, 0),
}
TEXTS = {"uuid": "uuid", "name": "name", "pci.bus_id": "pci_bus_id", "compute_cap": "compute_capability"}
WORDS = ("pstate", "fan.speed", "mig.mode.current", "clocks_event_reasons.active")
FLAGS = {"remapped_rows.pending": "remapped_rows_pending", "remapped_rows.failure": "remapped_rows_failed"}
FIELDS = (*NUMBERS, *TEXTS, *WORDS, *FLAGS)
CSV = "--format=csv,noheader,nounits"
NOTHING = re.compile(r"\[?N/A\]?|\[Not Supported\]")
LOAD = """
import time, torch
held = [torch.empty(5 << 30, dtype=torch.uint8, device="cuda") for _ in range(8)]
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
print("held", flush=True); input()
end = time.time() + 14
while time.time() < end:
    for _ in range(50): b = a @ a
    torch.cuda.synchronize()
print("computed", flush=True); input()
"""


@dataclass
class Verdict:
    """How often a value agreed, how far it was off at worst, and the last pair."""

    good: int = 0
    worst: float = 0.0
    last: tuple = ()
    failures: list = field(default_factory=list)

    def add(self, mine: object, theirs: object, *, agrees: bool, distance: float = 0.0) -> None:
        self.worst = max(self.worst, distance)
        self.last = (mine, theirs)
        if agrees:
            self.good += 1
        else:
            self.failures.append((mine, theirs))


class Findings(dict):
    """Verdicts by the value's name."""

    def __missing__(self, name: str) -> Verdict:
        self[name] = Verdict()
        return self[name]


class Sampler:
    """The shipped program as a child, spoken to as the console does."""

    def __init__(self, interval: float = 3600.0) -> None:
        began = time.monotonic()
        self.child = subprocess.Popen(pack.ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send(pack.payload(interval_seconds=interval))
        self.lines = [self.line(), self.reading()]
        self.first_after = time.monotonic() - began

    def send(self, data: bytes) -> None:
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def line(self) -> dict:
        return json.loads(self.child.stdout.readline())

    def reading(self) -> dict:
        """The next line with GPUs: a driver that starts slowly sends some without."""
        while "gpus" not in (line := self.line()):
            pass
        return line

    def sample(self) -> dict:
        self.send(b'{"sample":true}\n')
        self.lines.append(self.reading())
        return self.lines[-1]

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self) -> float:
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.child.pid}/status").read_text())[1]) / 1024

    def close(self) -> int:
        self.child.stdin.close()
        return self.child.wait(10)


def smi(*arguments: str) -> str:
    return subprocess.run(("nvidia-smi", *arguments), capture_output=True, text=True, check=False).stdout


def query() -> list[dict[str, str]]:
    rows = smi(f"--query-gpu={','.join(FIELDS)}", CSV).strip().splitlines()
    return [dict(zip(FIELDS, row.split(", "), strict=True)) for row in rows]


def compare_number(name: str, before: dict, after: dict, cell: str, found: Findings) -> None:
    key, scale, tolerance = NUMBERS[name]
    if NOTHING.fullmatch(cell) or key not in before or key not in after:
        found[name].add(after.get(key), cell, agrees=bool(NOTHING.fullmatch(cell)) and key not in after)
        return
    ends, theirs = sorted((before[key] / scale, after[key] / scale)), float(cell)
    distance = max(ends[0] - theirs, theirs - ends[1], 0.0)
    found[name].add(after[key] / scale, theirs, agrees=distance <= tolerance + 1e-6, distance=distance)


def in_nvidia_smis_words(gpu: dict) -> dict[str, str]:
    return {
        "pstate": f"P{gpu['performance_state']}",
        "fan.speed": str(gpu.get("fan_percent", "[N/A]")),
        "mig.mode.current": {True: "Enabled", False: "Disabled", None: "[N/A]"}[gpu.get("mig_enabled")],
        "clocks_event_reasons.active": f"0x{gpu['clocks_event_reasons']:016x}",
    }


def compare(before: dict, after: dict, row: dict[str, str], found: Findings) -> None:
    for name in NUMBERS:
        compare_number(name, before, after, row[name], found)
    for name, key in TEXTS.items():
        found[name].add(after.get(key), row[name], agrees=after.get(key) == row[name])
    for name in WORDS:
        mine = {in_nvidia_smis_words(one)[name] for one in (before, after)}
        found[name].add("|".join(sorted(mine)), row[name], agrees=row[name] in mine)
    for name, key in FLAGS.items():
        mine = {True: "Yes", False: "No", None: "[N/A]"}[after.get(key)]
        same = {mine, {"Yes": "1", "No": "0"}.get(mine, mine)}
        found[name].add(mine, row[name], agrees=row[name] in same)


def compare_processes(line: dict, found: Findings) -> None:
    rows = smi("--query-compute-apps=pid,gpu_uuid,used_memory", CSV).strip().splitlines()
    theirs = sorted((int(pid), uuid, int(used)) for pid, uuid, used in (row.split(", ") for row in rows))
    mine = sorted(
        (process["pid"], gpu["uuid"], process["memory_used_bytes"] / MIB)
        for gpu in line["gpus"]
        for process in gpu["processes"]
    )
    agrees = [one[:2] for one in mine] == [one[:2] for one in theirs] and all(
        abs(one[2] - other[2]) <= 1 for one, other in zip(mine, theirs, strict=True)
    )
    found["compute-apps"].add(mine, theirs, agrees=agrees)


def compare_xml(line: dict, found: Findings) -> None:
    """What the query form does not say, or says in other words."""
    report = ET.fromstring(smi("-q", "-x"))  # noqa: S314 - from the machine's own nvidia-smi
    cuda, driver = report.findtext("cuda_version"), report.findtext("driver_version")
    found["-q cuda_version"].add(line["cuda_driver_version"], cuda, agrees=line["cuda_driver_version"] == cuda)
    found["-q driver_version"].add(line["driver_version"], driver, agrees=line["driver_version"] == driver)
    for gpu, element in zip(line["gpus"], report.iter("gpu"), strict=True):
        names = {child.tag for child in element.find("clocks_event_reasons") if child.text == "Active"}
        bits = bin(gpu["clocks_event_reasons"])
        found["-q clocks_event_reasons"].add(bits, sorted(names), agrees=bits.count("1") == len(names))
        held = {int(one.findtext("pid")) for one in element.iter("process_info")}
        mine = {process["pid"] for process in gpu["processes"]}
        found["-q processes"].add(sorted(mine), sorted(held), agrees=mine == held)


def look(sampler: Sampler, times: int, pause: float, found: Findings) -> None:
    for _ in range(times):
        before, rows, after = sampler.sample(), query(), sampler.sample()
        for one, other, row in zip(before["gpus"], after["gpus"], rows, strict=True):
            compare(one, other, row, found)
        compare_processes(sampler.sample(), found)
        compare_xml(sampler.sample(), found)
        time.sleep(pause)


def under_load(sampler: Sampler, phases: dict[str, Findings]) -> None:
    load = subprocess.Popen((sys.executable, "-c", LOAD), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    load.stdout.readline()
    look(sampler, 4, 0.5, phases.setdefault("40 GiB held", Findings()))
    load.stdin.write("\n")
    load.stdin.flush()
    time.sleep(3)
    look(sampler, 10, 0.3, phases.setdefault("computing", Findings()))
    load.stdout.readline()
    look(sampler, 3, 0.5, phases.setdefault("done, still held", Findings()))
    load.communicate("\n")
    time.sleep(2)
    look(sampler, 3, 0.5, phases.setdefault("after", Findings()))


def cost() -> list[str]:
    sampler = Sampler(interval=0.1)
    began, ticks, end = sampler.cpu_seconds(), 0, time.monotonic() + 15
    while time.monotonic() < end:
        gpus = len(sampler.reading()["gpus"])
        ticks += 1
    each = (sampler.cpu_seconds() - began) / ticks * 1000
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(10):
        query()
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) * 100
    shipped, rss = len(pack.payload(interval_seconds=2)), sampler.rss_mib()
    return [
        f"first sample after {sampler.first_after * 1000:.0f} ms; {shipped} bytes shipped; {rss:.1f} MiB resident",
        f"a tick costs {each:.2f} ms of CPU ({gpus} GPU, {ticks} ticks), one nvidia-smi query {theirs:.1f} ms",
        f"exit status after its stdin closed: {sampler.close()}",
    ]


def show(phases: dict[str, Findings]) -> bool:
    print(f"{'phase':18}{'value':40}{'agreed':>8}{'off by':>8}  last: sampler | nvidia-smi")
    for phase, found in phases.items():
        for name, one in found.items():
            times = f"{one.good}/{one.good + len(one.failures)}"
            print(f"{phase:18}{name:40}{times:>8}{one.worst:>8.2f}  {one.last[0]} | {one.last[1]}")
            for mine, theirs in one.failures:
                print(f"{'':18}DIFFERS: {mine} | {theirs}")
    return not any(one.failures for found in phases.values() for one in found.values())


def record(folder: Path, lines: list[dict]) -> None:
    """The sampler's lines, two rounds of nvidia-smi's loop, and its words about a field that it does not know."""
    folder.mkdir(parents=True, exist_ok=True)
    raw = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / "sampler.jsonl").write_text(anonymous(raw))
    rows = "\n".join(smi(f"--query-gpu={','.join(FIELDS)}", CSV).strip() for _ in range(2))
    (folder / "smi-rows.csv").write_text(anonymous(",".join(FIELDS) + "\n" + rows + "\n"))
    (folder / "smi-bad-field.txt").write_text(smi("--query-gpu=index,no.such", CSV))


def anonymous(text: str) -> str:
    uuids = dict.fromkeys(re.findall(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text))
    for number, uuid in enumerate(uuids, 1):
        text = text.replace(uuid, f"GPU-00000000-0000-4000-8000-{number:012d}")
    text = re.sub(r'"held_by":"[^"]*"', '"held_by":"session-1.scope"', text)
    return re.sub(r'"boot_id":"[0-9a-f]+"', f'"boot_id":"{"0" * 32}"', text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", type=Path)
    folder = options.parse_args().record
    phases: dict[str, Findings] = {}
    sampler = Sampler()
    look(sampler, 5, 0.5, phases.setdefault("idle", Findings()))
    if subprocess.run((sys.executable, "-c", "import torch"), capture_output=True, check=False).returncode == 0:
        under_load(sampler, phases)
    sampler.close()
    good = show(phases)
    print("\n".join(cost()))
    if folder:
        record(folder, sampler.lines)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
