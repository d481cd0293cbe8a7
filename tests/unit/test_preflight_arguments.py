"""Arguments of engines: the options read off their text, judged as argparse judges, and their own parser."""

from __future__ import annotations

import argparse
import ast
import sys
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Host, Unit
from dflashtui.engines.arguments import argument_faults
from dflashtui.engines.flag_lists import flag_list, known_versions
from dflashtui.model.flag import Flag, FlagList
from dflashtui.ops.preflight_arguments import check
from dflashtui.ops.preflight_program import Program, program_of
from dflashtui.ops.preflight_question import Question
from dflashtui.survey import flags, pack
from dflashtui.survey.place import Place
from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflashtui.model.preflight import PreflightFinding

FIELDS = """from typing import Annotated as A, Literal, Optional
class Memory:
    mem_fraction_static: A[Optional[float], "the share"] = None
    tp_size: A[int, Arg(help="ranks", cli_name="--tensor-parallel-size", aliases=["--tp-size", "--tp"])] = 1
    enable_metrics: A[bool, "on"] = False
    hidden: A[str, Arg(no_cli=True)] = ""
    kinds: A[list[str], Arg(help="many")] = ()
    backend: A[str, Arg(choices=CHOICES)] = "auto"
    plain: int = 0
CHOICES = [*MORE, "auto"]
"""
SERVER_ARGS = """import argparse, sys
MORE = ["fa3", "triton"]
CHOICES = [*MORE, "none"]
def prepare_server_args(argv):
    parser = argparse.ArgumentParser(prog="launch_server")
    parser.add_argument("--model-path", "--model", type=str, required=True)
    parser.add_argument("--attention-backend", choices=CHOICES)
    parser.add_argument("--port", type=int)
    parser.add_argument("--api-key")
    parser.add_argument("--trust-remote-code", action="store_true")
    parser.add_argument("--cuda-graph-bs", type=int, nargs="+")
    parser.add_argument("--old-way", action=DeprecatedAction)
    found = parser.parse_args(argv)
    if found.port == 1:
        raise ValueError(f"port 1 with {found.model_path}")
    return found
class DeprecatedAction(argparse.Action):
    def __call__(self, *more): ...
"""
FRONT_END = """class FrontendArgs:
    host: str | None = None
    api_key: list[str] | None = None
    def add_cli_args(parser):
        for key in ("host",):
            parser.add_argument(f"--{key}")
"""
ENGINE_ARGS = """def add_cli_args(parser):
    group.add_argument("--max-model-len", **kwargs["max_model_len"])
    group.add_argument("--compilation-config", "-cc", **kwargs["x"])
    group.add_argument("--enforce-eager", action=argparse.BooleanOptionalAction)
"""


