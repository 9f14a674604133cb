"""Execution quality: how fast, how far and at what price orders were filled."""

from __future__ import annotations

import pytest

import tradingdata as td
from analysis_samples import at, book, order, trade
from tradingdata import sandbox


def ordered(number: int, quantity: float, price: float | None, **more: object) -> td.Order:
    return order(number, None, None, quantity=quantity, price=price, exch_order_time=at(2), **more)


def test_latencies_ratio_and_price_of_an_order_in_parts() -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 20, 100.05)]),
        book(
            trade(1, "B", 4, 400.0, exch_trade_time=at(9)),
            trade(1, "B", 6, 599.4, exch_trade_time=at(5), trade_no="2"),
        ),
    )
    assert (row.quantity, row.filled, row.fill_ratio, row.fills) == (20, 10, 0.5, 2)
    assert (row.entered, row.first_fill, row.last_fill) == (at(0), at(5), at(9))
    assert (row.to_exchange, row.to_first_fill, row.to_last_fill) == (2.0, 3.0, 7.0)
    assert (row.price, row.average, row.better_by) == (100.05, 99.94, 0.11)


@pytest.mark.parametrize(("side", "better"), [("B", -0.5), ("S", 0.5), ("X", None)])
def test_better_is_cheaper_to_buy_and_dearer_to_sell(side: str, better: float | None) -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 10, 100.0, txn_type=side)]), book(trade(1, side, 10, 1005.0))
    )
    assert row.better_by == better


@pytest.mark.parametrize("price", [0.0, None])
def test_an_order_without_a_price_has_none_to_be_compared_with(price: float | None) -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 10, price)]), book(trade(1, "B", 10, 1000.0))
    )
    assert (row.price, row.average, row.better_by) == (None, 100.0, None)


def test_an_order_without_a_fill() -> None:
    (row,) = td.execution_quality(td.OrderBook([ordered(1, 10, 100.0)]), book())
    assert (row.filled, row.fill_ratio, row.fills) == (0, 0.0, 0)
    assert (row.first_fill, row.to_first_fill, row.average, row.better_by) == (None,) * 4
    assert row.to_exchange == 2.0


def test_legs_are_one_order_and_have_a_price_only_if_they_share_it() -> None:
    legs = [ordered(1, 10, 100.0, leg_no=1), ordered(1, 5, 100.0, leg_no=2)]
    (row,) = td.execution_quality(td.OrderBook(legs), book(trade(1, "B", 15, 1500.0)))
    assert (row.quantity, row.fill_ratio, row.price) == (15.0, 1.0, 100.0)
    (row,) = td.execution_quality(td.OrderBook([legs[0], ordered(1, 5, 99.0)]), book())
    assert row.price is None


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


def test_a_price_is_that_of_a_share_where_values_are_in_lots() -> None:
    """The service says "shares or contracts": 2 contracts of 50 shares at 100.5 are 10,050."""
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 2, 101.0)]),
        book(trade(1, "B", 2, 10050.0, traded_price=100.5, lot_size=50)),
    )
    assert (row.average, row.better_by, row.improvement) == (100.5, 0.5, 50.0)


def test_what_is_not_known_is_none() -> None:
    (row,) = td.execution_quality(
        td.OrderBook([ordered(1, 10, 100.0)._replace(quantity=None, order_date_time=None)]),
        book(trade(1, "B", 5, 500.0, order_date_time=None, exch_trade_time=None)),
    )
    assert (row.quantity, row.fill_ratio, row.entered, row.to_exchange) == (None,) * 4
    assert (row.filled, row.first_fill) == (5, None)


def test_books_of_which_one_is_localized_are_refused() -> None:
    orders, trades = td.OrderBook([ordered(1, 10, 100.0)]), book(trade(1, "B", 10, 1005.0))
    with pytest.raises(ValueError, match="only one of the books has a time zone"):
        td.execution_quality(orders, trades.localize("Asia/Kolkata"))
    zoned = orders.localize("Asia/Kolkata"), trades.localize("Asia/Kolkata")
    assert td.execution_quality(*zoned)[0].filled == 10


def test_a_lost_quantity_is_an_error() -> None:
    with pytest.raises(ValueError, match="quantity is missing in row 0"):
        td.execution_quality(td.OrderBook([ordered(1, 10, 1.0)]), book(trade(1, "B", None, 5.0)))


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
