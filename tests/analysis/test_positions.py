"""Positions: what trades add up to, by account, exchange, segment, security and product."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import DAY, book, trade
from tradingdata.analysis.keys import REQUIRED

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning"),
]


def test_what_differs_in_any_part_of_the_key_is_a_position_of_its_own() -> None:
    made = [
        trade(number, "B", 1, 1.0)._replace(**{part: "X"}) for number, part in enumerate(REQUIRED)
    ]
    expiries = [
        trade(number, "B", 1, 1.0, security_id="20", expiry_date=DAY + dt.timedelta(days=number))
        for number in (20, 21)
    ]
    found = td.positions(book(trade(9, "B", 1, 1.0), *made, *expiries))
    assert [row.buy_quantity for row in found] == [1] * 8


@given(st.lists(st.floats(-1e12, 1e12).map(lambda value: round(value, 4)), min_size=1))
@example([0.1 + 0.2, 0.1])  # decimals that a paisa does not hold
@example([1e22, 0.01])
def test_a_sum_is_the_float_nearest_to_the_exact_one(values: list[float]) -> None:
    (row,) = td.positions(book(*(trade(n, "B", 1, value) for n, value in enumerate(values))))
    assert row.buy_value == float(sum(Fraction(repr(value)) for value in values))


@pytest.mark.parametrize("values", [[1e300], [1e22, 1e-17], [4e37, 4e37], [-4e37, -4e37]], ids=str)
def test_amounts_that_no_sum_holds_are_an_error(values: list[float]) -> None:
    trades = book(*(trade(n, "B", 1, value) for n, value in enumerate(values)))
    for calculate in (td.positions, td.realised_pnl):
        with pytest.raises(OverflowError, match="leave out the rows with unusual amounts"):
            calculate(trades)
    half_sold = book(trade(1, "B", 2, 4e37), trade(2, "S", 1, 1.0, 1))
    with pytest.raises(OverflowError, match=r"the largest is trade_value 4e\+37 in row 0"):
        td.realised_pnl(half_sold)


def test_the_advice_on_a_missing_value_works() -> None:
    spoilt = book(trade(1, "B", 5, 50.0), trade(2, "B", 5, None))
    with pytest.raises(ValueError, match="leave them out with") as caught:
        td.positions(spoilt)
    advice = str(caught.value).partition("leave them out with ")[2].strip("`")
    assert td.positions(eval(advice, {"td": td, "trades": spoilt}))[0].buy_quantity == 5


@pytest.mark.parametrize("calculate", [td.positions, td.realised_pnl])
def test_a_trade_that_is_in_the_book_twice_is_rejected(calculate: object) -> None:
    """Also books of overlapping days that were joined."""
    assert callable(calculate)
    once = book(trade(1, "B", 5, 50.0), trade(2, "B", 5, 50.0))
    twice = td.concat([once, once])
    with pytest.raises(ValueError, match=r"rows 0 and 2 are one trade \(trade_no '1'\)"):
        calculate(twice)
    mended = td.TradeBook(dict.fromkeys(twice))
    assert calculate(mended) == calculate(once)


def test_numbers_may_come_again_on_another_day_or_side_and_be_missing() -> None:
    found = td.positions(
        book(
            trade(1, "B", 5, 50.0),
            trade(1, "B", 5, 50.0, 86400),
            trade(1, "S", 5, 50.0),
            trade(1, "B", 5, 50.0, trade_no=None),
            trade(1, "B", 5, 50.0, trade_no=None),
        )
    )
    assert found[0].buy_quantity == 20


def test_a_trade_without_a_time_counts_unless_a_day_is_asked_for() -> None:
    timeless = book(trade(1, "B", 5, 50.0, exch_trade_time=None))
    assert td.positions(timeless)[0].buy_quantity == 5
    with pytest.raises(ValueError, match="exch_trade_time is missing"):
        td.positions(timeless, day=DAY)
