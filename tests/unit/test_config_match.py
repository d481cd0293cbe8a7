"""`--host GLOB` and `--unit GLOB`."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.config.match import match_hosts, match_units, may_meet
from dflashtui.config.model import Config, Host, Unit
from dflashtui.errors import ConfigError
from tests.faults.marks import fault

CONFIG = Config(
    hosts=(Host(name="ct129", units=("sglang-*.service",)), Host(name="ct200")),
    units=(Unit(name="ddtree-wrapper.service", hosts=("ct200",)),),
)


def names(*globs: str) -> list[str]:
    return [host.name for host in match_hosts(CONFIG, globs)]


def test_hosts_keep_the_order_of_the_inventory_and_come_once() -> None:
    assert names() == ["ct129", "ct200"]
    assert names("ct200", "ct*", "ct200") == ["ct129", "ct200"]
    assert names("ct2??") == ["ct200"]


@fault("G3", how="patterns that match nothing", result="told")
def test_every_glob_that_matches_no_host_is_told() -> None:
    with pytest.raises(ConfigError) as raised:
        match_hosts(CONFIG, ["ct20", "ct*", "web*", "CT129"])
    assert raised.value.problems == (
        '--host "ct20": matches no host; did you mean "ct200"?',
        '--host "web*": matches no host; the hosts are: "ct129", "ct200"',
        '--host "CT129": matches no host; did you mean "ct129"?',
    )


def test_units_are_completed_as_systemctl_does() -> None:
    assert match_units(CONFIG, ["ddtree-wrapper", "dd*", "sglang-x.service"]) == (
        "ddtree-wrapper.service",
        "dd*",
        "sglang-x.service",
    )


def test_a_unit_that_a_watched_pattern_may_bring_is_no_mistake() -> None:
    assert match_units(CONFIG, ["*-smoke.service", "sglang-[ab]*"]) == ("*-smoke.service", "sglang-[ab]*")


def test_a_unit_that_nothing_can_bring_is_told() -> None:
    with pytest.raises(
        ConfigError, match=r'"ddtree-wraper\.service": matches no unit; did you mean "ddtree-wrapper\.service"'
    ):
        match_units(CONFIG, ["ddtree-wraper"])


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("a*", "*b", True),
        ("a*", "b*", False),
        ("*", "", True),
        ("?", "", False),
        ("*a*", "b", False),
        ("a[bc]d", "a?d", True),
        ("a*c", "ab", False),
    ],
)
def test_globs_meet(one: str, other: str, meet: bool) -> None:  # noqa: FBT001 - a column of the table
    assert may_meet(one, other) is meet
    assert may_meet(other, one) is meet


ways = st.lists(st.tuples(st.sampled_from(["", "*"]), st.sampled_from(["", "?", "*", "[ab]"])), min_size=6, max_size=6)
"""For each character of a name: what stands before it in a glob, and in its place."""


def glob(name: str, way: list[tuple[str, str]]) -> str:
    return "".join(before + (instead or char) for char, (before, instead) in zip(name, way, strict=False))


@given(st.text(alphabet="ab", max_size=6), ways, ways)
def test_globs_that_share_a_name_meet(name: str, first: list[tuple[str, str]], second: list[tuple[str, str]]) -> None:
    one, other = glob(name, first), glob(name, second)
    assert fnmatchcase(name, one)
    assert fnmatchcase(name, other)
    assert may_meet(one, other)
