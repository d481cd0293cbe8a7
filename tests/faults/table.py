"""Writes `docs/faults.md` from the tests that carry `@fault`: `python -m tests.faults.table > docs/faults.md`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

from tests.faults.catalogue import FAULTS

TESTS = Path(__file__).parents[1]
HEAD = """# Faults, injected

Every fault is injected by the tests named here; this page is made from them (`make faults`).
*quick* and *hosts* tests run in `make test`, the latter on real systemd, journald and sshd; *long* ones run in
`make test-long`.

| # | fault | how | what happens | test |
|---|---|---|---|---|"""


class Shown(NamedTuple):
    """A test that injects a fault."""

    number: str
    how: str
    result: str
    stand_in: str
    test: str
    kind: str
    """`quick`, `hosts` or `long`."""

    @property
    def row(self) -> str:
        """A line of the table."""
        how = f"{self.how} *(stands for: {self.stand_in})*" if self.stand_in else self.how
        cells = (self.number, FAULTS[self.number], how, self.result, f"{self.kind}: `{self.test}`")
        return f"| {' | '.join(one.replace('|', '&#124;') for one in cells)} |"


def shown() -> list[Shown]:
    """Every mark of every test, in the order of the catalogue."""
    found = [mark for file in sorted(TESTS.rglob("test_*.py")) for mark in _of_file(file)]
    order = {number: place for place, number in enumerate(FAULTS)}
    return sorted(found, key=lambda one: (order[one.number], one.test))


def _of_file(file: Path) -> list[Shown]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [one for node in ast.walk(tree) for one in _of_test(node, file)]


def _of_test(node: ast.AST, file: Path) -> list[Shown]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    place = f"{file.relative_to(TESTS)}::{node.name}"
    return [_of_mark(mark, place, _kind(node)) for mark in node.decorator_list if _is_fault(mark)]


def _kind(test: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if any(ast.unparse(mark) == "pytest.mark.long" for mark in test.decorator_list):
        return "long"
    return "hosts" if any(one.arg == "fleet" for one in test.args.args) else "quick"


def _is_fault(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fault"


def _of_mark(node: ast.expr, place: str, kind: str) -> Shown:
    if not isinstance(node, ast.Call):
        raise TypeError(f"{place}: @fault is called: @fault(number, how=…, result=…)")
    number = ast.literal_eval(node.args[0])
    said = {one.arg: ast.literal_eval(one.value) for one in node.keywords}
    if number not in FAULTS:
        raise ValueError(f"{place}: no fault {number} in the catalogue")
    return Shown(number, said["how"], said["result"], said.get("stand_in", ""), place, kind)


def page() -> str:
    """The whole page; faults without a test are named as such."""
    found = shown()
    missing = [
        f"- {number}: {words}" for number, words in FAULTS.items() if number not in {one.number for one in found}
    ]
    open_ones = ("", "## Not injected yet", "", *missing) if missing else ()
    return "\n".join((HEAD, *(one.row for one in found), *open_ones, ""))


if __name__ == "__main__":
    sys.stdout.write(page())
