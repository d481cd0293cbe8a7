"""Names and quantities: what is good comes back as it is, the rest is refused."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dflashtui.config import names, quantities


@pytest.mark.parametrize("name", ["ct129", "gpu-a.example.org", "_x", "1", "a.b", "A"])
def test_good_host_names(name: str) -> None:
    assert names.label(name) == name


@pytest.mark.parametrize(
    "address", ["10.1.2.129", "ct129", "a.example.org.", "::1", "fe80::1%eth0", "2001:db8::5", "a_b"]
)
def test_good_addresses(address: str) -> None:
    assert names.address(address) == address


@pytest.mark.parametrize("user", ["root", "DOMAIN\\user", "user@example.org", "svc$", "a.b-c", "_x"])
def test_good_users(user: str) -> None:
    assert names.user(user) == user


@pytest.mark.parametrize(
    "unit", ["a.service", "a@1.service", "a@b@c.service", "x\\x2dy.socket", "a:b.timer", "a.b.service"]
)
def test_good_units(unit: str) -> None:
    assert names.unit(unit) == unit
    assert names.unit_or_glob(unit) == unit


@pytest.mark.parametrize("glob", ["*", "sglang-*.service", "ollama*", "a@[0-9].service", "?x.service"])
def test_good_patterns(glob: str) -> None:
    assert names.unit_or_glob(glob) == glob


@pytest.mark.parametrize("glob", ["-*", "a b*", "*;x", "*\n", "*/x", "a" * 255 + "*"])
def test_bad_patterns(glob: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        names.unit_or_glob(glob)


@given(st.text())
@example("svc$")
def test_no_name_that_passes_can_be_an_option_or_two_words(text: str) -> None:
    for check in (names.label, names.address, names.user, names.unit, names.unit_or_glob):
        try:
            name = check(text)
        except ValueError:
            continue
        assert name == text
        assert name.isascii()
        assert name.isprintable()
        assert not name.startswith("-")
        bare = name.removesuffix("$") if check is names.user else name  # an account of a machine; no shell expands it
        assert not set(bare) & set(" /'\"$`;&|<>(){}")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("15m", 900),
        ("90s", 90),
        ("1h30m", 5400),
        ("1h 30min", 5400),
        (" 2 hours 5 sec ", 7205),
        ("500ms", 0.5),
        ("1.5h", 5400),
        ("900", 900),
        ("7d", 604800),
        (15, 15),
        (0.5, 0.5),
    ],
)
def test_time_spans(written: object, seconds: float) -> None:
    assert quantities.span_seconds(written) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written", ["", "0", "-5s", "15 fortnights", "m", "1m x", "8d", "1M", "infinity", 0, -1, True, None, [], "1e5"]
)
def test_no_time_spans(written: object) -> None:
    with pytest.raises(ValueError, match="expected a time span"):
        quantities.span_seconds(written)


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:30000", "[::]:1", "[fe80::1%eth0]:65535", "localhost:80", "gpu-a.example:8000"]
)
def test_good_listening_addresses(listen: str) -> None:
    assert quantities.listen(listen) == listen


@pytest.mark.parametrize(
    "listen",
    ["", ":80", "a:", "a:0", "a:65536", "::1:80", "[a]:80", "[::1]", "-a:80", "a b:80", "[]:80", "a:\uff18\uff10"],
)
def test_bad_listening_addresses(listen: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        quantities.listen(listen)


@pytest.mark.parametrize("url", ["http://127.0.0.1:30001/health", "https://[::1]/x?y=z", "http://h"])
def test_good_urls(url: str) -> None:
    assert quantities.http_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h/health",
        "ftp://h",
        "http://",
        "http://u:p@h/",
        "http://h:99999/",
        "http://h/a b",
        "http://[::1/",
        "http://h\n",
    ],
)
def test_bad_urls(url: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        quantities.http_url(url)


@pytest.mark.parametrize("gpu", [0, 7, "GPU-5d1f0a3c-1111-2222-3333-444455556666", "MIG-5d1f0a3c", "MIG-GPU-5d1f/1/0"])
def test_good_gpus(gpu: object) -> None:
    assert quantities.gpu(gpu) == gpu


@pytest.mark.parametrize("gpu", [-1, True, "0", "all", "GPU-", "GPU-a b", 1.0, None])
def test_bad_gpus(gpu: object) -> None:
    with pytest.raises(ValueError, match="expected a GPU"):
        quantities.gpu(gpu)


def test_a_deep_option_is_refused_before_it_can_exhaust_the_stack() -> None:
    deep: object = 1
    for _ in range(quantities.DEEPEST_ARGUMENT + 1):
        deep = [deep]
    with pytest.raises(ValueError, match="expected text, a number"):
        quantities.flag_value(deep)
