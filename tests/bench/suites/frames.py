"""Body to a typed frame of pandas and of polars."""

from __future__ import annotations

from dataclasses import replace

from ..cases.pandas_cases import LABELS as PANDAS
from ..cases.polars_cases import LABELS as POLARS
from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest
from ..harness.suite import Show, Suite, entries, play_all

BY_HAND = PANDAS["orjson"]
PANDAS_PEERS = tuple(label for name, label in PANDAS.items() if "tradingdata" not in name)
POLARS_PEERS = tuple(
    # "As sent" is the body in its envelope.
    label
    for name, label in POLARS.items()
    if name not in ("tradingdata", "read_json-array")
)


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    return play_all(SUITE, rounds, show, only)


def _trades() -> Source:
    return Source("Trade", str(book("Trade", 10_000)))


def _pandas() -> Contest:
    taking_part = (
        replace(entry, alone=entry.case == "tradingdata-without-pyarrow")
        for entry in entries("pandas_cases", _trades(), PANDAS)
    )
    return Contest("10,000 trades, body to a typed pandas frame", tuple(taking_part))


def _polars() -> Contest:
    taking_part = entries("polars_cases", _trades(), POLARS)
    return Contest("10,000 trades, body to a typed polars frame", taking_part)


SUITE = Suite(
    contests={"pandas": _pandas, "polars": _polars},
    goals=(
        Goal("pandas frame, times faster than by hand", "pandas", (BY_HAND,), 12, 20),
        Goal("pandas frame, times faster", "pandas", PANDAS_PEERS, 8, 12),
        Goal("polars frame, times faster", "polars", POLARS_PEERS, 8, 12),
    ),
)
