"""Everything here that reads what a host, a service or a person wrote: with good samples, and what it may raise."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.config.read import load
from dflashtui.diagnosis.reading import diagnose_bytes
from dflashtui.engines import metrics, openai
from dflashtui.errors import ConfigError, DecodeError, DflashError
from dflashtui.mask import masked
from dflashtui.source import glance, glance_values, listeners, nvidia_smi, proc_files
from dflashtui.source.boots import boots_of
from dflashtui.source.journal_entry import all_fields, decode
from dflashtui.source.sampler_feed import parse_hello, parse_tick
from dflashtui.source.systemd_show import blocks, first_words, typed
from dflashtui.source.systemd_values import PROPERTIES, unit_status
from dflashtui.text import decoded, printable
from dflashtui.unitfile.command import start_commands
from dflashtui.unitfile.reading import read_cat
from tests.diagnosis.samples import NAMES, log
from tests.unit.config_text import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[1] / "data"
AT = datetime(2026, 12, 1, tzinfo=UTC)
SMI_FIELDS = ("index", "uuid", "pci.bus_id", "utilization.gpu", "memory.total", "memory.used", "power.draw", "name")
ENTRY = {
    "__CURSOR": "s=1;i=2;b=3;m=4;t=5;x=6",
    "__REALTIME_TIMESTAMP": "1780000000000000",
    "__MONOTONIC_TIMESTAMP": "1000",
    "_TRANSPORT": "driver",
    "_PID": "1",
    "PRIORITY": "6",
    "UNIT": "a.service",
    "MESSAGE_ID": "a596d6fe7bfa4994828e72309e95d61e",
    "N_DROPPED": "17",
    "MESSAGE": ["a", "b"],
}
BUS_VALUES = dict(zip(PROPERTIES, ("x", ["a"], 7, 2**64 - 1, None) * 9, strict=False))
UNIT_FILE = b"""# /etc/systemd/system/x.service
[Unit]
Description=x %n
[Service]
Environment="A=b c" 'D=\\x41'
ExecStart=-/usr/bin/env -S "a b" \\
  # comment
  --option=${HOME} ; /bin/true
"""
METRICS = b"""# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:time_to_first_token_seconds_bucket{le="0.5",model_name="m"} 3.0
sglang:gen_throughput{tp_rank="0"} 87.2
"""
BOOTS = b" 0 0123456789abcdef0123456789abcdef Tue 2026-12-01 04:33:12 UTC Tue 2026-12-01 05:33:12 UTC\n"
CHUNK = (
    b'{"id":"x","model":"m","choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":{"completion_tokens":3}}'
)


@dataclass(frozen=True, slots=True)
class Parser:
    """One reader."""

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    raises: tuple[type[Exception], ...] = ()


def _file(name: str) -> bytes:
    return (DATA / name).read_bytes()


def _lines(name: str) -> tuple[bytes, ...]:
    return tuple(line for line in _file(name).splitlines() if line)


def _shown_units(data: bytes) -> None:
    for block in blocks(data):
        unit_status(typed(block))


def _bus_values(data: bytes) -> None:
    """Any JSON stands for any D-Bus type; a bus gives no other names than were asked for."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        unit_status({name: found.get(name) for name in PROPERTIES if name in found})


def _glanced(data: bytes) -> None:
    parts = glance.parts(data, b"==00")
    for read in (glance_values.boot_and_clock, glance_values.gpus):
        read(parts)
    glance_values.units(parts, "h", ("a.service",))
    glance_values.systemd_version(parts, "h")


def _inventory(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(data)
        file.flush()
        load(Path(file.name))


def _answered(data: bytes) -> None:
    for read in (openai.event, openai.whole, openai.model_names, openai.error_words):
        try:
            read(data)
        except ValueError:
            continue


def _unit_file(data: bytes) -> None:
    start_commands(read_cat(decoded(data)))


def _shown(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    assert printable(printable(text)) == printable(text)
    masked(text)


PARSERS = (
    Parser("journal JSON", lambda data: decode(data, ("a.service",)), (json.dumps(ENTRY).encode(),), (DecodeError,)),
    Parser(
        "journal fields",
        lambda data: all_fields(data, str(ENTRY["__CURSOR"])),
        (json.dumps(ENTRY).encode(),),
        (DecodeError,),
    ),
    Parser("journal export", lambda data: diagnose_bytes([data]), (log("systemd-user-export"),)),
    Parser("journal boots", boots_of, (BOOTS * 3,)),
    Parser("D-Bus values", _bus_values, (json.dumps(BUS_VALUES).encode(),)),
    Parser(
        "systemctl show",
        _shown_units,
        (_file("systemd/252/units.show"), _file("systemd/252/seconds.show")),
        (DecodeError,),
    ),
    Parser("systemctl lists", first_words, (_file("systemd/252/list-units.txt"),)),
    Parser("one look", _glanced, (_file("glance/252-gpus.txt"), _file("glance/252-no-driver.txt")), (DflashError,)),
    Parser(
        "nvidia-smi GPUs",
        lambda data: nvidia_smi.parse_row(data, SMI_FIELDS),
        (b"0, GPU-1, 00000000:01:00.0, 5, 143771, 600, 120.50, NVIDIA H200",),
        (DecodeError,),
    ),
    Parser(
        "nvidia-smi processes",
        nvidia_smi.parse_compute_apps,
        (_file("nvml/h200-smi-compute-apps.csv") or b"1, 2, GPU-1, x",),
        (DecodeError,),
    ),
    Parser("sampler", lambda data: parse_tick(data, at=AT), _lines("nvml/h200-sampler.jsonl")[1:4], (DecodeError,)),
    Parser("sampler's hello", parse_hello, _lines("nvml/h200-sampler.jsonl")[:1], (DecodeError,)),
    Parser(
        "listeners",
        listeners.listeners,
        (b'LISTEN 0 128 127.0.0.1:30001 0.0.0.0:* users:(("python3",pid=12,fd=5))\n' * 3,),
    ),
    Parser(
        "proc files",
        lambda data: proc_files.parse_grep(data, "\n"),
        (b"/proc/12/cgroup:0::/system.slice/a.service\n" * 3,),
    ),
    Parser("metrics", lambda data: metrics.reading(decoded(data).splitlines(), 1.0), (METRICS,)),
    Parser("answers of services", _answered, (CHUNK, b'{"data":[{"id":"m"}]}', b'{"error":{"message":"x"}}')),
    Parser("hosts.toml", _inventory, (FULL.encode(),), (ConfigError,)),
    Parser("unit files", _unit_file, (UNIT_FILE,)),
    Parser("tracebacks", lambda data: diagnose_bytes([data]), tuple(log(name) for name in NAMES[::3])),
    Parser(
        "what is shown", _shown, (b"INFO key=a https://u:p@h \x1b[31mred\x1b[0m --api-key X", "日本語 e\u0301".encode())
    ),
)
