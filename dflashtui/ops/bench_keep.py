"""Keeps a bench's record and its page in the state folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from dflashtui.errors import OperationError
from dflashtui.ops.bench_html import page
from dflashtui.ops.bench_report import document
from dflashtui.ops.state_files import replace

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.bench import BenchResult


def keep(result: BenchResult, folder: Path, report: Path | None = None) -> tuple[Path, Path]:
    """The paths of the JSON record and of the HTML page. Raises `OperationError` if they cannot be written."""
    units = "-vs-".join(quote(side.unit.removesuffix(".service"), safe="@") for side in result.sides)
    name = f"{result.at:%Y%m%dT%H%M%S}-{units}"[:180]
    record, shown = folder / "bench" / f"{name}.json", report or folder / "bench" / f"{name}.html"
    try:
        replace(record, json.dumps(document(result), ensure_ascii=False).encode())
        if report:
            report.write_text(page(result), encoding="utf-8")
        else:
            replace(shown, page(result).encode())
    except OSError as trouble:
        raise OperationError(
            f"{trouble.filename or folder}: the record cannot be kept: {trouble.strerror}"
        ) from trouble
    return record, shown
