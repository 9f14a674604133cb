"""Derivatives look like derivatives: which instrument a trade or an order is of."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

import tradingdata as td
from tradingdata.display import instrument_name

EXPIRY = dt.date(2026, 11, 26)


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (td.Trade(symbol="INFY"), "INFY"),
        (td.Trade(symbol="INFY", display_name="Infosys"), "Infosys"),
        (td.Trade(symbol="INFY", display_name=" ", expiry_date=EXPIRY), "INFY 2026-11-26"),
        (
            td.Order(symbol="NIFTY", expiry_date=EXPIRY, strike_price=25000.0, opt_type="CE"),
            "NIFTY 2026-11-26 25000 CE",
        ),
        (
            td.Order(symbol="IDEA", expiry_date=EXPIRY, strike_price=9.5, opt_type="PE"),
            "IDEA 2026-11-26 9.50 PE",
        ),
        (td.Trade(), None),
    ],
    ids=str,
)
def test_a_derivative_is_named_with_its_expiry_and_strike(record: Any, name: str | None) -> None:
    assert instrument_name(record) == name
    kind = td.TradeBook if isinstance(record, td.Trade) else td.OrderBook
    book: Any = kind([record])
    if name is not None:
        assert re.search(rf"^  {re.escape(name)}(  |$)", repr(book), re.MULTILINE)
        assert f"<td>{name}</td>" in book._repr_html_()


def test_a_long_name_is_cut_before_its_strike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "64")
    book = td.TradeBook(
        [td.Trade(symbol="MIDCPNIFTY", expiry_date=EXPIRY, strike_price=12500.0, opt_type="CE")]
    )
    assert "  MIDCPN…Y 2026-11-26 12500 CE\n" in repr(book)
