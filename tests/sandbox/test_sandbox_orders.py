"""The sandbox's orders and trades add up, and what becomes of orders, by seed and moment."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

import tradingdata as td
from sandbox_calls import column, orders, trades
from tradingdata import sandbox
from tradingdata.sandbox.market import derivatives

MOMENTS = ["09:15:20", "10:00", "12:34:56", "15:30"]


@pytest.fixture(scope="module", params=[0, 1, 2])
def day(request: pytest.FixtureRequest) -> Iterator[sandbox.Service]:
    with sandbox.start(seed=request.param, orders=400) as running:
        yield running


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_books_of_any_moment_agree(day: sandbox.Service, moment: str) -> None:
    """What is executed is reconciled with its orders, and neither book contradicts itself."""
    day.advance_to(moment)
    with day.client() as client:
        placed, executed = client.books()
    assert placed.check() == executed.check() == placed.issues == executed.issues == ()
    assert {row.finding for row in td.reconcile(placed, executed)} == {"agrees"}
    for order in orders(day):
        left = order["quantity"] - order["traded_qty"]
        assert order["rem_qty_tot_qty"] == f"{left}/{order['quantity']}"
        assert (order["error_code"] != "0") == (order["status"] == "Error")
        assert order["reason_description"]
        possible = {
            "Success": left == 0,
            "Pending": left > 0,
            "Error": order["traded_qty"] == 0,
            "Cancelled": left > 0,
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


def test_an_order_goes_from_pending_to_its_end_and_stays_there() -> None:
    with sandbox.start(seed=3, speed=0, orders=300) as service:
        seen: dict[str, list[str]] = defaultdict(list)
        filled: dict[str, int] = {}
        while service.now.time().isoformat() < "10:15":
            service.advance_to((service.now + dt.timedelta(seconds=30)).time())
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
    (put,) = placed.filter(order_date_time=dt.datetime.combine(service.day, dt.time(11)))
    puts = [one for one in derivatives(service.day) if one.opt_type == "PE"]
    nearest = min(puts, key=lambda one: (one.expiry, abs(one.strike - one.reference)))
    assert (put.security_id, put.quantity) == (nearest.security_id, 2 * nearest.lot_size)
    assert nearest.expiry is not None
    assert nearest.expiry <= service.day + dt.timedelta(days=7)