def laid_out(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for above in path.relative_to(folder).parents:
            (folder / above / "__init__.py").touch()
        path.write_text(text)


def options(folder: Path, engine: str) -> FlagList:
    *found, summary = flags.found({"engine": engine}, Place([str(folder)], 20.0))
    return FlagList.model_validate({**summary, "flags": found})


def test_options_are_read_off_every_way_of_writing_them(tmp_path: Path) -> None:
    laid_out(tmp_path, {"sglang/srt/server_args.py": SERVER_ARGS, "sglang/srt/arg_groups/fields/memory.py": FIELDS})
    (tmp_path / "sglang-0.5.99.dist-info").mkdir()
    found = options(tmp_path, "sglang")
    assert (found.version, found.is_whole) == ("0.5.99", True)
    by_name = {one.names[0]: one for one in found.flags}
    assert by_name["--model-path"].names == ("--model-path", "--model")
    assert by_name["--attention-backend"].choices == ("fa3", "triton", "none")
    assert by_name["--port"].type_name == "int"
    assert by_name["--trust-remote-code"].takes == "nothing"
    assert by_name["--cuda-graph-bs"].takes == "unknown"
    assert by_name["--old-way"].is_deprecated
    assert by_name["--mem-fraction-static"].type_name == "float"
    assert by_name["--tensor-parallel-size"].names == ("--tensor-parallel-size", "--tp-size", "--tp")
    assert by_name["--enable-metrics"].takes == "nothing"
    assert by_name["--kinds"].takes == "unknown"
    assert by_name["--backend"].choices is None, "a list that is not written out is no list of choices"
    assert not {"--hidden", "--plain"} & set(by_name)


def test_options_of_vllm_are_read_off_its_classes(tmp_path: Path) -> None:
    laid_out(tmp_path, {"vllm/engine/arg_utils.py": ENGINE_ARGS, "vllm/entrypoints/openai/cli_args.py": FRONT_END})
    found = options(tmp_path, "vllm")
    assert found.is_whole
    assert [one.names for one in found.flags] == [
        ("--max-model-len",),
        ("--compilation-config", "-cc"),
        ("--enforce-eager", "--no-enforce-eager"),
        ("--host",),
        ("--api-key",),
    ]
    words = ("/m", "--max_model_len", "4", "--compilation-config.mode", "3", "--hots", "x", "--no-enforce-eager")
    (fault,) = argument_faults(found, words, {})
    assert (fault.flag, fault.level) == ("--hots", "fatal")


def test_known_releases_have_as_many_options_as_their_own_help_tells() -> None:
    assert known_versions("sglang") == ("0.5.9", "0.5.11", "0.5.23")
    assert known_versions("vllm") == ("0.20.2", "0.33.0")
    for version, told in (("0.5.11", 375), ("0.5.23", 532)):
        known = flag_list("sglang", version)
        assert known is not None
        assert len(known.flags) == told - 1, "--help is not spelt"


LINES = (
    "--model-path m --tp-size 2 --trust-remote-code",
    "--model m --port 1 --port=2",
    "--model-path m --tp-sise 2",
    "--model-path m --tp two",
    "--model-path m --attention-backend fa5",
    "--model-path m --attention-backend=fa3",
    "--model-path m --trust-remote-code=1",
    "--model-path m --trust-remote",
    "--model-path m --speculative-n 3",
    "--model-path m --context-length",
    "--model-path m --context-length --port 3",
    '--model-path m --mem-fraction-static .8 --json-model-override-args {"a":-1}',
    "--model-path m --random-seed -1",
    "--port 3",
    "--config f.yaml --model-path m",
)


@pytest.mark.parametrize("line", LINES)
def test_words_are_judged_as_argparse_judges_them(line: str) -> None:
    known = flag_list("sglang", "0.5.11")
    assert known is not None
    parser = argparse.ArgumentParser(add_help=False)
    for one in known.flags:
        _add(parser, one)
    found = argument_faults(known, line.split(), {})
    try:
        parser.parse_args(line.split())
    except SystemExit:
        assert any(fault.level == "fatal" for fault in found)
    else:
        assert not any(fault.level == "fatal" for fault in found)


def _add(parser: argparse.ArgumentParser, one: Flag) -> None:
    is_required = "--model-path" in one.names
    if one.takes == "nothing":
        parser.add_argument(*one.names, action="store_true")
    elif one.takes == "one":
        kind = {"int": int, "float": float}.get(one.type_name or "", str)
        choices = [kind(choice) for choice in one.choices] if one.choices else None
        parser.add_argument(*one.names, type=kind, choices=choices, required=is_required)
    else:
        parser.add_argument(*one.names, nargs="*")


def test_options_that_moved_are_told_with_their_new_name() -> None:
    moved = {"--mamba-scheduler-strategy": "--mamba-radix-cache-strategy"}
    newer, older = flag_list("sglang", "0.5.23"), flag_list("sglang", "0.5.11")
    assert newer is not None
    assert older is not None
    words = ("--model-path", "m", "--mamba-scheduler-strategy", "extra_buffer")
    assert argument_faults(older, words, moved) == ()
    (fault,) = argument_faults(newer, words, moved)
    assert fault.instead == "--mamba-radix-cache-strategy"
    assert fault.evidence[0] == "sglang 0.5.9, 0.5.11 had it"


def question(folder: Path, *argv: str, python: str = sys.executable) -> Question:
    return Question(
        config=Config(),
        unit=Unit(name="x.service"),
        host=Host(name="here"),
        transport=LocalTransport("here"),
        unit_text="",
        argv=argv,
        interpreter=python,
        user=None,
        environment={"PYTHONPATH": str(folder)},
    )


async def told(folder: Path, *words: str) -> Sequence[PreflightFinding]:
    return await check(question(folder, sys.executable, "-m", "sglang.launch_server", *words))


async def test_the_engines_own_parser_has_the_last_word(tmp_path: Path) -> None:
    laid_out(tmp_path, {"sglang/srt/server_args.py": SERVER_ARGS})
    assert await told(tmp_path, "--model-path", "/m", "--port", "2") == []
    (stray,) = await told(tmp_path, "--model-path", "/m", "--api-key", "sk-secretsecret", "stray")
    assert stray.level == "fatal"
    assert stray.message == "the engine refuses its arguments: unrecognized arguments: stray"
    (odd,) = await told(tmp_path, "--model-path", "/m", "--port", "1")
    assert (odd.level, odd.message) == (
        "warning",
        "the engine's own check of its arguments ends with ValueError: port 1 with dummy",
    )
    (spelling,) = await told(tmp_path, "--model-path", "/m", "--prot", "1", "--port", "1")
    assert (spelling.id, spelling.remedy) == ("arguments:--prot", "write --port")


async def test_without_its_text_the_list_of_its_release_is_used(tmp_path: Path) -> None:
    (tmp_path / "sglang-0.5.11.dist-info").mkdir()
    (found,) = await told(tmp_path, "--model-path", "/m", "--tp-sise", "2")
    assert (found.id, found.remedy) == ("arguments:--tp-sise", "write --tp-size")
    (tmp_path / "sglang-0.5.11.dist-info").rename(tmp_path / "sglang-0.4.0.dist-info")
    (found,) = await told(tmp_path, "--model-path", "/m")
    assert found.level == "unknown"


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        ("/v/bin/python -m sglang.x --port 1", Program("module", "sglang.x", (), ("--port", "1"))),
        ("/v/bin/python3.12 -Ius -X dev -m a.b", Program("module", "a.b", ("-Is", "-X", "dev"))),
        ("/v/bin/python -I -uP /opt/x.py 1", Program("script", "/opt/x.py", ("-I", "-P"), ("1",))),
        ("/v/bin/python -W error::ImportWarning -Bsm a", Program("module", "a", ("-W", "error::ImportWarning", "-s"))),
        ("/v/bin/sglang serve /m --tp 2", Program("script", "/v/bin/sglang", (), ("serve", "/m", "--tp", "2"))),
        ("numactl -N 0 /v/bin/python -um vllm.x", Program("module", "vllm.x")),
        ("env A=1 /v/bin/vllm serve m", Program("script", "/v/bin/vllm", (), ("serve", "m"))),
        ("$PY -m a ${PORT}", Program("module", "a", (), ("30001",))),
        ("/v/bin/python -c pass", None),
        ("/v/bin/python", None),
    ],
)
def test_programs_are_told_from_commands(argv: str, wanted: Program | None, tmp_path: Path) -> None:
    asked = question(tmp_path, *argv.split(), python="/v/bin/python")
    object.__setattr__(asked, "environment", {"PY": "/v/bin/python", "PORT": "30001"})
    assert program_of(asked) == wanted


def test_a_shells_last_command_is_the_program(tmp_path: Path) -> None:
    text = "source /v/bin/activate && cd /opt; exec /v/bin/python -m sglang.launch_server --port 1"
    found = program_of(question(tmp_path, "/bin/bash", "-lc", text))
    assert found == Program("module", "sglang.launch_server", (), ("--port", "1"))
    assert [Program("module", "a", flags).is_safe for flags in (("-W", "Import"), ("-Is",), ("-P",), ("-s",))] == [
        False,
        True,
        True,
        False,
    ]


def test_what_is_shipped_parses_on_the_oldest_python() -> None:
    for one in files(pack.PACKAGE).iterdir():
        if one.name.endswith(".py") and one.name != "pack.py":
            ast.parse(one.read_text(), feature_version=(3, 8))
