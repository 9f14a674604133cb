"""Execution quality: how fast, how far and at what price orders were filled."""

from __future__ import annotations

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, order, trade
from tradingdata import sandbox


def ordered(number: int, quantity: float, price: float | None, **more: object) -> td.Order:
    return order(number, None, None, quantity=quantity, price=price, exch_order_time=at(2), **more)


@pytest.mark.parametrize("price", [0.0, None])
def test_an_order_without_a_price_has_none_to_be_compared_with(price: float | None) -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 10, price)]), book(trade(1, "B", 10, 1000.0))
    )
    assert (row.price, row.average, row.better_by) == (None, 100.0, None)


def test_purchases_and_sales_of_a_bracket_order_are_not_averaged() -> None:
    legs = [
        ordered(1, 10, 100.0, leg_no=1),
        ordered(1, 10, 110.0, leg_no=2, txn_type="S"),
        ordered(1, 10, 95.0, leg_no=3, txn_type="S"),
    ]
    bought, sold = td.execution_quality(
        td.OrderBook(legs),
        book(trade(1, "B", 10, 995.0), trade(1, "S", 10, 1102.0, 9, trade_no="2")),
    )
    assert (bought.txn_type, bought.filled, bought.average) == ("B", 10, 99.5)
    assert (bought.price, bought.better_by, bought.improvement) == (100.0, 0.5, 5.0)
    assert (sold.txn_type, sold.filled, sold.average) == ("S", 10, 110.2)
    assert (sold.quantity, sold.price, sold.better_by) == (20, None, None)


def test_what_is_not_known_is_none() -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 10, 100.0)._replace(quantity=None, order_date_time=None)]),
        book(trade(1, "B", 5, 500.0, order_date_time=None, exch_trade_time=None)),
    )
    assert (row.quantity, row.fill_ratio, row.entered, row.to_exchange) == (None,) * 4
    assert (row.filled, row.first_fill) == (5, None)


def test_the_sandbox_has_latencies_and_no_fill_beyond_its_limit() -> None:
    with sandbox.start() as service, service.client() as client:
        found = td.execution_quality(client.order_book(), client.trade_book()).to_pandas()
    assert len(found) == 199  # two legs of a bracket order are of one side
    waited = found["waited"].dropna()
    assert (waited > 2700).sum() == 2, "after-market orders wait for the market to open"
    assert len(waited) == found["to_exchange"].isna().sum() == 4  # two have a trigger price
    assert found["to_exchange"].dropna().between(0, 12).all()
    assert found["to_exchange"].nunique() > 4  # a distribution: most at once, few late
    assert found["to_exchange"].median() == 0
    assert found["fill_ratio"].between(0, 1).all()
    assert (found["to_last_fill"].dropna() >= found["to_first_fill"].dropna()).all()
    assert (found["better_by"].dropna() >= 0).all()
    assert found["better_by"].notna().sum() > 20


def test_an_average_that_no_value_proves_is_named() -> None:
    trades = book(trade(1, "B", 2, 290.0, traded_price=100.0, lot_size=50))
    with pytest.warns(
        td.DataWarning, match="multiplier not proved: 1 .order O1: trade_value 290.0"
    ):
        found = td.execution_quality(td.OrderBook([ordered(1, 2, 101.0)]), trades)
    (row,), (issue,) = found, found.issues
    assert isinstance(issue, td.analysis.OrderIssue)
    assert (issue.day, issue.order_no) == (DAY, "O1")
    assert (row.filled, row.average, row.better_by) == (2, None, None)
