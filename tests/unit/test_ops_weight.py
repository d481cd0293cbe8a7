import pytest

from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.model.host import HostSnapshot
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.ops.weight import confirmation, fitting, weight

READY = UnitStatus(name="a.service", active_state=ActiveState.ACTIVE, readiness=Readiness.READY, main_pid=7)
DEAD = UnitStatus(name="a.service", active_state=ActiveState.INACTIVE, load_state=LoadState.LOADED)


def fleet(**units: UnitStatus) -> dict[str, HostSnapshot]:
    return {host: HostSnapshot(name=host, group="lab", units=(unit,)) for host, unit in units.items()}


def actions(verb: Verb, *hosts: str, signal: str | None = None) -> list[UnitAction]:
    return [UnitAction(verb=verb, host=host, unit="a.service", signal=signal) for host in hosts]


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        (Verb.START, Weight.LIGHT),
        (Verb.RELOAD, Weight.LIGHT),
        (Verb.RESET_FAILED, Weight.LIGHT),
        (Verb.RESTART, Weight.NORMAL),
        (Verb.STOP, Weight.NORMAL),
        (Verb.ENABLE, Weight.NORMAL),
        (Verb.DISABLE, Weight.NORMAL),
        (Verb.MASK, Weight.NORMAL),
        (Verb.KILL, Weight.NORMAL),
    ],
)
def test_one_unit_on_one_host(verb: Verb, expected: Weight) -> None:
    assert weight(actions(verb, "h1"), fleet(h1=DEAD)) is expected
    assert confirmation(actions(verb, "h1"), fleet(h1=DEAD)).word is None


def test_several_units_are_no_light_matter() -> None:
    both = [*actions(Verb.START, "h1"), UnitAction(verb=Verb.START, host="h1", unit="b.service")]
    assert weight(both, fleet(h1=DEAD)) is Weight.NORMAL


def test_several_hosts_are_heavy_and_typed_as_a_number() -> None:
    asked = confirmation(actions(Verb.START, "h1", "h2"), fleet(h1=DEAD, h2=DEAD))
    assert (asked.weight, asked.word, asked.reasons) == (Weight.HEAVY, "2", ("2 hosts at once",))
    assert asked.commands == ("systemctl start a.service",) * 2
    assert asked.hosts == ("h1", "h2")


def test_a_protected_group_is_typed_by_its_name() -> None:
    snapshots = {"h1": HostSnapshot(name="h1", group="prod", protected=True, units=(DEAD,))}
    asked = confirmation(actions(Verb.START, "h1"), snapshots)
    assert (asked.weight, asked.word, asked.reasons) == (Weight.HEAVY, "prod", ("group prod is protected",))


@pytest.mark.parametrize(("signal", "expected"), [("SIGKILL", Weight.HEAVY), ("SIGHUP", Weight.NORMAL)])
def test_sigkill(signal: str, expected: Weight) -> None:
    assert weight(actions(Verb.KILL, "h1", signal=signal), fleet(h1=DEAD)) is expected


def test_the_last_ready_copy() -> None:
    assert weight(actions(Verb.STOP, "h1"), fleet(h1=READY, h2=DEAD)) is Weight.HEAVY
    assert confirmation(actions(Verb.STOP, "h1"), fleet(h1=READY, h2=DEAD)).word == "h1"
    assert weight(actions(Verb.STOP, "h1"), fleet(h1=READY, h2=READY)) is Weight.NORMAL
    assert weight(actions(Verb.STOP, "h2"), fleet(h1=READY, h2=DEAD)) is Weight.NORMAL
    assert weight(actions(Verb.RESTART, "h1"), fleet(h1=READY)) is Weight.NORMAL
    both = confirmation(actions(Verb.STOP, "h1", "h2"), fleet(h1=READY, h2=READY))
    assert "a.service: no other ready copy is left" in both.reasons


def unit(active: str = "inactive", **more: object) -> UnitStatus:
    given = {"name": "a.service", "load_state": "loaded", "active_state": active, "can_start": True, "can_stop": True}
    return UnitStatus.model_validate({**given, **more})


@pytest.mark.parametrize(
    ("status", "verbs"),
    [
        (unit(), {Verb.START}),
        (unit("active", main_pid=7, can_reload=True), {Verb.STOP, Verb.RESTART, Verb.RELOAD, Verb.KILL}),
        (unit("active", main_pid=7, can_reload=False), {Verb.STOP, Verb.RESTART, Verb.KILL}),
        (unit("failed"), {Verb.START, Verb.RESTART, Verb.RESET_FAILED}),
        (unit("activating", sub_state="auto-restart"), {Verb.STOP, Verb.RESTART, Verb.RESET_FAILED}),
        (unit("deactivating", main_pid=7), {Verb.START, Verb.KILL}),
        (unit(load_state="not-found"), set()),
        (unit(load_state="bad-setting"), set()),
        (unit(load_state="masked", unit_file_state="masked"), {Verb.UNMASK}),
        (unit("active", load_state="masked"), {Verb.STOP, Verb.UNMASK}),
        (unit(can_start=False), set()),
        (unit(unit_file_state="disabled"), {Verb.START, Verb.ENABLE, Verb.MASK}),
        (unit(unit_file_state="enabled"), {Verb.START, Verb.DISABLE, Verb.MASK}),
        (unit(unit_file_state="static"), {Verb.START, Verb.MASK}),
        (unit(unit_file_state="transient"), {Verb.START}),
    ],
)
def test_only_verbs_that_fit(status: UnitStatus, verbs: set[Verb]) -> None:
    assert set(fitting(status)) == verbs
