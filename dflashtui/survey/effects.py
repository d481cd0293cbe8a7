"""What importing one module does: the modules that it imports in turn, and the faults that it meets.

Each with a rank: how sure it is that an import of the module comes to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, NamedTuple, Union

from dflashtui.survey.conditions import settled
from dflashtui.survey.modules import Module
from dflashtui.survey.names import absolute

if TYPE_CHECKING:
    from dflashtui.survey.kept import Kept
    from dflashtui.survey.modules import Modules
    from dflashtui.survey.names import Names

CERTAIN, CONDITIONAL, LATE, GUARDED = range(4)
"""`LATE`: inside a function; `GUARDED`: the program goes on without it. The worst step of a way gives its rank."""
MOST_CALLS_DEEP = 12
CATCHES = {"missing-module": "mna", "missing-name": "na", "syntax": "a", "unreadable": "a", "raises": "a"}
"""Which handlers catch which fault: letters of `reading`."""
RAISED = "raises "
"""A failure by a `raise` of the text itself; the exception's name follows."""
IMPORT_ERRORS = {"ImportError": "missing-name", "ModuleNotFoundError": "missing-module"}
BODY, HANDLERS, ORELSE, LAST = 1, 2, 3, 4


class Fault(NamedTuple):
    """One import that cannot be met."""

    kind: str
    """`missing-module`, `missing-name`, `syntax`, `unreadable` or `raises`."""
    module: str
    name: str
    words: str


class Edge(NamedTuple):
    """One import that can."""

    to: str
    rank: int
    file: str
    line: int


class Met(NamedTuple):
    """A fault where it is met."""

    fault: Fault
    rank: int
    file: str
    line: int


Effects = List[Union[Edge, Met]]
"""Of one module, in the order in which an import of it comes to them."""
Around = NamedTuple("Around", [("module", Module), ("rank", int), ("depth", int)])
"""Whose text is executed, how surely, and how many calls deep."""


class Judge:
    """Tells the effects of modules, each once."""

    def __init__(self, modules: Modules, kept: Kept, names: Names, tick: Callable[[], None]) -> None:
        self.modules = modules
        self.kept = kept
        self.names = names
        self.unknown: set[str] = set()
        """Names and modules that only a run could tell of."""
        self._tick = tick
        self._effects: dict[str, Effects] = {}
        self._fails: dict[str, str | None] = {}

    def effects(self, module: Module) -> Effects:
        """Of importing `module`, whatever becomes of what it imports."""
        found = self._effects.get(module.name)
        if found is not None:
            return found
        self._tick()
        found = self._effects[module.name] = []
        record = self._record(module, found)
        _Run(self, found).block(record["tree"], Around(module, CERTAIN, 0))
        return found

    def _record(self, module: Module, into: Effects) -> dict[str, Any]:
        file = module.file or ""
        try:
            record = self.kept.of(file)
        except OSError as problem:
            into.append(Met(Fault("unreadable", module.name, "", str(problem)), CERTAIN, file, 0))
            return {"tree": []}
        if "error" in record:
            line, words = record["error"]
            into.append(Met(Fault("syntax", module.name, "", words), CERTAIN, file, line))
        return record

    def failure(self, name: str) -> str | None:
        """The kind of fault that an import of a module surely ends with, in itself or in what it imports."""
        if name not in self._fails:
            self._fails[name] = next((met.fault.kind for met in self._surely(name)), None)
        return self._fails[name]

    def _surely(self, name: str) -> Iterator[Met]:
        seen, left = {name}, [name]
        while left:
            module = self.modules.find(left.pop())
            if not module.is_followed:
                continue
            sure = [one for one in self.effects(module) if one.rank == CERTAIN]
            yield from (one for one in sure if isinstance(one, Met))
            fresh = [one.to for one in sure if isinstance(one, Edge) and one.to not in seen]
            seen.update(fresh)
            left += fresh

    def failure_of(self, steps: Iterable[tuple[Fault | None, str]]) -> str | None:
        """The first of an import's steps that fails: see `Names.steps`."""
        for fault, target in steps:
            kind = fault.kind if fault else self.failure(target)
            if kind:
                return kind
        return None


