"""Lines of keys: what tomllib reads, the scanner finds, in every form that TOML has."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dflashtui.config.locate import Places
from tests.unit.config_text import quoted, written

TRICKY = r'''
top = 1  # [not.a.table]
"quo.ted" = "# no comment"
'lit' . "eral" = 'a "b" \'

[a."b c".d]   # comment
text = """
x = 1
[fake]
""""
list = [ 1, # one ]
  [ 2, "]" ], { k = "}" , l.m = [ 3 ] },
]
when = 1979-05-27 07:32:00
lines = QQQ
y = 2QQQ

[[arr]]
n = 1
[arr.sub]
deep = true
[[arr]]
n = 2
[[arr.inner]]
z = 3
[[arr.inner]]
z = 4
'''.replace("QQQ", "'''")


def paths(value: object, way: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {found for key, item in items for found in {(*way, key), *paths(item, (*way, key))}}


def test_every_key_of_a_tricky_text_is_found() -> None:
    places = Places.of(TRICKY)
    assert paths(tomllib.loads(TRICKY)) == set(places.lines)
    assert places.repeated == {}


def test_lines_of_a_tricky_text() -> None:
    places = Places.of(TRICKY)
    rows = TRICKY.split("\n")
    for keys, start in {
        ("top",): "top",
        ("lit", "eral"): "'lit'",
        ("a", "b c", "d"): '[a."b c"',
        ("a", "b c", "d", "list", 1, 1): "  [ 2",
        ("a", "b c", "d", "list", 2, "l", "m", 0): "  [ 2",
        ("arr", 0, "sub", "deep"): "deep",
        ("arr", 1, "n"): "n = 2",
        ("arr", 1, "inner", 1, "z"): "z = 4",
    }.items():
        assert rows[places.line(keys) - 1].startswith(start), keys


def test_an_unknown_key_has_the_line_of_the_table_around_it() -> None:
    places = Places.of("\n[a]\nx = 1\n")
    assert places.line(("a", "gone", 0)) == 2
    assert places.line(("gone",)) == 1


def test_keys_set_twice() -> None:
    places = Places.of("[a]\nx = 1\ny.z = 2\nx = 3\ny.z = 4\n")
    assert places.repeated == {("a", "x"): 4, ("a", "y", "z"): 5}
    assert places.line(("a", "x")) == 2


keys = st.text(min_size=1, max_size=5)
scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text(max_size=20).map(lambda text: text.replace("\x7f", ""))
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(keys, st.dictionaries(keys, values, max_size=3), max_size=3))
def test_every_key_of_any_text_is_found(tables: dict[str, dict[str, Any]]) -> None:
    text = "".join(
        f"[{quoted(name)}]\n" + "".join(f"{quoted(key)} = {written(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    )
    assert tomllib.loads(text) == tables
    assert set(Places.of(text).lines) == paths(tables)


@given(st.text(alphabet="[]{}=.,\"'\\#\n ab1", max_size=60))
def test_no_text_stops_the_scanner(text: str) -> None:
    assert Places.of(text).line(()) == 1
