"""Prices of the sandbox: on a tick, and never worse than a limit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from sandbox_calls import orders, trades
from tradingdata import sandbox


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=600) as running:
        yield running


def test_every_price_is_on_a_tick_and_no_limit_is_broken(day: sandbox.Service) -> None:
    limits = {}
    for order in orders(day):
        tick = Fraction(str(order["tick_size"]))
        for price in (order["price"], order["trigger_price"], order["traded_price"]):
            assert Fraction(str(price)) % tick == 0
        if order["price"] and order["traded_qty"]:
            limits[order["order_no"], order["txn_type"]] = order["price"]
    for trade in trades(day):
        limit = limits.get((trade["order_no"], trade["txn_type"]))
        if limit is not None:
            bought = trade["txn_type"] == "B"
            price = trade["traded_price"]
            assert price <= limit if bought else price >= limit
