"""Requirements among distributions, by the rules that pip follows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.engines.fit_requirements import requirement_misfits
from dflashtui.engines.requirements import asked, closure
from dflashtui.model.environment import Code, Distribution, normal
from tests.unit.environments import code, dist, environment

SGLANG = dist("sglang", "0.5.11", "torch==2.11.0", "soundfile==0.13.1", "xgrammar==0.1.32", "sglang-kernel==0.4.2")
GOOD = (
    dist("torch", "2.11.0"),
    dist("soundfile", "0.13.1"),
    dist("xgrammar", "0.1.32"),
    dist("sglang-kernel", "0.4.2"),
)


def judged(*distributions: Distribution, codes: tuple[Code, ...] = ()) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    found = requirement_misfits(environment(*distributions, codes=codes))
    return {one.id: (one.level, one.message, one.install) for one in found}


def test_an_environment_that_has_all_says_nothing() -> None:
    assert judged(SGLANG, *GOOD) == {}


def test_a_local_version_meets_a_public_pin() -> None:
    assert judged(SGLANG, dist("torch", "2.11.0+cu130"), *GOOD[1:]) == {}


def test_what_the_engine_pins_is_said_in_its_words_and_cured_by_its_version() -> None:
    older = dist("xgrammar", "0.1.10")
    found = judged(SGLANG, older, *(one for one in GOOD if one.key != "xgrammar"))
    message = "xgrammar is 0.1.10; sglang 0.5.11 asks for xgrammar==0.1.32"
    assert found == {"version:xgrammar": ("warning", message, ("xgrammar==0.1.32",))}


def test_the_code_of_a_package_counts_more_than_its_metadata() -> None:
    """Files copied over an older installation: pip is content, the engine is not."""
    found = judged(SGLANG, *GOOD, codes=(code("torch", "2.9.1+cu128", "12.8"),))
    assert found["version:torch"][:2] == ("fatal", "torch is 2.9.1+cu128; sglang 0.5.11 asks for torch==2.11.0")


STORY = (
    dist("torch", "2.11.0"),
    dist("flashinfer-python", "0.6.3"),
    dist("sgl-kernel", "0.3.21"),
    dist("xgrammar", "0.1.10"),
    dist("transformers", "5.6.0"),
)


@pytest.mark.parametrize("metadata", [(dist("sglang", "0.5.9", "xgrammar>=0.1"),), ()])
def test_engine_code_over_an_older_environment_is_judged_by_its_own_releases_pins(
    metadata: tuple[Distribution, ...],
) -> None:
    """Files of sglang 0.5.11 were copied over: its metadata, if there is any, tells of another release."""
    found = judged(*metadata, *STORY, codes=(code("sglang", "0.5.11"),))
    said = {name: install for name, (_, _, install) in found.items()}
    assert said == {
        "version:flashinfer-python": ("flashinfer-python==0.6.8.post1",),
        "version:xgrammar": ("xgrammar==0.1.32",),
        "missing:sglang-kernel": ("sglang-kernel==0.4.2",),
        "missing:soundfile": ("soundfile==0.13.1",),
    }
    assert found["version:xgrammar"][1] == "xgrammar is 0.1.10; sglang 0.5.11 asks for xgrammar==0.1.32"
    assert judged(*metadata, *STORY, codes=(code("sglang", "0.5.99.dev1"),)) == {}  # nobody knows what that asks for


def test_what_is_missing_names_who_asks_for_it() -> None:
    found = judged(SGLANG, *(one for one in GOOD if one.key != "soundfile"))
    message = "soundfile is not installed; sglang 0.5.11 asks for soundfile==0.13.1"
    assert found == {"missing:soundfile": ("warning", message, ("soundfile==0.13.1",))}
    assert judged(SGLANG, *GOOD[:3])["missing:sglang-kernel"][0] == "fatal"


def test_a_package_that_the_engine_does_not_need_is_a_note() -> None:
    found = judged(SGLANG, *GOOD, dist("pandas", "1.0", "numpy>=1"))
    assert found["missing:numpy"][0] == "note"


@pytest.mark.parametrize(
    ("requirement", "holds"),
    [
        ("colorama; sys_platform == 'win32'", False),
        ("typing-extensions; python_version < '3.12'", True),
        ("pytest; extra == 'test'", False),
        ("enum34; python_version < '3' or os_name == 'nt'", False),
        ("torch (>=1.10)", True),
    ],
)
def test_markers_are_judged_for_the_host(requirement: str, holds: bool) -> None:  # noqa: FBT001
    assert bool(asked(environment(dist("a", "1", requirement)))) is holds


def test_extras_that_are_asked_for_ask_in_turn_even_in_a_circle() -> None:
    some = (
        dist("a", "1", "B_b[Fast]"),
        dist("b.b", "1", "c[more]; extra == 'fast'", "zlib-x; extra == 'slow'"),
        dist("c", "1", "b-b[fast]; extra == 'more'", "d==2; extra == 'more'"),
    )
    assert {one.name for one in asked(environment(*some))} == {"b-b", "c", "d"}
    assert list(judged(*some)) == ["missing:d"]


def test_wishes_that_contradict_each_other_follow_the_engine_and_say_so() -> None:
    found = requirement_misfits(
        environment(SGLANG, *GOOD[:2], *GOOD[3:], dist("xgrammar", "0.1.10"), dist("o", "1", "xgrammar<0.1.20"))
    )
    (one,) = found
    assert one.install == ("xgrammar==0.1.32",)
    assert "not all" in str(one.remedy)


def test_versions_and_requirements_that_nobody_can_read() -> None:
    found = judged(dist("a", "1", "b>=1", "not a requirement!!"), dist("b", "not-a-version"), dist("c", "1", "d ["))
    assert {level for level, _, _ in found.values()} == {"note"}
    assert not any(one.startswith("version:") for one in found)


def test_metadata_twice_in_one_folder_is_worse_than_in_two() -> None:
    found = judged(
        dist("torch", "2.9.1"), dist("torch", "2.11.0"), dist("numpy", "1"), dist("numpy", "2", site="/usr/lib")
    )
    assert found["twice:torch"][0] == "warning"
    assert found["twice:numpy"][0] == "note"


def test_leftovers_of_another_cuda_generation() -> None:
    some = (
        dist("torch", "2.11.0", "nvidia-cuda-runtime==13.0.48", "nvidia-cudnn-cu13==9.1"),
        dist("nvidia-cuda-runtime", "13.0.48"),
        dist("nvidia-cudnn-cu13", "9.1"),
        dist("nvidia-cublas", "13.0.0"),
        dist("nvidia-cublas-cu12", "12.8.4"),
        dist("nvidia-nccl-cu12", "2.27"),
        dist("nvidia-ml-py", "13.580"),
    )
    (one,) = requirement_misfits(environment(*some, codes=(code("torch", "2.11.0+cu130", "13.0"),)))
    assert one.id == "leftover:cu12"
    assert one.uninstall == ("nvidia-cublas-cu12", "nvidia-nccl-cu12")
    assert requirement_misfits(environment(*some)) == ()  # nobody knows which generation is ours


def test_python_that_is_too_old_for_a_package() -> None:
    found = judged(dist("new", "1", requires_python=">=3.12"), dist("odd", "1", requires_python="what?"))
    assert list(found) == ["python:new"]


def test_a_closure_follows_who_asks() -> None:
    some = environment(dist("sglang", "1", "a"), dist("a", "1", "b"), dist("b", "1", "a"), dist("c", "1"))
    assert closure(some, "sglang", asked(some)) == {"sglang", "a", "b"}
    assert closure(some, None, asked(some)) == {"sglang", "a", "b", "c"}


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=30)), max_size=6))
def test_any_metadata_is_judged_without_a_fault_of_ours(some: list[tuple[str, str]]) -> None:
    found = requirement_misfits(environment(*(dist(name, text, text) for name, text in some)))
    assert all(one.message for one in found)
    assert normal("A_b.c--D") == "a-b-c-d"
