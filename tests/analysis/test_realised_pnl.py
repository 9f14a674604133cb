"""Realised profit and loss: each trade closes the oldest lots of the other side."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import tradingdata as td
from analysis_samples import TIME, TRADE, at, book, trade
from tradingdata.analysis.keys import REQUIRED
from tradingdata.analysis.results import ATTRIBUTES

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning"),
]

NOON = dt.datetime(2026, 11, 19, 12, tzinfo=ZoneInfo("Asia/Kolkata"))
LOT: dict[str, Any] = {name: TRADE[name] for name in REQUIRED} | {"quantity": 10, "value": 900.0}


@pytest.mark.parametrize("time", [NOON, NOON.replace(tzinfo=None), NOON.astimezone(dt.UTC)])
def test_times_of_lots_are_on_the_clock_of_localized_trades(time: dt.datetime) -> None:
    pytest.importorskip("polars")
    trades = book(trade(1, "S", 4, 400.0, 0)).localize("Asia/Kolkata")
    (match,) = td.realised_pnl(trades, [{**LOT, "time": time}]).matches
    assert match.buy_time == NOON
    left = td.realised_pnl(trades, [{**LOT, "time": time}]).open_lots
    assert left.to_pandas()["time"][0] == NOON
    assert left.to_polars()["time"][0] == NOON


def test_what_pandas_does_not_have_is_nothing_in_a_lot() -> None:
    pandas = pytest.importorskip("pandas")
    lot = {**LOT, "trade_no": pandas.NA, "time": pandas.NaT, "symbol": float("nan")}
    assert td.realised_pnl(book(), [lot]) == td.realised_pnl(book(), [LOT])
    with pytest.raises(ValueError, match="lot 0 has no quantity"):
        td.realised_pnl(book(), [{**LOT, "quantity": pandas.NA}])


def test_times_keep_their_zone() -> None:
    local = book(trade(1, "B", 1, 1.0), trade(2, "S", 1, 2.0, 1)).localize("Asia/Kolkata")
    result = td.realised_pnl(local)
    assert str(result.matches[0].sell_time) == "2026-11-20 09:15:01+05:30"
    assert str(result.matches.to_pandas()["sell_time"].dtype) == "datetime64[us, Asia/Kolkata]"
    assert str(result.matches.to_polars()["sell_time"][0]) == "2026-11-20 09:15:01+05:30"


def test_a_match_has_the_isin_and_the_days_that_it_was_held() -> None:
    isin = ATTRIBUTES[-1]
    later: list[dict[str, Any]] = [{TIME: at(second, 400)} for second in range(4)]
    old: dict[str, Any] = {isin: "INE009A01021"}
    new: dict[str, Any] = {isin: "INE009A01099"}
    lots = [{**LOT, "quantity": 5, **old}]
    trades = book(
        trade(1, "B", 10, 1000.0, **old),
        trade(2, "S", 8, 960.0, **later[0]),
        trade(3, "S", 7, 840.0, **later[1], **new),
        trade(4, "S", 1, 120.0, **later[2]),
        trade(5, "B", 1, 110.0, **later[3]),
    )
    found = td.realised_pnl(trades, opening=lots).matches
    assert [(match.quantity, match.held, match.isin) for match in found] == [
        (5, None, "INE009A01021"),
        (3, 400, "INE009A01021"),
        (7, 400, "INE009A01099"),  # as the sale has it
        (1, 0, None),
    ]
