"""Unrealised profit and loss at prices of the caller."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

import tradingdata as td
from analysis_samples import TRADE, book, on_day, trade
from tradingdata.analysis.keys import CONTRACT, REQUIRED
from tradingdata.analysis.results import Problem

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

EXPIRY = CONTRACT[-1]
LOT: dict[str, Any] = {name: TRADE[name] for name in REQUIRED} | {"quantity": 10, "value": 900.0}


def test_a_sum_that_no_float_holds_is_an_error_and_not_infinite() -> None:
    lots = [LOT | {"security_id": each, "quantity": 1} for each in ("10", "11")]
    result = td.unrealised_pnl(lots, {"10": 1.5e308, "11": 1.5e308})
    assert [row.market_value for row in result] == [1.5e308, 1.5e308]
    with pytest.raises(OverflowError, match="larger than a float"):
        _ = result.unrealised


def test_a_function_is_called_once_for_each_security() -> None:
    calls = []

    def price(row: td.analysis.Keyed) -> float:
        calls.append(row.security_id)
        return 100.0

    two_products = [LOT, {**LOT, "product": "I"}]
    assert len(td.unrealised_pnl(two_products, price)) == 2
    assert calls == ["10"]


def test_positions_are_no_lots() -> None:
    """L11: 500 realised and 500 unrealised by average, of a profit of 500."""
    rows = book(
        trade(1, "B", 10, 1000.0), trade(2, "B", 10, 2000.0, 1), trade(3, "S", 10, 1500.0, 2)
    )
    with pytest.raises(TypeError, match="lots takes lots, not Positions, whose averages are not"):
        td.unrealised_pnl(td.positions(rows), {"10": 200.0})  # type: ignore[arg-type]
    ledger = td.Ledger(rows)
    assert (ledger.realised().realised, ledger.unrealised({"10": 200.0}).unrealised) == (500.0, 0.0)


def test_lots_of_both_sides_in_one_security_are_netted() -> None:
    lots = [LOT, {**LOT, "side": "short", "quantity": 10, "value": 1000.0}]
    (row,) = td.unrealised_pnl(lots, {})
    assert (row.quantity, row.value, row.average, row.price) == (0, -100.0, None, None)
    assert (row.market_value, row.unrealised) == (0.0, 100.0)


def test_series_and_frames_that_are_ambiguous_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="prices has '10' twice"):
        td.unrealised_pnl([LOT], pandas.Series([1.0, 2.0], index=["10", "10"]))
    with pytest.raises(TypeError, match="must have the columns security_id and price"):
        td.unrealised_pnl([LOT], pandas.DataFrame({"10": [1.0]}))
    with pytest.warns(td.DataWarning):
        assert td.unrealised_pnl([LOT], pandas.Series({"10": pandas.NA})).unpriced


def test_one_security_id_on_two_exchanges_needs_the_exchange() -> None:
    lots = [LOT, {**LOT, "exchange": "BSE"}]
    with pytest.raises(ValueError, match="two contracts, NSE E 10 and BSE E 10: give it by"):
        td.unrealised_pnl(lots, {"10": 1.0})
    prices = {("NSE", "E", "10"): 95.0, ("BSE", "E", "10"): 96.0}
    assert [row.price for row in td.unrealised_pnl(lots, prices)] == [96.0, 95.0]


def test_a_key_of_another_expiry_is_named() -> None:
    """Prices, settlements and multipliers with the id of a contract, but another expiry."""
    expiry: dict[str, Any] = {EXPIRY: dt.date(2026, 11, 24)}
    wrong = {("10", dt.date(2026, 12, 24)): 1}
    rows = book(trade(1, "B", 10, 1000.0, **expiry))
    later = book(*rows, *on_day([trade(2, "B", 1, 1.0, security_id="11")], 9))
    for result in (
        td.day_pnl(rows, prices=wrong),
        td.unrealised_pnl(td.realised_pnl(rows), wrong),
        td.realised_pnl(later, settle=wrong),
        td.positions(rows, multipliers=wrong),
    ):
        assert Problem.UNUSED in {issue.problem for issue in result.issues}
    assert len(td.day_pnl(rows, prices={("10", expiry[EXPIRY]): 1.0}).issues) == 0


def test_a_missing_expiry_in_an_index_is_none() -> None:
    """NaT is an instance of datetime, and has a date that is NaT again."""
    index = pd.MultiIndex.from_tuples([("10", pd.NaT)])
    rows = book(trade(1, "B", 10, 1000.0))
    assert td.day_pnl(rows, prices=pd.Series([101.0], index=index)).unrealised == 10.0
    day, time = dt.date(2026, 11, 24), dt.datetime(2026, 11, 24)
    with pytest.raises(ValueError, match=r"prices has .* twice"):
        td.day_pnl(rows, prices={("10", day): 1.0, ("10", time): 2.0})
