"""The picture: totals and problems are worked out from the hosts, and from nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.fleet.base import Change
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.gpu import Xid
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.unit import Readiness
from dflashtui.tui.feed import KEPT_EVENTS, Feed
from dflashtui.tui.picture import ROLE_ORDER, Picture, Problem, host_problems, problems, ready_count, services, totals
from dflashtui.tui.subject import Kind, Subject, gpu_subject, host_subject, unit_subject
from tests.tui.hostile import forbidden_in, hosts, patient
from tests.tui.stage import (
    ALL_HOSTILE,
    CONNECTING,
    DENIED,
    FAILED,
    LIVE,
    LOADING,
    LOST,
    LOST_GPU,
    NO_GPU,
    NOW,
    READY,
    STOPPED,
    WITH_FAILURE,
    ago,
    gpu,
    host,
    unit,
)


def told(*found: HostSnapshot) -> list[tuple[str, Subject]]:
    return [(problem.role, problem.subject) for problem in problems(Picture(NOW, found))]


def event(number: int) -> Event:
    return Event(at=NOW, kind=EventKind.UNIT, severity=Severity.OK, host="h", message=f"{number}")


@patient
@given(st.lists(hosts, max_size=3).map(tuple))
def test_problems_are_safe_sorted_and_counted(found: tuple[HostSnapshot, ...]) -> None:
    picture = Picture(NOW, found)
    listed = problems(picture)
    ranks = [ROLE_ORDER.index(problem.role) for problem in listed]
    assert ranks == sorted(ranks)
    assert not any(forbidden_in(problem.words.replace("\t", " ")) for problem in listed)
    total = totals(picture)
    assert total.alarms + total.unseen + total.warnings == len(listed)
    assert total.hosts_up <= total.hosts == len(found)
    assert total.ready <= total.services
    assert total.gpus_used <= total.gpus


@patient
@given(hosts)
def test_every_problem_is_about_something_on_its_host(found: HostSnapshot) -> None:
    picture = Picture(NOW, (found,))
    for problem in host_problems(found, NOW):
        assert problem.subject.host == found.name
        match problem.subject.kind:
            case Kind.UNIT:
                assert picture.unit(problem.subject) is not None
            case Kind.GPU:
                assert picture.gpu(problem.subject) is not None
            case kind:
                assert kind is Kind.HOST


def test_a_healthy_host_needs_nobody() -> None:
    assert told(host("h", units=(READY, STOPPED), gpus=(gpu(0), gpu(1)))) == []


def test_what_only_needs_time_is_no_problem() -> None:
    assert told(CONNECTING, host("h", units=(LOADING,))) == []


def test_the_worst_comes_first_then_the_order_of_the_inventory() -> None:
    warned = host("h-warned", units=(unit("w.service", needs_reload=True),))
    found = told(warned, LOST, WITH_FAILURE, DENIED)
    assert found == [
        ("bad", unit_subject("h-failed", FAILED.name)),
        ("stale", host_subject("h-lost")),
        ("stale", host_subject("h-denied")),
        ("warn", unit_subject("h-warned", "w.service")),
    ]


def test_a_fault_of_a_gpu_is_about_that_gpu_and_does_not_name_it_twice() -> None:
    found = problems(Picture(NOW, (LOST_GPU,)))
    lost = next(problem for problem in found if problem.words.startswith("lost"))
    assert lost == Problem("bad", gpu_subject("h-lostgpu", 0), "lost: NVML_ERROR_GPU_IS_LOST")
    orphan = next(problem for problem in found if "held by no unit" in problem.words)
    assert (orphan.role, orphan.subject) == ("warn", gpu_subject("h-lostgpu", 1))
    assert any(problem.words.startswith("Xid 79") and problem.subject == lost.subject for problem in found)


def test_an_xid_of_a_gpu_that_is_gone_is_about_the_host() -> None:
    xid = Xid(pci_bus_id="00000000:ff:00.0", xid=79, at=ago(9))
    assert told(host("h", units=(), gpus=(gpu(0),), xids=(xid,))) == [("bad", host_subject("h"))]


def test_a_gpu_without_uuid_is_found_by_its_index() -> None:
    found = host("h", units=(), gpus=(gpu(0), gpu(1, uuid=None, pci_bus_id=None, lost="gone")))
    assert told(found) == [("bad", gpu_subject("h", 1))]


def test_hostile_words_of_a_problem_are_harmless_and_its_identity_is_whole() -> None:
    (name,) = (one.name for one in ALL_HOSTILE.units or ())
    listed = problems(Picture(NOW, (ALL_HOSTILE,)))
    assert unit_subject("h-hostile", name) in {problem.subject for problem in listed}
    assert not any(forbidden_in(problem.words.replace("\t", " ")) for problem in listed)


def test_the_figures_of_the_header() -> None:
    total = totals(Picture(NOW, (LIVE, WITH_FAILURE, NO_GPU, CONNECTING, DENIED)))
    assert (total.hosts_up, total.hosts) == (3, 5)
    assert (total.ready, total.services) == (3, 6)
    assert (total.gpus_used, total.gpus) == (16, 16)
    assert (total.alarms, total.unseen, total.warnings) == (1, 2, 0)


def test_services_are_units_that_have_something_to_answer() -> None:
    found = host("h", units=(READY, LOADING, STOPPED))
    assert STOPPED.readiness is Readiness.NONE
    assert (len(services(found)), ready_count(found)) == (2, 1)
    assert services(host("h", units=None)) == ()


def test_things_are_found_by_what_they_are() -> None:
    picture = Picture(NOW, (LIVE, host("other", units=(), gpus=None)))
    assert picture.host("h-live") == LIVE
    assert picture.unit(unit_subject("h-live", READY.name)) == READY
    assert picture.gpu(gpu_subject("h-live", 7)) == (LIVE.gpus or ())[7]
    for gone in (unit_subject("nobody", "x"), unit_subject("other", READY.name)):
        assert picture.unit(gone) is None
    for gone in (gpu_subject("nobody", 0), gpu_subject("other", 0), gpu_subject("h-live", 8)):
        assert picture.gpu(gone) is None


@pytest.mark.parametrize(("number", "kept"), [(4, False), (5, True), (6, True), (7, False), (-1, False)])
def test_an_event_is_found_by_its_number_or_not_at_all(number: int, *, kept: bool) -> None:
    picture = Picture(NOW, events=(event(5), event(6)), first_event=5)
    found = picture.event(Subject(Kind.EVENT, "h", str(number)))
    assert (found is not None) == kept
    assert found is None or found.message == str(number)


def test_the_feed_takes_what_changes_and_numbers_events_from_the_start() -> None:
    feed = Feed((CONNECTING, LIVE), is_demo=True, read_only=False)
    newer = CONNECTING.model_copy(update={"link": Link(state=LinkState.UP), "gpus": (gpu(0),), "gpus_at": NOW})
    feed.take(Change(host=CONNECTING.name, snapshot=newer, events=(event(0), event(1))))
    picture = feed.picture(NOW)
    assert picture.hosts == (newer, LIVE)
    assert [one.message for one in picture.events] == ["0", "1"]
    assert (picture.first_event, picture.is_demo, picture.read_only) == (0, True, False)
    assert len(feed.history.of(CONNECTING.name, 0)) == 1


def test_the_feed_forgets_the_oldest_events_but_not_their_numbers() -> None:
    feed = Feed((), is_demo=False, read_only=False)
    for number in range(KEPT_EVENTS + 3):
        feed.tell(event(number))
    picture = feed.picture(NOW)
    assert len(picture.events) == KEPT_EVENTS
    assert (picture.first_event, picture.events[0].message) == (3, "3")


def test_a_picture_does_not_change_when_the_feed_goes_on() -> None:
    feed = Feed((LIVE,), is_demo=False, read_only=False)
    frozen = feed.picture(NOW, frozen_since=NOW)
    feed.take(Change(host=LIVE.name, snapshot=host("h-live", units=()), events=(event(0),)))
    assert frozen.hosts == (LIVE,)
    assert frozen.events == ()


def test_what_an_unreachable_host_said_last_does_not_count_as_ready_or_in_use() -> None:
    gone = LIVE.model_copy(update={"link": Link(state=LinkState.UNREACHABLE, error="timed out")})
    assert totals(Picture(NOW, (LIVE,))).ready > 0
    assert totals(Picture(NOW, (LIVE,))).gpus_used > 0
    total = totals(Picture(NOW, (gone,)))
    assert (total.ready, total.gpus_used) == (0, 0)
    assert total.services > 0
