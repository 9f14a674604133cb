"""By how much memory grows at its peak while a body becomes a book or a frame, in bodies."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..cases import pandas_cases, polars_cases
from ..cases.decoders import LABELS
from ..harness import report
from ..harness.bodies import PYTHONPATH, book
from ..harness.case import Source
from ..harness.goals import Row
from ..harness.rounds import Entry
from ..harness.suite import Show, entries

PROCESSES = 5  # the spread is small: a case gives the same within a few pages
SMALL = 100


@dataclass(frozen=True)
class Part:
    title: str
    entries: Callable[[], tuple[Entry, ...]]
    bounds: tuple[float, float] | None = None  # gate and aim, in bodies


def _trades(count: int) -> Source:
    return Source("Trade", str(book("Trade", count)))


BOTH = ("tradingdata", "msgspec")
PARTS = {
    "memory-book": Part(
        "a book of 10,000 trades",
        lambda: entries("record_cases", _trades(10_000), LABELS, prefix="decode:"),
        (2, 1.6),
    ),
    "memory-book-200k": Part(
        "a book of 200,000 trades",
        lambda: entries("record_cases", _trades(200_000), LABELS, BOTH, "decode:"),
        (2, 1.6),
    ),
    "memory-pandas": Part(
        "a pandas frame of 10,000 trades",
        lambda: entries("pandas_cases", _trades(10_000), pandas_cases.LABELS),
        (3.5, 2.5),
    ),
    "memory-polars": Part(
        "a polars frame of 10,000 trades",
        lambda: entries("polars_cases", _trades(10_000), polars_cases.LABELS),
    ),
}


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    rows = []
    for name, part in PARTS.items():
        if only in (None, name):
            growths = _measure(part.entries(), min(rounds, PROCESSES))
            headings = [f"Peak growth in bodies: {part.title}", "median", "least - greatest"]
            show(*report.table(headings, [_line(*one) for one in growths.items()]))
            if part.bounds:
                rows.append(_judge(part.title, growths, *part.bounds))
    return rows


def _measure(taking_part: tuple[Entry, ...], processes: int) -> dict[str, list[float]]:
    """Growths in bodies by label, each of a new process; none where a case cannot run."""
    growths: dict[str, list[float]] = {entry.label: [] for entry in taking_part}
    for _ in range(processes):
        for entry in taking_part:
            growths[entry.label] += _growth(entry)
    return growths


def _growth(entry: Entry) -> list[float]:
    reported = {
        "module": entry.module,
        "case": entry.case,
        "source": asdict(entry.source),
        "small": asdict(_trades(SMALL)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "bench.harness.peak", json.dumps(reported)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    )
    if done.returncode != 0:
        print(f"{entry.label}: left out\n{done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return []
    return [int(done.stdout) / Path(entry.source.path).stat().st_size]


def _line(label: str, growths: list[float]) -> list[str]:
    if not growths:
        return [label, "-", "-"]
    spread = f"{min(growths):.2f} - {max(growths):.2f}"
    return [label, f"{statistics.median(growths):.2f}", spread]


def _judge(title: str, growths: dict[str, list[float]], gate: float, aim: float) -> Row:
    medians = {label: statistics.median(each) for label, each in growths.items() if each}
    ours = medians.pop("tradingdata", math.nan)
    peers = {label: one for label, one in medians.items() if not label.startswith("tradingdata")}
    best = min(peers, key=lambda label: peers[label]) if peers else ""
    peer = f"{best} {peers[best]:.2f}" if best else ""
    each = growths["tradingdata"] or [math.nan]
    what = f"peak growth in bodies: {title}"
    return Row(what, f"{ours:.2f}", peer, ours, min(each), max(each), gate, aim, faster=False)
