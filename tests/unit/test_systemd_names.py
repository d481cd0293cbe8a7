import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.source.systemd_names import full_pattern, is_glob, is_unit_name, matches, unit_name, unit_path


@pytest.mark.parametrize(
    "name",
    [
        "x.service",
        r"hostile-\x5b\x2fx\x5d.service",
        "worker@1.service",
        "-rf.service",
        "a:b_c.d.service",
        "dev-sda.mount",
    ],
)
def test_names_that_systemd_takes(name: str) -> None:
    assert is_unit_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "ok.service;reboot",
        "../../x.service",
        "a b.service",
        "@.service",
        "x.service\n",
        f"{'a' * 250}.service",
        "é.service",
        "",
    ],
)
def test_names_that_it_would_mangle(name: str) -> None:
    assert not is_unit_name(name)


def test_plain_names_get_their_suffix() -> None:
    assert full_pattern("nginx") == "nginx.service"
    assert full_pattern("multi-user.target") == "multi-user.target"
    assert full_pattern("sglang-*") == "sglang-*"


@pytest.mark.parametrize("pattern", ["a b", "x;reboot", "a/*", "$(x)*", f"{'a' * 300}*"])
def test_patterns_that_are_none(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        full_pattern(pattern)


def test_globs() -> None:
    assert is_glob("worker@[12].service")
    assert matches("worker@[^3].service", "worker@1.service")
    assert not matches("worker@[^3].service", "worker@3.service")
    assert not matches("x.service", "y.service")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("sglang-loop.service", "/org/freedesktop/systemd1/unit/sglang_2dloop_2eservice"),
        ("1.service", "/org/freedesktop/systemd1/unit/_31_2eservice"),
        ("user@1000.service", "/org/freedesktop/systemd1/unit/user_401000_2eservice"),
    ],
)
def test_object_paths_as_systemd_made_them(name: str, path: str) -> None:
    assert unit_path(name) == path
    assert unit_name(path) == name


@given(st.from_regex(r"[A-Za-z0-9:_.\\@-]{1,40}\.service", fullmatch=True))
def test_paths_and_names_are_two_forms_of_one_thing(name: str) -> None:
    assert unit_name(unit_path(name)) == name


def test_other_paths_are_no_units() -> None:
    assert unit_name("/org/freedesktop/systemd1/job/1") is None
