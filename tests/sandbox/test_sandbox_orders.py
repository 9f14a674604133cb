"""The sandbox's orders and trades: they add up, whatever the seed and the moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from sandbox_calls import Record, column, orders, trades
from tradingdata import sandbox

MOMENTS = ["09:15:20", "10:00", "12:34:56", "15:30"]


@pytest.fixture(scope="module", params=[0, 1, 2])
def day(request: pytest.FixtureRequest) -> Iterator[sandbox.Service]:
    with sandbox.start(seed=request.param, orders=400) as running:
        yield running


def exact(number: float) -> Fraction:
    """The decimal number that the JSON text stands for."""
    return Fraction(Decimal(repr(number)))


def fills(found: list[Record]) -> dict[tuple[str, str], list[Record]]:
    """Trades by order and side: the legs that close a bracket order share both."""
    by_order = defaultdict(list)
    for trade in found:
        by_order[trade["order_no"], trade["txn_type"]].append(trade)
    return by_order


@pytest.mark.parametrize("moment", MOMENTS)
def test_trades_add_up_to_their_orders(day: sandbox.Service, moment: str) -> None:
    day.advance_to(moment)
    by_order = fills(trades(day))
    placed = orders(day)
    assert sum(column(placed, "traded_qty")) == sum(column(trades(day), "quantity"))
    assert by_order.keys() <= {(order["order_no"], order["txn_type"]) for order in placed}
    for order in placed:
        # Of the legs that close a bracket order, one trades.
        own = by_order[order["order_no"], order["txn_type"]] if order["traded_qty"] else []
        filled = sum(column(own, "quantity"))
        value = sum(exact(trade["trade_value"]) for trade in own)
        assert order["traded_qty"] == filled
        assert order["remaining_quantity"] == order["quantity"] - filled
        assert order["rem_qty_tot_qty"] == f"{order['quantity'] - filled}/{order['quantity']}"
        if own:
            assert order["avg_traded_price"] == round(float(value / filled), 4)
            assert order["traded_price"] == own[-1]["traded_price"]
        else:
            assert order["avg_traded_price"] == order["traded_price"] == 0


def test_the_value_of_a_trade_is_quantity_times_price_to_the_paisa(day: sandbox.Service) -> None:
    for trade in trades(day):
        assert trade["quantity"] > 0
        assert exact(trade["trade_value"]) == trade["quantity"] * exact(trade["traded_price"])
