"""Realised profit and loss of one day: earlier trades, expired contracts, converted products."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, trade
from tradingdata.analysis.keys import REQUIRED

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

MONDAY, TUESDAY = DAY, DAY + dt.timedelta(days=1)


def on(day: int, number: int, side: str, quantity: int, value: float, **more: Any) -> td.Trade:
    return trade(number, side, quantity, value, exch_trade_time=at(number, day), **more)


OPTION = {"expiry_date": MONDAY, "opt_type": "CE", "segment": "D"}
EXPIRING = book(on(0, 1, "B", 50, 500.0, **OPTION), on(1, 2, "B", 5, 500.0))


@pytest.mark.parametrize("hour", [9, 11])
def test_a_settlement_is_at_half_past_three_in_india(hour: int) -> None:
    """Also in a book whose times are those of another zone, and beside a change of that day."""
    aware = book(
        *(row._replace(exch_trade_time=at(0, -1 if row.segment == "D" else 1)) for row in EXPIRING)
    ).localize("UTC")
    change = td.LotChange(
        dt.datetime.combine(MONDAY, dt.time(hour)), where={"security_id": "10"}, ratio=2
    )
    found = td.realised_pnl(aware, settle={"10": 12.5}, changes=[change])
    (match,) = found.matches
    assert match.close_time == dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
    assert match.quantity == (100 if hour == 9 else 50)


def test_a_lot_without_an_expiry_settles_with_its_contract() -> None:
    option = EXPIRING.filter(segment="D")
    unknown = {name: option[0][name] for name in REQUIRED} | {"quantity": 50, "value": 100.0}
    pnl = td.realised_pnl(option, opening=[unknown], day=MONDAY, settle={"10": 1.0})
    assert [(match.cost, match.realised) for match in pnl.matches] == [
        (100.0, -50.0),
        (500.0, -450.0),
    ]
    assert (len(pnl.open_lots), len(pnl.expired)) == (0, 0)
    later = td.realised_pnl(option, opening=[unknown], day=TUESDAY)
    assert (len(later.open_lots), [lot.value for lot in later.expired]) == (0, [100.0, 500.0])


def test_products_of_the_book_and_the_service_are_known() -> None:
    made = book(on(0, 1, "S", 10, 1000.0, product="MTF"))
    assert len(td.realised_pnl(made, shorts={"MTF"}).open_lots) == 1
    assert len(td.realised_pnl(made, shorts={"I", "M", "H", "C"}).unmatched) == 1
