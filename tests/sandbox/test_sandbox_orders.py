"""The sandbox's orders and trades add up, and what becomes of orders, by seed and moment."""

from __future__ import annotations

import datetime as dt
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


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_status_says_what_became_of_an_order(day: sandbox.Service, moment: str) -> None:
    day.advance_to(moment)
    for order in orders(day):
        filled, asked = order["traded_qty"], order["quantity"]
        possible = {
            "Success": filled == asked,
            "Pending": filled < asked,
            "Error": filled == 0,
            "Cancelled": filled < asked,
        }
        assert possible[order["status"]], order


def test_a_day_has_everything_in_it(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    placed = orders(day)
    counts = Counter(column(placed, "status"))
    assert len(placed) == 400
    assert counts["Success"] > 200
    assert counts["Pending"] > 10
    assert counts["Error"] > 5
    assert counts["Cancelled"] > 5
    parts = Counter(column(trades(day), "order_no"))
    assert max(parts.values()) > 3
    unfinished = [order for order in placed if 0 < order["traded_qty"] < order["quantity"]]
    assert {order["status"] for order in unfinished} <= {"Pending", "Cancelled"}


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
            service.advance(30)
            for order in orders(service):
                key, status = order["order_no"], order["status"]
                if not seen[key] or seen[key][-1] != status:
                    seen[key].append(status)
                assert order["traded_qty"] >= filled.get(key, 0)
                filled[key] = order["traded_qty"]
        # A state may pass between two looks, so an order can be seen at its end at once.
        changes = {tuple(states) for states in seen.values()}
        usual = {(), ("Success",), ("Error",), ("Cancelled",)}
        assert changes <= usual | {("Pending", *states) for states in usual}
        assert {("Pending", "Success"), ("Success",)} <= changes


@pytest.mark.parametrize("seed", [0, 7])
def test_a_day_has_each_special_order(seed: int) -> None:
    with sandbox.start(seed=seed) as service, service.client() as client:
        placed, filled = client.books()
    early = placed.filter(off_mkt_flag="1")
    opening = dt.time(9, 15)
    assert len(early) == 2
    for order in early:
        assert order.order_date_time is not None
        assert order.exch_order_time is not None
        assert order.order_date_time.time() < opening <= order.exch_order_time.time()
    bracket, cover = placed.filter(product="B"), placed.filter(product="V")
    assert len(cover) == 2
    assert {(leg.leg_no, leg.txn_type) for leg in bracket} == {(1, "B"), (2, "S"), (3, "S")}
    assert len({leg.order_no for leg in bracket}) == 1
    assert len(filled.filter(symbol="RELIANCE", exchange="NSE", product="I", txn_type="B"))
    assert len(filled.filter(symbol="RELIANCE", exchange="BSE", product="I", txn_type="S"))
    assert len(filled.filter(symbol="SBIN", product="I", txn_type="B"))
    assert len(filled.filter(symbol="SBIN", product="C", txn_type="S"))
    assert len(filled.filter(expiry_date__le=service.day + dt.timedelta(days=7)))


def test_the_books_of_a_day_contradict_nothing(day: sandbox.Service) -> None:
    day.advance_to("15:30")
    with day.client() as client:
        assert client.order_book().check() == client.trade_book().check() == ()
