"""What comes with an import, seen in fresh interpreters: a static graph cannot see what runs (style, part 1)."""

import pkgutil
import subprocess
import sys

import pytest

import dflashtui

DRAWING = ("textual", "rich")
SLOW = ("asyncssh", "httpx", "dbus_fast")
"""Loaded after the first picture: together they cost as much as that picture may take."""
MODULES = [module.name for module in pkgutil.walk_packages(dflashtui.__path__, "dflashtui.")]
CONSOLE = ("dflashtui.tui", "dflashtui.cli.console", "dflashtui.__main__")
HEADLESS = [name for name in MODULES if not name.startswith(CONSOLE)]


LOOK = """
import importlib, sys
sys.modules["click"] = None  # of the tools, not of the product: with it httpx loads its own command line, and rich
imports, watched = sys.argv[1].split(), sys.argv[2].split()
for name in imports:
    before = set(sys.modules)
    importlib.import_module(name)
    for found in set(watched) & (set(sys.modules) - before):
        print(f"{found} by {name}")
"""


def brought(imports: list[str], watched: tuple[str, ...]) -> list[str]:
    """Which of the watched packages these imports bring into a fresh interpreter, and the first module that does."""
    argv = [sys.executable, "-c", LOOK, " ".join(imports), " ".join(watched)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_this_looks_at_the_whole_package() -> None:
    assert {"dflashtui.cli", "dflashtui.config.read", "dflashtui.fleet.base", "dflashtui.transport.base"} <= set(
        HEADLESS
    )


def test_no_headless_module_brings_textual() -> None:
    assert brought(HEADLESS, DRAWING) == []


def test_the_command_line_brings_nothing_slow() -> None:
    assert brought(["dflashtui.cli"], (*DRAWING, *SLOW, "pydantic", "asyncio")) == []


@pytest.mark.skipif("dflashtui.tui.app" not in MODULES, reason="there is no console yet")
def test_the_console_is_drawn_before_anything_slow_is_brought() -> None:
    assert brought(["dflashtui.cli.console"], (*DRAWING, *SLOW, "pydantic")) == [
        f"{name} by dflashtui.cli.console" for name in sorted(DRAWING)
    ]
