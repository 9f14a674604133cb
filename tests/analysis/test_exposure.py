"""Exposure of what is open: nothing of one kind is added to another."""

from __future__ import annotations

import datetime as dt

import tradingdata as td
from analysis_samples import book, trade


def test_kinds_underlyings_and_expiries_are_not_added_up() -> None:
    """A bought put is bought, and neither its premium nor a notional value is added to shares."""
    expiry = dt.date(2026, 11, 26)
    rows = [
        trade(1, "B", 10, 100.0),
        trade(2, "B", 5, 200.0)._replace(security_id="20", expiry_date=expiry),
        trade(3, "B", 5, 8.0)._replace(
            security_id="21", expiry_date=expiry, strike_price=90.0, opt_type="PE"
        ),
        trade(4, "S", 5, 4.0)._replace(
            security_id="22", expiry_date=expiry, strike_price=80.0, opt_type="PE"
        ),
        trade(5, "B", 5, 201.0)._replace(security_id="23", expiry_date=dt.date(2026, 12, 31)),
    ]
    prices = {"10": 100.0, "20": 200.0, "21": 9.0, "22": 3.0, "23": 200.0}
    for lots in (td.realised_pnl(book(*rows)), td.positions(book(*rows))):
        value = td.unrealised_pnl(lots, prices)
        assert {
            (row.kind, row.expiry_date): (row.bought, row.sold, row.net) for row in value.exposure
        } == {
            ("shares", None): (1000.0, 0.0, 1000.0),
            ("future", expiry): (1000.0, 0.0, 1000.0),
            ("option", expiry): (45.0, -15.0, 30.0),
            ("future", dt.date(2026, 12, 31)): (1000.0, 0.0, 1000.0),
        }
