"""From the program through all that it imports: each module once, by its surest way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from dflashtui.survey.effects import CERTAIN, CONDITIONAL, GUARDED, LATE, Edge, Judge, Met

if TYPE_CHECKING:
    from dflashtui.survey.modules import Module

WORDS = ("certain", "conditional", "late")
LONGEST_CHAIN = 40


class Step(NamedTuple):
    """How a module was come to: by which module, where, how surely."""

    by: str
    file: str
    line: int
    rank: int


class Sweep:
    """The walk. `ways`: the modules come to so far, and how."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.ways: dict[str, Step] = {}
        self._waiting: list[list[tuple[str, Edge | Met]]] = [[], [], []]
        """By rank: what modules come to less surely than the walk is by now."""
        self._told: set[tuple[str, str, str]] = set()

    def walk(self, roots: list[str]) -> Iterator[dict[str, Any]]:
        """Faults by rank, those of one rank in the order in which a run would meet them."""
        self._waiting[CERTAIN] = [("", Edge(name, CERTAIN, "", 0)) for name in roots]
        for rank in (CERTAIN, CONDITIONAL, LATE):
            for by, event in self._waiting[rank]:
                if isinstance(event, Met):
                    yield from self._fault(by, event, rank)
                else:
                    yield from self._descend(event.to, Step(by, event.file, event.line, rank))

    def _descend(self, name: str, step: Step) -> Iterator[dict[str, Any]]:
        """Depth first, as imports go."""
        stack = [self._entered(name, step)]
        while stack:
            module, events = stack[-1]
            event = next(events, None)
            if event is None:
                stack.pop()
                continue
            reached = max(step.rank, event.rank)
            if reached >= GUARDED or (module.whose == "other" and event.rank != CERTAIN):
                continue
            if reached > step.rank:
                self._waiting[reached].append((module.name, event))
            elif isinstance(event, Met):
                yield from self._fault(module.name, event, reached)
            elif event.to not in self.ways:
                stack.append(self._entered(event.to, Step(module.name, event.file, event.line, reached)))

    def _entered(self, name: str, step: Step) -> tuple[Module, Iterator[Edge | Met]]:
        module = self._judge.modules.find(name)
        if name in self.ways:
            return module, iter(())
        self.ways[name] = step
        return module, iter(self._judge.effects(module) if module.is_followed else ())

    def _fault(self, by: str, met: Met, reached: int) -> Iterator[dict[str, Any]]:
        """The first time that it is met: that is the surest way to it."""
        key = (met.fault.kind, met.fault.module, met.fault.name)
        if key in self._told or (met.fault.kind == "raises" and reached != CERTAIN):
            return
        self._told.add(key)
        yield {
            "kind": "fault",
            "fault": met.fault.kind,
            "module": met.fault.module,
            "name": met.fault.name or None,
            "words": met.fault.words or None,
            "status": WORDS[reached],
            "by": by,
            "file": met.file,
            "line": met.line,
            "chain": self._chain(by),
        }

    def _chain(self, name: str) -> list[list[Any]]:
        """From the program to a module: [module, the file and line that import the next]."""
        links: list[list[Any]] = []
        step = self.ways.get(name)
        while step is not None and step.by and len(links) < LONGEST_CHAIN:
            links.append([step.by, step.file, step.line])
            step = self.ways.get(step.by)
        return links[::-1]
