"""Quoting and reading of unit files, against systemd's own parser and against what a program really gets."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dflashtui.config.model import Config, Host, Unit
from dflashtui.config.templates import PACKAGED
from dflashtui.ops.render import rendered
from dflashtui.unitfile import quoting
from dflashtui.unitfile.advice import advice
from dflashtui.unitfile.command import start_commands
from dflashtui.unitfile.look import Look
from dflashtui.unitfile.reading import read
from tests.faults.marks import fault

if TYPE_CHECKING:
    import subprocess

    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-b"
AWKWARD = "\\\"'$%;#=~*`()<>|&{}[]!? \té\x01\x7f\u00a0名😀nxsu0123"
TEXTS = st.text(
    st.one_of(
        st.sampled_from(AWKWARD),
        st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]),
    ),
    max_size=24,
)
GENERATED = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Each example is a unit full of arguments: one call for all of them."""

COMMAND_LINE = re.compile(r"Command Line: /bin/echo (.*)\n")
ENVIRONMENT = re.compile(r"\tEnvironment: (.*)\n")
PIECE = re.compile(r'"((?:\\.|[^"\\])*)"|([^ ]+)', re.DOTALL)
ESCAPE = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
NAMED = {"n": "\n", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
TELL = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], open('/run/told.json', 'w'))"


def verified(fleet: TestFleet, unit: str) -> subprocess.CompletedProcess[bytes]:
    """The unit as systemd has read it (stdout), and what it says of it (stderr)."""
    fleet.write_file(HOST, "/run/verify/parsed.service", unit)
    command = "cd /run/verify && SYSTEMD_LOG_LEVEL=debug systemd-analyze verify --man=no ./parsed.service"
    return fleet.exec(HOST, "sh", "-c", command)


def first_argument(printed: str) -> str:
    """Of a command line, out of the quotes that systemd's debug output puts round it."""
    quoted, bare = PIECE.findall(printed)[0]
    return bare or ESCAPE.sub(lambda found: NAMED.get(found[1]) or _coded(found[1]), quoted)


def _coded(digits: str) -> str:
    return chr(int(digits, 8)) if len(digits) == 3 else digits


@GENERATED
@given(st.lists(TEXTS, min_size=80, max_size=80), st.lists(TEXTS, min_size=40, max_size=40))
def test_systemd_reads_what_was_quoted_and_so_do_we(fleet: TestFleet, texts: list[str], values: list[str]) -> None:
    unit = "[Service]\nType=oneshot\n"
    unit += "".join(f"ExecStart=/bin/echo {quoting.argument(text)} x\n" for text in texts)
    unit += "".join(f"Environment={quoting.assignment(f'V{n}', value)}\n" for n, value in enumerate(values))
    said = verified(fleet, unit)
    printed = said.stdout.decode()
    assert [first_argument(line).replace("$$", "$") for line in COMMAND_LINE.findall(printed)] == texts
    assert [command.argv[1] for command in start_commands(read(unit))] == texts
    assert ENVIRONMENT.findall(printed) == [f"V{n}={value}" for n, value in enumerate(values)]
    assert [(each.name, each.value) for each in Look(unit).environment] == [(f"V{n}", v) for n, v in enumerate(values)]
    assert b"parsed.service:" not in b"\n".join(line for line in said.stderr.split(b"\n") if b"ignoring" in line)


@settings(GENERATED, max_examples=1)
@given(st.lists(TEXTS, min_size=150, max_size=150), st.lists(TEXTS, min_size=80, max_size=80))
@fault("E3", how="any text through a real manager", result="the program gets it byte for byte")
def test_a_program_gets_what_was_quoted(fleet: TestFleet, texts: list[str], values: list[str]) -> None:
    words = " ".join(quoting.argument(text) for text in ["/usr/bin/python3", "-c", TELL, *texts])
    unit = f"[Service]\nType=oneshot\nExecStart={words}\n"
    unit += "".join(f"Environment={quoting.assignment(f'V{n}', value)}\n" for n, value in enumerate(values))
    fleet.write_file(HOST, "/run/systemd/system/quoted.service", unit)
    fleet.check(HOST, "systemctl", "daemon-reload")
    assert fleet.start(HOST, "quoted.service").returncode == 0
    argv, environ = json.loads(fleet.read_file(HOST, "/run/told.json"))
    assert argv == texts
    assert {f"V{n}": value for n, value in enumerate(values)}.items() <= environ.items()


def test_systemd_has_nothing_to_say_of_the_packaged_templates(fleet: TestFleet) -> None:
    host, python = Host(name=HOST), "/usr/bin/python3"
    common = Unit(name="x.service", hosts=(HOST,), python=python, model="/srv/m", gpus=(1,), listen="0.0.0.0:1")
    units = tuple(common.model_copy(update={"name": f"{one}.service", "template": one}) for one in PACKAGED)
    names = [unit.name for unit in units]
    for name in names:
        text = rendered(Config(hosts=(host,), units=units), name, HOST).text
        fleet.write_file(HOST, f"/run/verify/{name}", text)
    strict = "cd /run/verify && systemd-analyze verify --man=no --recursive-errors=no"
    said = fleet.exec(HOST, "sh", "-c", f"{strict} {' '.join(f'./{name}' for name in names)} 2>&1")
    assert (said.returncode, said.stdout) == (0, b"")


def test_where_advice_says_that_systemd_ignores_a_line_it_does(fleet: TestFleet) -> None:
    unit = r"""[Service]
Type=oneshot
StartLimitIntervalSec=900
Restart=no # for now
ExecStrat=/bin/true
Environment=K={"a": 1}
ExecStart=/bin/echo "\q"
ExecStart=/bin/echo {"a":1}
no assignment
[Servise]
User=nobody
"""
    said = verified(fleet, unit)
    complained = {int(line) for line in re.findall(rb"parsed\.service:(\d+): ", said.stderr)}
    found = {each.line: each.id for each in advice(unit) if each.level in {"error", "warning"} and each.line}
    assert complained == {3, 4, 5, 6, 7, 9, 10}
    assert complained < found.keys()
    assert found[8] == "eaten-quotes"
    assert "Command Line: /bin/echo {a:1}" in said.stdout.decode()
