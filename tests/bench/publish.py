"""Writes the figures of a run into the tables of README.md and of the performance page.

A row of a table there is known by its first cell. Rows whose contest was not played stay as they
are, and a page needs no marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from .contest import TESTS, Result
from .report import time
from .suites import compute, http, session
from .suites.frames import PANDAS, POLARS

ROOT = TESTS.parent
README, PERFORMANCE = ROOT / "README.md", ROOT / "docs/explanation/performance.md"

Results: TypeAlias = Mapping[str, Result]  # of a contest, by label
Cells: TypeAlias = Callable[[Results], list[str]]  # the cells behind the first one

NAMES = {  # of peers, as a reader would put them
    "msgspec Struct": "msgspec, a `Struct` of all fields",
    "pysimdjson": "pysimdjson, untyped",
    "pyarrow.json + to_pandas": "pyarrow.json and `to_pandas`",
    "pyarrow.json + from_arrow": "pyarrow.json and `from_arrow`",
}


def against(*peers: str) -> Cells:
    """The fastest of some peers, and how much faster ours is."""

    def cells(results: Results) -> list[str]:
        present = [results[label] for label in peers if not results[label].missing]
        best = min(present, key=lambda one: one.median("cpu"))
        label = best.entry.label
        name = NAMES.get(label, label.replace("+", " and "))
        return [name, compared(best.median("cpu") / results["tradingdata"].median("cpu"))]

    return cells


def compared(ratio: float) -> str:
    """A ratio of times in words."""
    if 0.95 <= ratio <= 1.05:
        return "as fast"
    return f"{ratio:.1f} times faster" if ratio > 1 else f"{1 / ratio:.1f} times slower"


def times(label: str, *metrics: str) -> Cells:
    return lambda results: [time(results[label].median(metric)) for metric in metrics]


Rows: TypeAlias = Mapping[str, tuple[str, Cells]]  # the contest and the cells, by first cell

PAGES: dict[Path, Rows] = {
    README: {
        "fetch 10,000 trades as gzip (0.6 MB), to a book": ("wire/gzip", against(*http.WIRE_PEERS)),
        "fetch and decode 100 trades": ("http/fetch", against("pycurl+msgspec", *http.FETCH_PEERS)),
        "10,000 trades (9 MB) in memory, to a book": (
            "decode/trades-10k",
            against("msgspec Struct"),
        ),
        "the same, without reading a value": ("decode/trades-10k", against("pysimdjson")),
        "the same to a typed pandas frame": ("frames/pandas", against(*list(PANDAS)[1:])),
        "the same to a typed polars frame": ("frames/polars", against(*list(POLARS)[1:])),
    },
    PERFORMANCE: {
        "receive the body and discard it": ("wire/plain", times(http.DISCARDED, "cpu", "wall")),
        "decode it from memory": ("wire/paced-plain", times(http.UNPACED, "cpu", "wall")),
        "`client.trade_book()` of it": ("wire/plain", times("tradingdata", "cpu", "wall")),
        "libcurl": ("http/call", times(http.BARE, "cpu", "wall")),
        "libcurl and the decoder": ("http/call", times(http.FLOOR, "cpu", "wall")),
        "`client.trade_book()`": ("http/call", times("tradingdata", "cpu", "wall")),
        "an `AsyncClient` with 64 calls at once": ("many/64", times("tradingdata", "cpu", "wall")),
        **{
            title: (f"compute/{name}", against(other))
            for name, (title, other, *_) in compute.CONTESTS.items()
        },
        session.PAIR: ("session/books", against(session.CALLS)),
        session.JSON: ("session/json", against("polars")),
    },
}


def publish(results: Mapping[str, Results]) -> None:
    """Writes the figures of the contests that were played."""
    for page, rows in PAGES.items():
        lines = [line_of(line, rows, results) for line in page.read_text("utf-8").split("\n")]
        page.write_text("\n".join(lines), "utf-8")


def line_of(line: str, rows: Rows, results: Mapping[str, Results]) -> str:
    first = line.removeprefix("| ").partition(" | ")[0]
    if not line.startswith("| ") or first not in rows:
        return line
    contest, cells = rows[first]
    try:
        return f"| {' | '.join([first, *cells(results[contest])])} |"
    except (KeyError, ValueError):  # a contest that was not played, or an entry that did not run
        return line
