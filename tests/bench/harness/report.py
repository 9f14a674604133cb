"""Tables of what was measured, for a terminal and for Markdown."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from .goals import Row, time
from .rounds import Contest, Result

QUIET_LOAD = 0.3
VERSIONS = (
    "tradingdata msgspec orjson pydantic pysimdjson pandas polars pyarrow duckdb "
    "requests httpx urllib3 aiohttp pycurl"
).split()


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table that reads well in a terminal too; all but the first column to the right."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join([first, *others]) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(headings), line(rule), *map(line, rows)]


def of_contest(contest: Contest, results: dict[str, Result]) -> list[str]:
    """Every entry's times, as a multiple of the first entry's too."""
    first = next((one for one in results.values() if not one.missing), None)
    rows = []
    for label, one in results.items():
        if one.missing or first is None:
            rows.append([label, "-", "-", "-", "-", "-"])
            continue
        rows.append(
            [
                label + (" (untyped)" if one.untyped else ""),
                time(one.median("cpu")),
                f"{one.median('cpu') / first.median('cpu'):.2f}",
                f"{time(min(one.cpu))} - {time(max(one.cpu))}",
                time(one.median("wall")),
                time(one.median("shared_cpu")) if one.shared_cpu else "-",
            ]
        )
    headings = [contest.title, "CPU", "ratio", "least - greatest", "wall", "CPU, shared process"]
    absent = [f"{label}: left out ({one.missing})" for label, one in results.items() if one.missing]
    return [*table(headings, rows), *(["", *absent] if absent else [])]


def of_goals(rows: Sequence[Row]) -> list[str]:
    headings = ["Goal", "ours", "best peer", "ratio", "spread", "gate", "aim", "reached", "beside"]
    return table(
        headings,
        [
            [
                row.what,
                row.ours,
                row.peer,
                f"{row.ratio:.2f}",
                f"{row.low:.2f} - {row.high:.2f}",
                f"{row.gate:g}",
                f"{row.aim:g}",
                row.shown,
                row.beside,
            ]
            for row in rows
        ],
    )


def head_of_page(arguments: Sequence[str]) -> list[str]:
    """What stands above the tables where they are kept as a page of the documentation."""
    return [
        "# Figures, as measured",
        "",
        f"Written by `python tests/bench {' '.join(arguments)}`, and not by hand. What the columns "
        "mean, and where the time goes, is in [how fast it is](performance.md).",
        "",
    ]


def of_machine() -> list[str]:
    """What the figures were taken on, and a warning where it was not idle."""
    load = os.getloadavg()[0]
    lines = [
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.2f}.",
        ", ".join(f"{name} {_version(name)}" for name in VERSIONS) + ".",
    ]
    if load > QUIET_LOAD:
        lines.append(f"The machine was busy (load {load:.2f}): ratios may be off by a third.")
    return lines


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
