"""Positions, P&L, reconciliation and the like beside polars, of a book that is decoded."""

from __future__ import annotations

from functools import partial

from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest, Entry
from ..harness.suite import Show, Suite, play_all

TRADES = 100_000
CONTESTS = {  # name: title, peer, gate, aim
    "positions": ("positions", "polars", 5.0, 3.0),
    "realised": ("realised P&L", "python", 0.6, 0.3),
    "reconcile": ("reconciliation with 20,000 orders", "polars", 6.0, 4.0),
    "quality": ("execution quality of 20,000 orders", "polars", 6.0, 4.0),
    "sort": ("sort by two fields", "polars", 2.0, 1.0),
    "equal": ("compare with an equal book", "polars", 2.0, 1.0),
}


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    goals = tuple(
        Goal(f"{title} of {TRADES:,} trades, times slower than {peer}", name, (peer,), gate, aim,
             faster=False)
        for name, (title, peer, gate, aim) in CONTESTS.items()
    )  # fmt: skip
    contests = {name: partial(_contest, name) for name in CONTESTS}
    return play_all(Suite(contests, goals), rounds, show, only)


def _contest(name: str) -> Contest:
    title, peer, *_ = CONTESTS[name]
    source = Source("Trade", path=str(book("Trade", TRADES)))
    ours = Entry("tradingdata", "compute_cases", name, source)
    other = Entry(peer, "compute_cases", f"{name}:{peer}", source)
    return Contest(f"{title}, {TRADES:,} trades", (ours, other), False)
