"""The desk's day against figures computed by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, trade

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

TWO_DAYS = book(
    trade(1, "B", 10, 1000.0),
    trade(2, "S", 4, 480.0, exch_trade_time=at(0, 1)),
    trade(3, "B", 2, 250.0, exch_trade_time=at(9, 1), product="I", segment="D"),
)


def closing(price: float) -> Callable[[Any], float]:
    """The same price for every security: the trades share a number in two segments."""
    return lambda _: price


def test_the_day_is_the_latest_and_its_sums_are_by_hand() -> None:
    day = td.day_pnl(TWO_DAYS, prices=closing(130.0), charges=[td.ChargeRate(stt_sell=0.1)])
    assert day.day == DAY + dt.timedelta(days=1)
    delivery, intraday = sorted(day, key=lambda row: row.product)
    assert (delivery.sell_quantity, delivery.sell_average, delivery.buy_average) == (4, 120.0, None)
    assert (delivery.open_quantity, delivery.open_average, delivery.price) == (6, 100.0, 130.0)
    assert (delivery.realised, delivery.unrealised, delivery.charges) == (80.0, 180.0, 48.0)
    assert (delivery.net, intraday.net) == (212.0, 10.0)
    assert (day.realised, day.unrealised, day.charges, day.net) == (80.0, 190.0, 48.0, 222.0)
    assert repr(day).startswith("DayPnl: 2026-11-21: net 222.00, realised 80.00, unrealised 190.00")


def test_shorts_may_name_a_product_of_the_day_alone() -> None:
    later = book(*TWO_DAYS, trade(4, "S", 1, 100.0, exch_trade_time=at(9, 1), product="V"))
    day = td.day_pnl(later, prices=closing(1.0), shorts={"V"})
    assert len(day.pnl.unmatched) == 0


def test_a_settled_option_is_an_option() -> None:
    option: dict[str, Any] = {"expiry_date": DAY, "strike_price": 100.0}
    bought = book(trade(1, "B", 10, 1000.0, **option))
    lots = td.realised_pnl(bought).open_lots
    (row,) = td.day_pnl(book(), day=DAY, opening=lots, settle={"10": 0})
    assert (row.kind, row.realised) == ("option", -1000.0)


def test_a_day_without_trades_values_the_opening() -> None:
    opening = td.day_pnl(TWO_DAYS, day=DAY).pnl.open_lots
    day = td.day_pnl(book(), opening=opening, prices=closing(101.0))
    assert (day.day, day.net) == (None, 10.0)
    assert len(td.day_pnl(book())) == 0
