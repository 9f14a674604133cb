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


TWO_DAYS = book(
    on(0, 1, "B", 10, 1000.0),
    on(0, 2, "S", 4, 480.0),
    on(1, 3, "S", 6, 660.0),
    on(1, 4, "B", 5, 500.0),
)


def test_the_heading_names_the_days() -> None:
    assert repr(td.realised_pnl(TWO_DAYS, day=TUESDAY)).startswith("RealisedPnl: 2026-11-21: 1 row")
    assert "2026-11-20 to 2026-11-21 (2 days)" in repr(td.realised_pnl(TWO_DAYS))


@pytest.mark.parametrize(
    ("day", "error"), [("yesterday", ValueError), (20261120, TypeError), (True, TypeError)]
)
def test_what_is_no_day_is_refused(day: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="day must be a date"):
        td.realised_pnl(TWO_DAYS, day=day)


OPTION = {"expiry_date": MONDAY, "opt_type": "CE", "segment": "D"}
EXPIRING = book(on(0, 1, "B", 50, 500.0, **OPTION), on(1, 2, "B", 5, 500.0))


def test_a_lot_that_expired_before_the_day_is_not_open() -> None:
    pnl = td.realised_pnl(EXPIRING)
    assert [lot.trade_no for lot in pnl.expired] == ["1"]
    assert [lot.trade_no for lot in pnl.open_lots] == ["2"]
    assert {row.segment: row.open_quantity for row in pnl} == {"D": 0, "E": 5}
    assert "expired, not settled: 1" in " ".join(repr(pnl).split())
    assert len(pnl.filter(segment="E").expired) == 0
    # On the expiry date itself the contract still trades.
    assert len(td.realised_pnl(EXPIRING, day=MONDAY).expired) == 0


def test_a_settlement_closes_at_the_expiry_and_counts_on_it() -> None:
    worthless = td.realised_pnl(EXPIRING, day=MONDAY, settle={"10": 0})
    assert worthless.realised == -500.0
    (match,) = worthless.matches
    assert (match.side, match.sell_trade_no) == ("long", None)
    assert match.close_time == match.sell_time == dt.datetime(2026, 11, 20, 15, 30)
    both = td.realised_pnl(EXPIRING, settle={"10": 12.5})
    assert (both.realised, len(both.expired), len(both.open_lots)) == (125.0, 0, 1)
    later = td.realised_pnl(EXPIRING, day=TUESDAY, settle={"10": 12.5})
    assert (later.realised, len(later.expired)) == (0.0, 0)


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


def test_a_settlement_is_after_all_trades_of_its_day() -> None:
    late = book(
        on(0, 1, "B", 10, 1000.0, **OPTION),
        on(0, 30_000, "S", 4, 480.0, **OPTION),  # at 17:35
        on(0, 30_001, "B", 5, 600.0, **OPTION),
    )
    for shorts in (True, False):
        pnl = td.realised_pnl(late, settle={"10": 130.0}, shorts=shorts)
        assert [match.quantity for match in pnl.matches] == [6, 5, 4]
        assert (pnl.realised, len(pnl.open_lots), len(pnl.unmatched)) == (310.0, 0, 0)


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


def test_a_carried_lot_expires_too() -> None:
    carried = td.realised_pnl(EXPIRING, day=MONDAY).open_lots
    assert carried[0].expiry_date == MONDAY
    again = td.realised_pnl(EXPIRING.filter(exch_trade_time__ge=TUESDAY), carried)
    assert [lot.trade_no for lot in again.expired] == ["1"]
    assert td.realised_pnl(book(), carried).expired == carried.filter(quantity=0)


CONVERTED = book(on(0, 1, "B", 10, 1000.0, product="I"), on(1, 2, "S", 10, 1100.0, product="C"))


@pytest.mark.parametrize("shorts", [{"ALL"}, {"I", "m"}, {" I"}])
def test_a_product_that_is_not_known_is_refused(shorts: set[str]) -> None:
    with pytest.raises(ValueError, match=": pass some of 'C', 'H', 'I', 'M'"):
        td.realised_pnl(CONVERTED, shorts=shorts)


def test_products_of_the_book_and_the_service_are_known() -> None:
    made = book(on(0, 1, "S", 10, 1000.0, product="MTF"))
    assert len(td.realised_pnl(made, shorts={"MTF"}).open_lots) == 1
    assert len(td.realised_pnl(made, shorts={"I", "M", "H", "C"}).unmatched) == 1
