"""Shares, futures and options are different things: no sum is over their market values."""

from __future__ import annotations

import datetime as dt
from typing import Any

import tradingdata as td
from analysis_samples import book, trade


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
    for lots in (td.realised_pnl(book(*rows)), td.positions(book(*rows))):
        value = td.unrealised_pnl(lots, prices)
        assert {(row.kind, row.expiry_date, row.market_value) for row in value} == {
            ("shares", None, 1000.0),
            ("future", expiry, 1000.0),
            ("option", expiry, 45.0),
            ("option", expiry, -15.0),
        }
        assert "unrealised 1,726.00" in repr(value)
        assert "2,030" not in repr(value)