class _Run:
    """Goes through one module's record as an import would."""

    def __init__(self, judge: Judge, into: Effects) -> None:
        self._judge = judge
        self._into = into

    def block(self, nodes: list[Any], around: Around) -> None:
        """Take down what these nodes do."""
        for node in nodes:
            kind = node[0]
            if kind in {"i", "f"}:
                self._imported(node, around)
            elif kind == "r":
                if self._raised(node, around):
                    return
            else:
                self._inside(kind, node, around)

    def _inside(self, kind: str, node: list[Any], around: Around) -> None:
        if kind == "?":
            self._branches(node, around)
        elif kind == "t":
            self._tried(node, around)
        elif kind == "c":
            self.block(node[1], _at(around, CONDITIONAL))
        elif kind == "d":
            self._defined(node, around)
        else:
            self._called(node, around)

    def _imported(self, node: list[Any], around: Around) -> None:
        file, line = around.module.file or "", node[1]
        for fault, target in steps(self._judge, node, around.module):
            if fault is not None:
                self._into.append(Met(fault, around.rank, file, line))
            else:
                self._into.append(Edge(target, around.rank, file, line))

    def _branches(self, node: list[Any], around: Around) -> None:
        worth = settled(node[1], lambda word, name: settle(self._judge, around.module, word, name))
        if worth is None:
            self.block(node[2], _at(around, CONDITIONAL))
            self.block(node[3], _at(around, CONDITIONAL))
        else:
            self.block(node[2] if worth else node[3], around)

    def _tried(self, node: list[Any], around: Around) -> None:
        failure = first_failure(self._judge, node[BODY], around)
        caught = _handler(node[HANDLERS], failure)
        if failure is None or caught is None or _is_raised(first_failure(self._judge, caught, around)):
            self.block(node[BODY], around)
            self.block(node[ORELSE], around)
        else:
            self.block(node[BODY], _at(around, GUARDED))
            self.block(caught, around)
        self.block(node[LAST], around)

    def _defined(self, node: list[Any], around: Around) -> None:
        if around.depth == 0:
            self.block(node[2], _at(around, LATE))

    def _called(self, node: list[Any], around: Around) -> None:
        """The function's own text, as far as it can be found."""
        if around.rank >= LATE or around.depth > MOST_CALLS_DEEP:
            return
        found = self._judge.names.function(around.module, node[2])
        if found is not None:
            owner, body = found
            self.block(body, Around(owner, around.rank, around.depth + 1))

    def _raised(self, node: list[Any], around: Around) -> bool:
        """Whether the text certainly ends here."""
        if node[2] in {"SystemExit", ""} or around.rank != CERTAIN or around.depth:
            return node[2] == "SystemExit" and around.depth == 0
        fault = Fault("raises", around.module.name, "", node[2])
        self._into.append(Met(fault, CERTAIN, around.module.file or "", node[1]))
        return True


def first_failure(judge: Judge, nodes: list[Any], around: Around) -> str | None:
    """The kind of the first fault that these nodes surely meet; `raises`: a `raise` of their own."""
    for node in nodes:
        kind = node[0]
        found = None
        if kind in {"i", "f"}:
            found = judge.failure_of(steps(judge, node, around.module))
        elif kind == "r":
            found = RAISED + node[2]
        elif kind == "x":
            found = _failure_of_call(judge, node, around)
        elif kind == "?":
            worth = settled(node[1], lambda word, name: settle(judge, around.module, word, name))
            found = None if worth is None else first_failure(judge, node[2] if worth else node[3], around)
        elif kind == "t":
            found = _failure_of_try(judge, node, around)
        if found is not None:
            return found
    return None


def _failure_of_try(judge: Judge, node: list[Any], around: Around) -> str | None:
    failure = first_failure(judge, node[BODY], around)
    if failure is None:
        return first_failure(judge, node[ORELSE], around)
    caught = _handler(node[HANDLERS], failure)
    if caught is None:
        return failure
    again = first_failure(judge, caught, around)
    return failure if _is_raised(again) else again


def _failure_of_call(judge: Judge, node: list[Any], around: Around) -> str | None:
    called = judge.names.function(around.module, node[2])
    if called is None or around.depth > MOST_CALLS_DEEP:
        return None
    found = first_failure(judge, called[1], Around(called[0], around.rank, around.depth + 1))
    return None if _is_raised(found) else found


def _is_raised(failure: str | None) -> bool:
    return failure is not None and failure.startswith(RAISED)


def steps(judge: Judge, node: list[Any], module: Module) -> Iterator[tuple[Fault | None, str]]:
    """What one import statement does, in order: a fault, or a module that is imported."""
    if node[0] == "i":
        yield from _of_module(judge, node[2])
        return
    name, level, wanted = node[2:5]
    target = absolute(module, name, level)
    if target is None:
        return
    last = None
    for fault, last in _of_module(judge, target):
        yield fault, last
        if fault is not None:
            return
    if last == target:
        yield from _of_names(judge, target, wanted)


def _of_module(judge: Judge, name: str) -> Iterator[tuple[Fault | None, str]]:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        one = ".".join(parts[:count])
        module = judge.modules.find(one)
        if module.kind == "missing" and judge.names.may_appear(one):
            module.kind = "unknown"
        if module.kind in {"missing", "broken"}:
            kind = "missing-module" if module.kind == "missing" else "unreadable"
            yield Fault(kind, one, "", module.why), one
            return
        if module.kind == "unknown":
            judge.unknown.add(one)
            return
        yield None, one


def _of_names(judge: Judge, target: str, wanted: list[str]) -> Iterator[tuple[Fault | None, str]]:
    for name in wanted:
        if name == "*":
            continue
        inner, has = judge.names.lookup(judge.modules.find(target), name)
        if inner is not None:
            yield None, inner
        elif has is None:
            judge.unknown.add("%s.%s" % (target, name))
        elif not has:
            yield Fault("missing-name", target, name, ""), target


def settle(judge: Judge, module: Module, word: str, name: str) -> bool | None:
    """The conditions that only modules answer."""
    if word == "main":
        return module.name == "__main__"
    kind = judge.modules.find(name).kind
    return {"source": True, "namespace": True, "opaque": True, "missing": False}.get(kind)


def _handler(handlers: list[Any], failure: str | None) -> list[Any] | None:
    kind = failure or ""
    if kind.startswith(RAISED):
        kind = IMPORT_ERRORS.get(kind[len(RAISED) :], "raises")
    letters = CATCHES[kind] if kind else ""
    return next((body for caught, body in handlers if caught and caught in letters), None)


def _at(around: Around, rank: int) -> Around:
    return around._replace(rank=max(around.rank, rank))
