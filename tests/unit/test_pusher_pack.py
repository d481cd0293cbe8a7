"""What is shipped to hosts for a push: it stands alone, on old Pythons too."""

import ast
import sys
from importlib.resources import files

import pytest

from dflashtui.pusher import pack
from dflashtui.shipped.pack import BOOTSTRAP

OLDEST_PYTHON = (3, 8)
SHIPPED = [(pack.PACKAGE, module) for module in pack.MODULES] + [("dflashtui.shipped", "loader")]
LONGEST_ARGUMENTS = 200


def source(package: str, module: str) -> str:
    return files(package).joinpath(f"{module}.py").read_text()


@pytest.mark.parametrize(("package", "module"), SHIPPED)
def test_it_parses_on_the_oldest_python(package: str, module: str) -> None:
    ast.parse(source(package, module), feature_version=OLDEST_PYTHON)


def test_it_imports_the_standard_library_and_what_was_shipped_before_alone() -> None:
    before: set[str] = set()
    for package, module in SHIPPED:
        tree = ast.parse(source(package, module))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        names = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names} | {
            str(node.module) for node in nodes
        }
        own = {name for name in names if name.startswith("dflashtui.")} - {package}
        foreign = {node.module for node in nodes if str(node.module).split(".")[0] not in sys.stdlib_module_names}
        assert {name for name in own if name.count(".") == 2} <= before, (module, own - before)
        assert foreign <= {pack.PACKAGE, *before}
        before.add(f"{package}.{module}")


def test_nothing_of_a_push_shows_in_the_argument_list() -> None:
    payload = pack.payload(manager="system", who="anna at desk")
    assert payload.count(b"anna at desk") == 1
    assert BOOTSTRAP in pack.ARGV
    assert sum(map(len, pack.ARGV)) < LONGEST_ARGUMENTS
