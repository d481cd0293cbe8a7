"""Lists: cursor and marks stay with their rows through every refresh, sort, filter and removal."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dflashtui.tui.listing.model import Listing
from dflashtui.tui.listing.table import Row
from dflashtui.tui.styled import cell
from dflashtui.tui.subject import Kind, Subject, unit_subject
from tests.tui.hostile import patient

GROUPS = (None, "lab", "prod")


def row(name: str, value: float | str | None = None, *, group: str | None = None, problem: bool = False) -> Row:
    return Row(unit_subject("h", name), (cell(name),), (value,), text=name, group=group, problem=problem)


def title(group: str | None) -> Row:
    return Row(Subject(Kind.GROUP, group or ""), (cell(group or "no group"),), group=group, heading=True)


def listing(*rows: Row) -> Listing:
    made = Listing()
    made.show(rows)
    return made


def seen(shown: Listing) -> str:
    return " ".join(one.key.name for one in shown.seen)


def test_the_cursor_stays_on_its_row_when_others_come_and_go() -> None:
    shown = listing(row("a"), row("b"), row("c"))
    shown.step(1)
    shown.show((row("new"), row("c"), row("b"), row("a")))
    assert (shown.cursor, shown.position) == (unit_subject("h", "b"), 2)


def test_the_cursor_of_a_row_that_is_gone_stays_at_its_place() -> None:
    shown = listing(row("a"), row("b"), row("c"))
    shown.step(1)
    shown.show((row("a"), row("c")))
    assert shown.cursor == unit_subject("h", "c")
    shown.show((row("a"),))
    assert shown.cursor == unit_subject("h", "a")
    shown.show(())
    assert (shown.chosen, shown.shown, seen(shown)) == ((), 0, "")


def test_the_cursor_goes_to_a_row_that_was_sought_before_there_were_rows() -> None:
    shown = listing()
    shown.seek(unit_subject("h", "b"))
    shown.show(())
    shown.show((row("a"), row("b")))
    assert shown.cursor == unit_subject("h", "b")


def test_a_row_that_does_not_come_is_sought_once() -> None:
    shown = listing(row("a"))
    shown.seek(unit_subject("h", "b"))
    shown.show((row("a"),))
    shown.show((row("a"), row("b")))
    assert shown.cursor == unit_subject("h", "a")


def test_the_cursor_stays_on_its_row_when_it_is_sorted_and_filtered() -> None:
    shown = listing(row("a", 3.0), row("b", 1.0), row("ab", 2.0))
    shown.cursor = unit_subject("h", "ab")
    shown.sort_position = 0
    shown.arrange()
    assert (seen(shown), shown.position) == ("b ab a", 1)
    shown.query = "a"
    shown.arrange()
    assert (seen(shown), shown.position) == ("ab a", 0)
    shown.query = ""
    shown.arrange()
    assert (seen(shown), shown.position) == ("b ab a", 1)


def test_unknown_sorts_last_both_ways() -> None:
    shown = listing(row("a"), row("b", 0.0), row("c", 5.0), row("d"))
    shown.sort_position = 0
    shown.arrange()
    assert seen(shown) == "b c a d"
    shown.reverse = True
    shown.arrange()
    assert seen(shown) == "c b a d"


def test_names_sort_without_regard_to_case() -> None:
    shown = listing(row("1", "b"), row("2", "A"), row("3", "C"))
    shown.sort_position = 0
    shown.arrange()
    assert seen(shown) == "2 1 3"


def test_nothing_moves_while_rows_are_marked() -> None:
    shown = listing(row("a", 1.0), row("b", 2.0), row("c", 3.0))
    shown.sort_position = 0
    shown.arrange()
    shown.mark()
    shown.show((row("c", 0.0), row("b", 2.0), row("a", 9.0), row("new", 1.0)))
    assert seen(shown) == "a b c new"
    shown.marks.clear()
    shown.arrange()
    assert seen(shown) == "c new b a"


def test_marking_steps_down_and_again_takes_the_mark_away() -> None:
    shown = listing(row("a"), row("b"))
    shown.mark()
    assert (shown.chosen, shown.cursor) == ((unit_subject("h", "a"),), unit_subject("h", "b"))
    shown.step(-9)
    shown.mark()
    assert shown.marks == set()
    assert shown.chosen == (unit_subject("h", "b"),)


def test_a_range_goes_from_the_last_mark_to_here() -> None:
    shown = listing(title("lab"), row("a", group="lab"), row("b", group="lab"), row("c", group="lab"))
    shown.mark()
    shown.step(9)
    shown.mark_range()
    assert [one.name for one in shown.chosen] == ["a", "b", "c"]


def test_a_title_is_never_marked_and_never_the_first_cursor() -> None:
    shown = listing(title("lab"), row("a", group="lab"))
    assert shown.cursor == unit_subject("h", "a")
    shown.step(-1)
    shown.mark()
    assert shown.marks == set()
    assert (shown.total, shown.shown) == (1, 1)


def test_a_row_that_went_loses_its_mark() -> None:
    shown = listing(row("a"), row("b"))
    shown.mark()
    shown.show((row("b"),))
    assert shown.marks == set()


def test_a_closed_group_opens_for_a_problem_once_and_never_again() -> None:
    calm, bad = (title("lab"), row("a", group="lab")), (title("lab"), row("a", group="lab", problem=True))
    shown = listing(*calm)
    shown.closed.add("lab")
    shown.show(bad)
    assert shown.shown == 1
    shown.fold("lab")
    shown.show(calm)
    shown.show(bad)
    assert (shown.shown, shown.total) == (0, 1)


def test_titles_of_groups_without_a_row_are_left_out() -> None:
    shown = listing(title("lab"), row("a", group="lab"), title("prod"), row("b", group="prod", problem=True))
    shown.problems_only = True
    shown.arrange()
    assert [one.key.kind for one in shown.seen] == [Kind.GROUP, Kind.UNIT]
    assert shown.seen[0].group == "prod"


NAMES = ("a", "b", "ab", "c", "sglang-a", "[/x]", "漢")
values = st.none() | st.floats(-5, 5) | st.sampled_from(["x", "Y"])
rows = st.dictionaries(st.sampled_from(NAMES), st.tuples(values, st.sampled_from(GROUPS), st.booleans()), max_size=7)


class Lists(RuleBasedStateMachine):
    """Anything a person and the hosts can do to a list, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.listing = Listing()

    def _kept(self, before: Subject | None) -> None:
        """A cursor whose row is still seen has not moved."""
        if any(one.key == before for one in self.listing.seen):
            assert self.listing.cursor == before

    @rule(found=rows, has_titles=st.booleans(), backwards=st.booleans())
    def refresh(self, found: dict[str, tuple[float | str | None, str | None, bool]], **how: bool) -> None:
        before = self.listing.cursor
        made: list[Row] = []
        for group in GROUPS:
            body = [row(name, one, group=group, problem=bad) for name, (one, of, bad) in found.items() if of == group]
            made += [
                *([title(group)] if how["has_titles"] and body else []),
                *(body[::-1] if how["backwards"] else body),
            ]
        self.listing.show(tuple(made))
        self._kept(before)

    @rule(query=st.sampled_from(["", "a", "!a", "sg*", "nothing", "[/x]"]), problems=st.booleans())
    def narrow(self, query: str, *, problems: bool) -> None:
        before = self.listing.cursor
        self.listing.query, self.listing.problems_only = query, problems
        self.listing.arrange()
        self._kept(before)

    @rule(position=st.sampled_from([None, 0]), reverse=st.booleans())
    def sort(self, position: int | None, *, reverse: bool) -> None:
        before = self.listing.cursor
        self.listing.sort_position, self.listing.reverse = position, reverse
        self.listing.arrange()
        self._kept(before)

    @rule(by=st.integers(-9, 9))
    def step(self, by: int) -> None:
        self.listing.step(by)

    @rule()
    def mark(self) -> None:
        self.listing.mark()

    @rule()
    def mark_range(self) -> None:
        self.listing.mark_range()

    @rule(group=st.sampled_from(GROUPS))
    def fold(self, group: str | None) -> None:
        before = self.listing.cursor
        self.listing.fold(group)
        self._kept(before)

    @precondition(lambda self: self.listing.seen)
    @rule(at=st.floats(0, 1, exclude_max=True))
    def put(self, at: float) -> None:
        self.listing.put(int(at * len(self.listing.seen)))

    @invariant()
    def the_cursor_is_on_a_row_that_is_seen(self) -> None:
        assert (self.listing.cursor is None) == (not self.listing.seen)
        assert (self.listing.position is None) == (not self.listing.seen)

    @invariant()
    def every_row_is_seen_at_most_once(self) -> None:
        keys = [one.key for one in self.listing.seen]
        assert len(set(keys)) == len(keys)
        assert set(self.listing.seen) <= set(self.listing.rows)
        assert self.listing.shown <= self.listing.total

    @invariant()
    def marks_are_on_rows(self) -> None:
        assert self.listing.marks <= {one.key for one in self.listing.rows if not one.heading}
        assert set(self.listing.chosen) >= self.listing.marks


Lists.TestCase.settings = settings(patient, max_examples=40, stateful_step_count=20)
TestLists = Lists.TestCase
