"""What each of the sandbox's days has at least once, whatever the seed."""

from __future__ import annotations

import datetime as dt

import pytest

from tradingdata import sandbox


@pytest.mark.parametrize("seed", [0, 7])
def test_a_day_has_each_special_order(seed: int) -> None:
    with sandbox.start(seed=seed) as service, service.client() as client:
        orders, trades = client.books()
    early = orders.filter(off_mkt_flag="1")
    opening = dt.time(9, 15)
    assert len(early) == 2
    for order in early:
        assert order.order_date_time is not None
        assert order.exch_order_time is not None
        assert order.order_date_time.time() < opening <= order.exch_order_time.time()
    bracket, cover = orders.filter(product="B"), orders.filter(product="V")
    assert len(cover) == 2
    assert {(leg.leg_no, leg.txn_type) for leg in bracket} == {(1, "B"), (2, "S"), (3, "S")}
    assert len({leg.order_no for leg in bracket}) == 1
    assert len(trades.filter(symbol="RELIANCE", exchange="NSE", product="I", txn_type="B"))
    assert len(trades.filter(symbol="RELIANCE", exchange="BSE", product="I", txn_type="S"))
    assert len(trades.filter(symbol="SBIN", product="I", txn_type="B"))
    assert len(trades.filter(symbol="SBIN", product="C", txn_type="S"))
    assert len(trades.filter(expiry_date__le=service.day + dt.timedelta(days=7)))
