"""The comparison of environments on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from dflashtui.config.model import Unit
from dflashtui.model.comparison import Compared, Comparison, Remark, Stand
from dflashtui.tui.compare import words
from dflashtui.tui.compare.pairing import Pairing, pairings
from dflashtui.tui.compare.screen import CompareScreen
from dflashtui.tui.details.parts import folded
from dflashtui.tui.styled import measured, plain
from dflashtui.tui.subject import gpu_subject, host_subject, unit_subject
from tests.tui.fake import console
from tests.tui.hostile import check_lines, patient, texts
from tests.tui.stage import HOSTILE, LIVE, config_of, host

if TYPE_CHECKING:
    from dflashtui.config.model import Config

A, B, C = "gpu-a", "gpu-b", "gpu-c"


def row(name: str, group: str, *fatal: Remark, **values: str | None) -> Compared:
    hosts: dict[str | None, list[str]] = {}
    for letter, value in values.items():
        hosts.setdefault(value, []).append(f"gpu-{letter}")
    stands = sorted(hosts.items(), key=lambda item: -len(item[1]))
    fields = {"name": name, "group": group, "fatal": fatal}
    return Compared.model_validate(
        fields | {"stands": tuple(Stand(value=value, hosts=tuple(some)) for value, some in stands)}
    )


WRONG = Remark(host=B, message="torchvision 0.22 belongs to torch 2.7")
ROWS = (
    row("torch", "decisive", WRONG, a="2.9.1+cu128", b="2.11.0+cu130"),
    row("torchvision", "decisive", WRONG, a="0.24.1", b="0.22.0"),
    row("glibc", "machine", a="2.39", b="2.39"),
    row("soundfile", "package", a="0.13.1", b=None),
)
TWO = Comparison(hosts=(A, B), rows=ROWS)


def text_of(lines: object) -> str:
    return "\n".join(map(plain, lines))  # type: ignore[call-overload]


def test_differences_stand_in_columns_what_decides_first() -> None:
    shown = text_of(words.page(TWO, 100, every=False))
    assert shown.startswith("× 3 differ, 2 of them fatal · 1 are the same")
    assert shown.index("decides whether it runs") < shown.index("× torch") < shown.index("≠ soundfile")
    assert shown.count("gpu-b: torchvision 0.22 belongs to torch 2.7") == 1
    assert "glibc" not in shown
    assert "glibc" in text_of(words.page(TWO, 100, every=True))


@pytest.mark.parametrize("width", [54, 76, 110, 170])
def test_no_line_but_a_remark_is_wider_than_the_page(width: int) -> None:
    long = row("nvidia-cuda-runtime-cu12-with-a-long-name", "cuda", a="1" * 90, b="2" * 90)
    page = words.page(Comparison(hosts=(A, B), rows=(ROWS[2], ROWS[3], long)), max(width, 70), every=True)
    assert max(map(measured, page)) <= max(width, 70)


def test_on_a_small_screen_and_over_many_hosts_answers_name_their_hosts() -> None:
    assert "    0.13.1  gpu-a\n    –  gpu-b" in text_of(words.page(TWO, 50, every=False))
    hosts = tuple(f"gpu-{letter}" for letter in "abcdef")
    many = Comparison(hosts=hosts, rows=(row("torch", "decisive", **dict.fromkeys("abcde", "2.9"), f="2.8"),))
    assert "    2.9  gpu-a gpu-b gpu-c gpu-d gpu-e\n    2.8  gpu-f" in text_of(words.page(many, 200, every=False))


def test_what_could_not_be_read_is_said() -> None:
    one = Comparison(hosts=(A,), rows=ROWS, unread=(Remark(host=B, message="no answer in time"),))
    shown = text_of(words.page(one, 100, every=False))
    assert "fewer than two hosts" in shown
    assert "gpu-b  no answer in time" in shown


@patient
@given(texts)
def test_whatever_a_host_says_is_inert(text: str) -> None:
    bad = Compared(
        name=text,
        group="package",
        stands=(Stand(value=text, hosts=(text,)), Stand(value=HOSTILE, hosts=(B,))),
        fatal=(Remark(host=text, message=text),),
    )
    comparison = Comparison(hosts=(text, B), rows=(bad,), unread=(Remark(host=text, message=text),))
    for width in (50, 160):
        check_lines(folded(words.page(comparison, width, every=True), width), width)


def inventory(*units: Unit) -> Config:
    return config_of(*(host(name) for name in (A, B, C))).model_copy(update={"units": units})


def test_marked_hosts_or_a_host_and_its_reference_are_compared() -> None:
    one = Unit(name="one.service", hosts=(A, B), python="/v1/bin/python", reference=A)
    same = Unit(name="same.service", hosts=(A, B), python="/v1/bin/python", reference=A)
    other = Unit(name="other.service", hosts=(B,), python="/v2/bin/python", reference=A)
    a, b, c = map(host_subject, (A, B, C))
    config = inventory(one, same, other)
    assert pairings((a, b), inventory(one, same)) == (Pairing((A, B), "one.service"),)
    assert pairings((a, c), config) == (Pairing((A, C), None),)
    assert [(one.hosts, one.unit) for one in pairings((b,), config)] == [
        ((A, B), "one.service"),
        ((A, B), "other.service"),
    ]
    assert pairings((a,), config) == ()
    assert pairings((unit_subject(B, "other.service"),), config) == (Pairing((A, B), "other.service", A),)
    assert pairings((unit_subject(B, "x.service"), unit_subject(C, "x.service")), config) == (
        Pairing((B, C), "x.service"),
    )
    for none in ((), (unit_subject(A, "one.service"),), (gpu_subject(A, 0), gpu_subject(B, 0)), (a, gpu_subject(B, 0))):
        assert pairings(none, config) == ()


async def test_marked_hosts_are_read_and_shown() -> None:
    async with console(LIVE, host("h-two"), size=(100, 30)) as c:
        await c.press("1", "equals_sign")
        assert not isinstance(c.app.screen, CompareScreen)
        await c.press("space", "space", "equals_sign")
        await c.until(lambda: isinstance(c.app.screen, CompareScreen))
        sheet = c.app.screen
        assert isinstance(sheet, CompareScreen)
        await c.sees("fewer than two hosts", "h-two")
        sheet.fill(TWO)
        await c.sees("× torch", "2.11.0+cu130", "≠ soundfile")
        assert "glibc" not in c.text
        await c.press("a")
        await c.sees("glibc", "a only differences")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)
