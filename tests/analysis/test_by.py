"""Lots that are matched within a strategy, a tag or a book of one's own."""

from __future__ import annotations

from typing import Any

import tradingdata as td
from analysis_samples import book, trade

ROWS = book(
    trade(1, "B", 10, 1000.0, 0, algo_id="slow"),
    trade(2, "B", 10, 1200.0, 1, algo_id="fast"),
    trade(3, "S", 10, 1300.0, 2, algo_id="fast"),
    trade(4, "S", 5, 500.0, 3),
)


def by_of(result: Any, name: str) -> dict[str | None, Any]:
    return {row.by: row[name] for row in result}


def test_charges_are_of_the_tag_of_their_trades() -> None:
    ledger = td.Ledger(ROWS, by="algo_id")
    day = ledger.day(prices={"10": 110.0}, charges=td.ChargeRate(per_order=1))
    assert by_of(day, "net") == {"slow": 99.0, "fast": 98.0, None: -51.0}
    daily = ledger.daily({"10": 110.0}, charges=td.ChargeRate(per_order=1), per=("by",))
    assert by_of(daily, "net") == by_of(day, "net")
    assert (daily.columns[-1], day.columns[-1], ledger.matches.columns[-1]) == ("by",) * 3
