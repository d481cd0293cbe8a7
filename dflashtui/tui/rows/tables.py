"""The columns of every list. Imports no model: the first picture needs them before anything else."""

from __future__ import annotations

from dflashtui.tui.listing.table import Column, Table

METER_WIDTH = 8

_GLYPH = Column("glyph", "", 1)
_UNIT_COLUMNS = (
    Column("unit", "unit", 10, 44, middle=True, is_measured=True, letter="n"),
    Column("state", "state", 8, 22, keep=1, is_measured=True, letter="s"),
    Column("since", "since", 6, align="right", keep=3, letter="a"),
    Column("gpus", "GPUs", 5, 8, keep=2, letter="u"),
    Column("memory", "memory", 8, align="right", keep=4, letter="m"),
    Column("cpu", "CPU", 6, align="right", keep=5, letter="c"),
    Column("restarts", "restarts", 8, align="right", keep=6, letter="r"),
    Column("note", "", 20, 200, keep=7),
)
_GPU_COLUMNS = (
    Column("gpu", "GPU", 3, align="right", letter="n"),
    Column("meter", "", METER_WIDTH, keep=3),
    Column("utilization", "util", 5, align="right", letter="u"),
    Column("memory", "memory", 11, align="right", keep=2, letter="m"),
    Column("temperature", "temp", 5, align="right", keep=4, letter="t"),
    Column("power", "power", 9, align="right", keep=6, letter="p"),
    Column("units", "held by", 8, 44, keep=5, middle=True, is_measured=True, letter="b"),
    Column("model", "model", 8, 32, keep=8, middle=True, is_measured=True),
    Column("note", "", 14, 200, keep=7, letter="s"),
)
FLEET = Table(
    noun="hosts",
    empty="no host in the inventory – add one to hosts.toml: [hosts.NAME]",
    columns=(
        _GLYPH,
        Column("host", "host", 8, 28, middle=True, is_measured=True, letter="n"),
        Column("state", "state", 8, 22, keep=1, is_measured=True, letter="s"),
        Column("gpus", "GPUs", 9, 9, keep=2, letter="u"),
        Column("ready", "ready", 5, align="right", keep=3, letter="r"),
        Column("memory", "GPU memory", 13, align="right", keep=4, letter="m"),
        Column("hottest", "hottest", 7, align="right", keep=5, letter="t"),
        Column("age", "age", 5, align="right", keep=6, letter="a"),
        Column("note", "", 20, 200, keep=7),
    ),
)
UNITS = Table(
    "units", (_GLYPH, *_UNIT_COLUMNS), 'no watched unit on this host – name some in hosts.toml: units = ["…"]'
)
SERVICES = Table(
    "units",
    (
        _GLYPH,
        Column("host", "host", 6, 20, keep=1, middle=True, is_measured=True, letter="h"),
        *_UNIT_COLUMNS[:4],
        Column("load", "load", 6, align="right", keep=3, letter="l"),
        Column("tokens", "tokens/s", 8, align="right", keep=3, letter="t"),
        Column("accept", "accept", 6, align="right", keep=4, letter="e"),
        *_UNIT_COLUMNS[4:],
    ),
    'no watched unit on any host – name some in hosts.toml: units = ["…"]',
)
GPUS = Table("GPUs", (_GLYPH, *_GPU_COLUMNS), "no GPU on this host")
ALL_GPUS = Table(
    "GPUs",
    (_GLYPH, Column("host", "host", 6, 20, middle=True, is_measured=True, keep=1, letter="h"), *_GPU_COLUMNS),
    "no GPU on any host",
)
PROBLEMS = Table(
    noun="problems",
    empty="nothing needs you",
    columns=(
        _GLYPH,
        Column("host", "host", 6, 20, middle=True, is_measured=True, keep=1, letter="h"),
        Column("what", "what", 8, 36, middle=True, is_measured=True, letter="n"),
        Column("words", "problem", 16, 400, letter="s"),
    ),
)
EVENTS = Table(
    noun="events",
    empty="nothing happened since the console was opened",
    columns=(
        _GLYPH,
        Column("at", "time", 8, letter="a"),
        Column("host", "host", 6, 20, middle=True, is_measured=True, keep=2, letter="h"),
        Column("what", "what", 6, 36, middle=True, is_measured=True, keep=1, letter="n"),
        Column("message", "", 10, 300),
    ),
)
