"""The sandbox's orders and trades: they add up, whatever the seed and the moment."""

from __future__ import annotations

from collections import Counter, defaultdict
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


def fills(found: list[Record]) -> dict[str, list[Record]]:
    by_order = defaultdict(list)
    for trade in found:
        by_order[trade["order_no"]].append(trade)
    return by_order


@pytest.mark.parametrize("moment", MOMENTS)
def test_trades_add_up_to_their_orders(day: sandbox.Service, moment: str) -> None:
    day.advance_to(moment)
    by_order = fills(trades(day))
    placed = orders(day)
    assert by_order.keys() <= set(column(placed, "order_no"))
    for order in placed:
        own = by_order[order["order_no"]]
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


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_status_says_what_became_of_an_order(day: sandbox.Service, moment: str) -> None:
    day.advance_to(moment)
    for order in orders(day):
        filled, asked = order["traded_qty"], order["quantity"]
        possible = {
            "Success": filled == asked,
            "Pending": filled < asked,
            "Error": filled == 0,
        }
        assert possible[order["status"]], order


def test_a_day_has_everything_in_it(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    placed = orders(day)
    counts = Counter(column(placed, "status"))
    assert len(placed) == 400
    assert counts["Success"] > 200
    assert counts["Pending"] > 10
    assert counts["Error"] > 10
    parts = Counter(column(trades(day), "order_no"))
    assert max(parts.values()) > 3
    unfinished = [order for order in placed if 0 < order["traded_qty"] < order["quantity"]]
    assert {order["status"] for order in unfinished} == {"Pending"}


def test_only_an_error_has_a_code_and_a_reason_for_it(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    for order in orders(day):
        assert (order["error_code"] != "0") == (order["status"] == "Error")
        assert order["reason_description"]


def test_an_order_goes_from_pending_to_its_end_and_stays_there() -> None:
    with sandbox.start(seed=3, speed=0, orders=300) as service:
        seen: dict[str, list[str]] = defaultdict(list)
        filled: dict[str, int] = {}
        while service.now.time().isoformat() < "10:15":
            service.advance(15)
            for order in orders(service):
                key, status = order["order_no"], order["status"]
                if not seen[key] or seen[key][-1] != status:
                    seen[key].append(status)
                assert order["traded_qty"] >= filled.get(key, 0)
                filled[key] = order["traded_qty"]
        # A state may pass between two looks, so an order can be seen at its end at once.
        changes = {tuple(states) for states in seen.values()}
        assert changes == {
            *(("Pending",), ("Success",), ("Error",)),
            *(("Pending", "Success"), ("Pending", "Error")),
        }
