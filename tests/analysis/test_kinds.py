"""Shares and contracts: kinds of values that are not added up, and values that count lots."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import book, order, trade

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")


def test_kinds_are_known_and_market_values_have_no_sum() -> None:
    """A bought put is bought, and neither its premium nor a notional value is added to shares."""
    expiry = dt.date(2026, 11, 26)
    put: dict[str, Any] = {"expiry_date": expiry, "strike_price": 90.0, "opt_type": "PE"}
    rows = [
        trade(1, "B", 10, 100.0),
        trade(2, "B", 5, 200.0, security_id="20", expiry_date=expiry),
        trade(3, "B", 5, 8.0, security_id="21", **put),
        trade(4, "S", 5, 4.0, security_id="22", **put),
    ]
    prices = {"10": 100.0, "20": 200.0, "21": 9.0, "22": 3.0}
    ledger = td.Ledger(book(*rows))
    for value in (td.unrealised_pnl(ledger.realised(), prices), ledger.unrealised(prices)):
        assert {(row.kind, row.expiry_date, row.market_value) for row in value} == {
            ("shares", None, 1000.0),
            ("future", expiry, 1000.0),
            ("option", expiry, 45.0),
            ("option", expiry, -15.0),
        }
        assert "unrealised 1,726.00" in repr(value)
        assert "2,030" not in repr(value)


def test_a_trade_without_its_contract_makes_no_shares_of_an_option() -> None:
    put: dict[str, Any] = {"expiry_date": dt.date(2026, 11, 26), "strike_price": 90.0}
    rows = book(
        trade(1, "B", 5, 8.0, **put), trade(2, "B", 5, 9.0), trade(3, "B", 1, 1.0, security_id="20")
    )
    for kinds in (
        td.positions(rows),
        td.day_pnl(rows, day="2026-11-20", prices={"10": 9.0, "20": 1.0}),
    ):
        assert {row.security_id: row.kind for row in kinds} == {"10": "option", "20": "shares"}
    (value, _) = td.unrealised_pnl(td.realised_pnl(rows), {"10": 9.0, "20": 1.0})
    assert (value.kind, value.expiry_date) == ("option", dt.date(2026, 11, 26))


def test_values_in_lots_are_recognised() -> None:
    """The service says "shares or contracts": 2 contracts of 50 shares at 100 are 10,000."""
    orders = td.OrderBook([order(1, 2, 100.0, lot_size=50)])
    traded = trade(1, "B", 2, 10000.0, lot_size=50, traded_price=100.0)
    (row,) = td.reconcile(orders, book(traded))
    assert (row.finding, row.multiplier) == ("agrees", 50)
    assert (row.orders_average, row.trades_average) == (100.0, 100.0)
    assert (row.orders_value, row.trades_value) == (10000.0, 10000.0)
    (row,) = td.reconcile(td.OrderBook([order(1, 2, 101.0, lot_size=50)]), book(traded))
    assert (row.finding, row.multiplier) == ("price differs", 50)
    assert (row.orders_average, row.trades_average) == (101.0, 100.0)
    (row,) = td.reconcile(orders, book(trade(1, "B", 2, 200.0, lot_size=50)))
    assert (row.finding, row.multiplier, row.trades_average) == ("agrees", 1, 100.0)
    (row,) = td.reconcile(orders, book(trade(1, "B", 2, 9000.0, lot_size=50)))
    assert (row.finding, row.multiplier) == ("price differs", 1)
    (row,) = td.reconcile(orders, book(trade(1, "B", 2, 9000.0, lot_size=50)), tolerance=1e6)
    assert (row.finding, row.multiplier) == ("agrees", 1)  # both would do: 1 goes first
