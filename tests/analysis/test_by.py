"""Lots that are matched within a strategy, a tag or a book of one's own."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from analysis_samples import book, trade

ROWS = book(
    trade(1, "B", 10, 1000.0, 0, algo_id="slow", order_no="a"),
    trade(2, "B", 10, 1200.0, 1, algo_id="fast", order_no="b"),
    trade(3, "S", 10, 1300.0, 2, algo_id="fast", order_no="c"),
    trade(4, "S", 5, 500.0, 3, order_no="d"),
)
TAGS = {"a": "slow", "b": "fast", "c": "fast"}


def by_of(result: Any, name: str) -> dict[str | None, Any]:
    return {row.by: row[name] for row in result}


@pytest.mark.parametrize("by", ["algo_id", TAGS, lambda row: TAGS.get(row.order_no)])
def test_lots_are_matched_within_what_by_says(by: Any) -> None:
    ledger = td.Ledger(ROWS, by=by)
    found = ledger.realised()
    assert by_of(found, "realised") == {"slow": 0.0, "fast": 100.0, None: 0.0}
    assert by_of(found, "open_quantity") == {"slow": 10, "fast": 0, None: -5}
    assert td.realised_pnl(ROWS).realised == 200.0  # the oldest lot, whosever it was
    assert [match.by for match in found.matches] == ["fast"]
    assert [(lot.by, lot.side) for lot in found.open_lots] == [("slow", "long"), (None, "short")]
    assert found.columns[-1] == found.matches.columns[-1] == found.open_lots.columns[-1] == "by"
    part = found.filter(by="slow")
    assert (len(part.matches), [lot.quantity for lot in part.open_lots]) == (0, [10])
    day = ledger.day(prices={"10": 110.0}, charges=td.ChargeRate(per_order=1))
    assert by_of(day, "net") == {"slow": 99.0, "fast": 98.0, None: -51.0}
    assert by_of(day, "buy_quantity") == {"slow": 10, "fast": 10, None: 0}
    daily = ledger.daily({"10": 110.0}, charges=td.ChargeRate(per_order=1), per=("by",))
    assert by_of(daily, "net") == by_of(day, "net")
    assert daily.net == day.net == 146.0
    assert "slow" in repr(found)
    assert "slow" in repr(daily)
