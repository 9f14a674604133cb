"""Profit and loss by day, from the days that are reported to prices that are missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, on_day, trade, unwarned
from tradingdata.analysis.keys import KEY, REQUIRED
from tradingdata.analysis.results import Problem

ACCOUNT = KEY[0]
MONDAY, TUESDAY, WEDNESDAY = (DAY + dt.timedelta(days=number) for number in range(3))
LOT: dict[str, Any] = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}


def held(second: int = 0) -> td.TradeBook:
    later = on_day([trade(2, "S", 4, 480.0)], 2)
    return book(trade(1, "B", 10, 1000.0, second), *later)


def rows_of(found: Any) -> list[tuple[Any, ...]]:
    return [(row.day.day, row.realised, row.change, row.net) for row in found]


def test_days_of_a_frame_without_trades_are_reported() -> None:
    prices = {MONDAY: {"10": 101.0}, TUESDAY: {"10": 105.0}, WEDNESDAY: {"10": 121.0}}
    found = td.daily_pnl(held(), prices=prices)
    assert rows_of(found) == [(20, 0.0, 10.0, 10.0), (21, 0.0, 40.0, 40.0), (22, 80.0, 76.0, 156.0)]
    assert (found.net, found.realised, found.pnl.realised) == (206.0, 80.0, 80.0)
    assert found.filter(day=TUESDAY).net == 40.0
    assert "2026-11-20 to 2026-11-22 (3 days): net 206.00" in repr(found)
    assert len(td.daily_pnl(held(), prices=lambda day, row: 100.0)) == 2  # of days with trades
    assert len(td.daily_pnl(book(), prices={})) == 0


def test_a_missing_price_is_carried_and_named() -> None:
    prices = {MONDAY: {"10": 101.0}, TUESDAY: {"10": None}, WEDNESDAY: {}}
    with pytest.warns(td.DataWarning, match=rf"{Problem.STALE}: 2 \(10 \(INFY\): 2 days\)"):
        found = td.daily_pnl(held(), prices=prices)
    assert rows_of(found)[1:] == [(21, 0.0, 0.0, 0.0), (22, 80.0, -4.0, 76.0)]
    with pytest.warns(td.DataWarning, match=f"{Problem.UNPRICED}: 1"):
        found = td.daily_pnl(held(), prices={TUESDAY: {"10": 105.0}, WEDNESDAY: {"10": 105.0}})
    assert rows_of(found) == [(20, 0.0, None, None), (21, 0.0, 50.0, 50.0), (22, 80.0, -20.0, 60.0)]
    assert found.net == 110.0  # what the first day earned is in the next
    assert unwarned(lambda: td.daily_pnl(held(), prices={})).net is None


def test_a_key_that_matched_nothing_is_named() -> None:
    prices = {day: {"INFY": 101.0} for day in (MONDAY, WEDNESDAY)}
    with pytest.warns(td.DataWarning, match="prices has 'INFY', which names no contract here"):
        td.daily_pnl(held(), prices=prices)


def test_opening_lots_are_measured_from_the_day_before() -> None:
    lots = [{**LOT, "quantity": 4, "value": 400.0}]
    sold = book(*on_day([trade(2, "S", 4, 480.0)], 2))
    found = td.daily_pnl(sold, opening=lots, prices={MONDAY: {"10": 110.0}, WEDNESDAY: {"10": 1.0}})
    assert rows_of(found) == [(22, 80.0, -40.0, 40.0)]
    asked = []

    def price(day: dt.date, row: Any) -> float | None:
        asked.append(day)
        return 110.0 if day == MONDAY else None

    assert td.daily_pnl(sold, opening=lots, prices=price).net == 40.0
    assert asked == [TUESDAY, MONDAY]
    with pytest.warns(td.DataWarning, match=Problem.FROM_COST):
        assert td.daily_pnl(sold, opening=lots, prices={}).net == 80.0


def test_accounts_are_rows_of_their_own_and_filter_what_belongs() -> None:
    first = trade(1, "B", 10, 1000.0)._replace(**{ACCOUNT: "desk1"})
    second = trade(2, "S", 5, 600.0, 1)._replace(**{ACCOUNT: "desk2"})
    found = unwarned(lambda: td.daily_pnl(book(first, second), prices={}))
    assert [row.account for row in found] == ["desk1", "desk2"]
    part = found.filter(account="desk2")
    assert [issue.account for issue in part.issues] == ["desk2"]
    assert [row.account for row in part.pnl] == ["desk2"]


def test_days_with_a_zone_and_shorts_and_isins() -> None:
    aware = held(5).localize("Asia/Kolkata")
    prices: Callable[..., float] = lambda day, row: 100.0  # noqa: E731
    assert td.daily_pnl(aware, prices=prices).net == 80.0
    assert td.daily_pnl(aware, prices=prices, match_by="isin", shorts=False).net == 80.0
    assert at(0).date() == td.daily_pnl(aware, prices=prices)[0].day
