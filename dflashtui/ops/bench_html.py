"""A bench's result as one page that needs nothing else: tables, and plots as SVG. Pure."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dflashtui.ops.bench_report import HEAD, row, verdict
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dflashtui.model.bench import BenchResult, LevelFigures, Side

STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "body{color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.6rem 0}"
    "td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd}"
    ".bad{color:#a30000;font-weight:600}code,pre{font-family:ui-monospace,monospace;font-size:13px;white-space:pre-wrap}"
    "svg{max-width:100%;height:auto}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181d}td,th{border-color:#333}.bad{color:#ff8a80}}"
)
COLOURS = ("#2b6cb0", "#c05621")
WIDTH, HEIGHT, MARGIN = 420, 240, 48
PLOTS: tuple[tuple[str, Callable[[LevelFigures], float | None]], ...] = (
    ("tokens per second, all requests", lambda level: level.tokens_per_second.p50),
    ("time to first token, ms, median", lambda level: level.ttft_ms.p50),
    ("time per output token, ms, median", lambda level: level.tpot_ms.p50),
    ("accept length", lambda level: level.accept_length),
)


def page(result: BenchResult) -> str:
    """The whole page; every text from outside is escaped."""
    title = " against ".join(f"{side.unit} on {side.host}" for side in result.sides)
    parts = [
        f"<h1>{_text(title)}</h1>",
        (
            f"<p>{result.at:%Y-%m-%d %H:%M} UTC · {verdict(result)} · prompts {result.prompts_version} · "
            f"turns {' '.join(result.order)} · at most {result.max_tokens} tokens · temperature 0</p>"
        ),
        *_warnings(result),
        *(_side(side) for side in result.sides),
        *(plot(title, result.sides, figure) for title, figure in PLOTS),
        *_comparison(result),
        *(f"<p>note: {_text(note)}</p>" for note in result.notes),
    ]
    head = f"<meta charset=utf-8><title>{_text(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _warnings(result: BenchResult) -> Iterable[str]:
    if result.is_partial:
        yield "<p class=bad>Partial: it was interrupted, or a unit could not be measured to the end.</p>"
    if result.invalid:
        reasons = "".join(f"<li>{_text(reason)}</li>" for reason in result.invalid)
        yield f"<p class=bad>Invalid: the two must not be compared.</p><ul>{reasons}</ul>"


def _side(side: Side) -> str:
    facts = side.facts
    cells = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row(level))}</tr>" for level in side.levels)
    head = "".join(f"<th>{_text(name)}</th>" for name in HEAD)
    gpus = "; ".join(f"GPU {gpu.index} {gpu.name} {gpu.uuid}, driver {gpu.driver_version}" for gpu in facts.gpus)
    packages = ", ".join(f"{name} {version}" for name, version in facts.packages.items())
    trouble = f"<p class=bad>{_text(side.trouble)}</p>" if side.trouble else ""
    return (
        f"<h2>{side.label}: {_text(side.unit)} on {_text(side.host)}</h2>{trouble}"
        f"<p>{_text(facts.engine)} {_text(facts.engine_version)} · model {_text(facts.model)}</p>"
        f"<p>{_text(gpus or 'GPU not known')}</p>"
        f"<p>{_text(packages)}</p><pre>{_text(' '.join(facts.argv))}</pre><table><tr>{head}</tr>{cells}</table>"
    )


def _comparison(result: BenchResult) -> Iterable[str]:
    if result.speedups:
        rows = "".join(
            f"<tr><td>{one.concurrency}</td><td>{_ratio(one.throughput_ratio)}</td><td>{_ratio(one.ttft_ratio)}</td>"
            f"<td>{_ratio(one.tpot_ratio)}</td></tr>"
            for one in result.speedups
        )
        yield f"<h2>B against A</h2><table><tr><th>at once<th>tokens/s<th>TTFT<th>TPOT</tr>{rows}</table>"
    if same := result.sameness:
        yield f"<h2>Same text</h2><p>{same.identical} of {same.pairs} answers are the same.</p>"
        for found in same.differences[:10]:
            yield (
                f"<p>{_text(found.prompt)}, turn {found.turn + 1}, word {found.at_word}:</p>"
                f"<pre>…{_text(found.before)}\nA {_text(found.first)}\nB {_text(found.second)}</pre>"
            )


def plot(title: str, sides: Sequence[Side], figure: Callable[[LevelFigures], float | None]) -> str:
    """One figure over the levels, a line for each unit; nothing where nothing is known."""
    known = {
        side.label: [(level.concurrency, value) for level in side.levels if (value := figure(level)) is not None]
        for side in sides
    }
    values = [value for points in known.values() for _, value in points]
    if not values:
        return ""
    levels = sorted({level for points in known.values() for level, _ in points})
    top = max(values) * 1.1 or 1.0
    drawn = "".join(
        _line(label, points, levels, top, colour)
        for (label, points), colour in zip(known.items(), COLOURS, strict=False)
    )
    ticks = "".join(
        f'<text x="{_x(level, levels):.0f}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{level}</text>'
        for level in levels
    )
    axis = (
        f'<path d="M{MARGIN} {MARGIN / 2:.0f}V{HEIGHT - MARGIN}H{WIDTH - 10}" fill="none" stroke="currentColor"/>'
        f'<text x="{MARGIN - 6}" y="{MARGIN / 2 + 10:.0f}" text-anchor="end">{top:.4g}</text>'
        f'<text x="{MARGIN - 6}" y="{HEIGHT - MARGIN}" text-anchor="end">0</text>'
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">requests at once</text>'
    )
    return (
        f'<h3>{escape(title)}</h3><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" font-size="12" '
        f'fill="currentColor" role="img">{axis}{ticks}{drawn}</svg>'
    )


def _line(label: str, points: Sequence[tuple[int, float]], levels: Sequence[int], top: float, colour: str) -> str:
    places = [(_x(level, levels), HEIGHT - MARGIN - value / top * (HEIGHT - 1.5 * MARGIN)) for level, value in points]
    if not places:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    x, y = places[-1]
    name = f'<text x="{x - 4:.0f}" y="{y - 8:.0f}" text-anchor="end" fill="{colour}">{label}</text>'
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}{name}'


def _x(level: int, levels: Sequence[int]) -> float:
    return MARGIN + 20 + levels.index(level) * (WIDTH - MARGIN - 40) / max(1, len(levels) - 1)


def _ratio(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _text(value: object) -> str:
    return escape("\n".join(map(printable, str(value if value is not None else "").split("\n"))))
