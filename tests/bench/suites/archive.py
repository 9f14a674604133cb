"""The archive beside polars and DuckDB over plain Parquet files of the same rows."""

from __future__ import annotations

from functools import partial

from ..cases.archive_cases import LONGER, MONTH, POLLS, sizes
from ..harness import report
from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest, Entry
from ..harness.suite import Show, Suite, play_all

TRADES = 10_000
CONTESTS = {  # name: title, peer, gate
    "store": (f"store a day of {TRADES:,} trades", "polars", 4),
    "polls": (f"store a day of {TRADES:,} trades as it grows, {POLLS} times", "polars", 5),
    "month": (f"read {MONTH} days of {TRADES:,} trades", "polars", 5),
    "sql": (f"group {LONGER} days of {TRADES:,} trades by SQL", "duckdb", 5),
}


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    source = Source("Trade", path=str(book("Trade", TRADES)))
    contests = {name: partial(_contest, name, source) for name in CONTESTS}
    goals = tuple(
        Goal(f"{title}, times slower than plain Parquet", name, (label,), gate, 2, faster=False)
        for name, (title, label, gate) in CONTESTS.items()
    )
    rows = play_all(Suite(contests, goals), rounds, show, only)
    if only in (None, "size"):
        rows.append(_size(source, show))
    return rows


def _contest(name: str, source: Source) -> Contest:
    title, label, _ = CONTESTS[name]
    ours = Entry("tradingdata", "archive_cases", name, source)
    return Contest(title, (ours, Entry(label, "archive_cases", f"{name}:{label}", source)), False)


def _size(source: Source, show: Show) -> Row:
    ours, plain = sizes(source)
    title = f"{MONTH} days of {TRADES:,} trades"
    each = [["tradingdata", f"{ours / 1e6:.1f} MB"], ["polars", f"{plain / 1e6:.1f} MB"]]
    show(*report.table([title, "files"], each))
    ratio = ours / plain
    figures = (f"{ours / 1e6:.1f} MB", f"polars {plain / 1e6:.1f} MB", ratio, ratio, ratio)
    return Row(f"{title}: times the size of plain Parquet", *figures, 2, 1.5, faster=False)
