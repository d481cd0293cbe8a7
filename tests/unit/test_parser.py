"""The command line of the contract."""

from importlib import import_module
from pathlib import Path

import pytest

from dflashtui.cli.parser import Options, parse
from dflashtui.cli.parser_commands import COMMANDS


def test_no_words_open_the_console() -> None:
    assert parse([]) == Options()


def test_check_takes_the_common_options() -> None:
    options = parse(["--check", "--json", "-c", "x.toml", "--host", "a*", "--host", "b", "--timeout", "2.5"])
    assert options == Options(command="check", json=True, config=Path("x.toml"), hosts=("a*", "b"), timeout_seconds=2.5)


def test_options_may_stand_before_and_after_the_command() -> None:
    options = parse(["--host", "a", "-v", "restart", "x.service", "--host", "b", "--json"])
    assert (options.command, options.unit, options.hosts) == ("restart", "x.service", ("a", "b"))
    assert options.json
    assert options.verbose


def test_logs() -> None:
    options = parse(["logs", "x.service", "-f", "-n", "5", "--since", "-10m"])
    assert (options.command, options.follow, options.lines, options.since) == ("logs", True, 5, "-10m")


@pytest.mark.parametrize(
    "argv",
    [
        ["bogus"],
        ["--bogus"],
        ["start"],
        ["--timeout", "x", "--check"],
        ["--timeout", "-1", "--check"],
        ["--check", "start", "x"],
    ],
)
def test_wrong_use_is_64(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(argv)
    assert ended.value.code == 64
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "dflashtui" in shown.err


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_its_room(name: str) -> None:
    module = import_module(f"dflashtui.cli.{COMMANDS[name].module}")
    assert callable(getattr(module, f"run_{COMMANDS[name].module}"))
