"""Executed orders, what they are charged, how long they waited and what is missing of them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import tradingdata as td
from cases import ENTERED, RECEIVED, filled, made, measured, ordered, when
from tradingdata.client.snapshot import gaps_between


def entry(at: dt.datetime) -> Any:
    """The time of entry of a trade."""
    return {ENTERED: at}


def test_an_order_waited_that_was_entered_before_the_bell_or_five_minutes_too_early() -> None:
    """No exchange had taken an order of the day by then."""
    second, bell = dt.timedelta(seconds=1), when("20 09:15")
    opening = ordered(when("20 09:16"), when("20 09:16"))
    early = ordered(bell - second, when("20 09:17"), "2")
    at_the_bell = ordered(bell, when("20 09:17"), "3")
    waits = measured(opening, early, at_the_bell)
    assert waits == [(0.0, None, None), (None, 121.0, None), (120.0, None, None)]
    assert measured(ordered(bell, when("20 09:20"))) == [(300.0, None, None)]
    assert measured(ordered(bell, when("20 09:20") + second)) == [(None, 301.0, None)]


def test_an_outage_is_a_latency() -> None:
    """C13b"""
    late = ordered(when("20 09:20"), when("20 09:23"))
    assert measured(late) == [(180.0, None, None)]
    early = ordered(when("20 09:16"), when("20 09:16"), "2")
    assert measured(early, late) == [(0.0, None, None), (180.0, None, None)]


def test_a_missing_time_of_entry_is_a_missing_value() -> None:
    """C15, and GTD orders whose trades have none"""
    trade = made(1, "B", 10, 100, "20 10:00")
    order = filled(when("20 09:20"))
    (row,) = td.reconcile(td.OrderBook([order]), td.TradeBook([trade]))
    assert (row.finding, row.orders_quantity, row.trades_quantity) == ("value missing", 10, 10)
    with pytest.warns(td.DataWarning, match="time of entry missing: 1 .order 1: trades matched by"):
        (side,) = td.execution_quality(td.OrderBook([order]), td.TradeBook([trade]))
    assert (side.filled, side.fill_ratio) == (10, None)


def test_an_order_without_a_number_does_not_agree() -> None:
    trade = made(1, "B", 10, 100, "20 10:00", order_no=None, **entry(when("20 09:20")))
    order = filled(when("20 09:20"), order_no=None)
    (row,) = td.reconcile(td.OrderBook([order]), td.TradeBook([trade]))
    assert row.finding == "value missing"


def test_an_order_of_several_days_is_no_gap_between_the_books() -> None:
    """Its traded quantity counts the fills of earlier days, which are in no trade book."""
    order = filled(when("19 09:20"))
    today = made(1, "B", 6, 100, "20 10:00", **entry(when("19 09:20")))
    for trade, gaps in ((today, 0), (today._replace(quantity=11), 1)):
        assert len(gaps_between(td.OrderBook([order]), td.TradeBook([trade]))[0]) == gaps
    bare = made(1, "B", 10, 100, "20 10:00")
    assert len(gaps_between(td.OrderBook([order]), td.TradeBook([bare]))[0]) == 0


def state(number: str | None, quantity: int, day: int = 20, leg: int | None = 0) -> Any:
    """An order of twenty, valid for several days, as the response of one of them has it."""
    entered = when("20 09:15")
    received = when(f"{day} 09:16") if number else None
    order = filled(entered, leg_no=leg, exch_order_no=number, quantity=20)
    return order._replace(traded_qty=quantity, **{RECEIVED: received})


FILLS = td.TradeBook(
    [
        made(at, "B", 10, 100, time, order_no="1", **entry(when("20 09:15")))
        for at, time in ((1, "20 10:00"), (2, "21 10:00"))
    ]
)


@pytest.mark.parametrize("leg", [0, None])
def test_a_leg_without_any_number_is_known_by_its_row(leg: int | None) -> None:
    """Unless the exchange numbered it later."""
    bare = [state(None, 4, leg=leg), state(None, 16, leg=leg)]
    numbered = [state(None, 0, leg=leg), state("X", 10, leg=leg), state("X", 20, 21, leg)]
    for states, legs in ((bare, 2), (numbered, 1)):
        (row,) = td.reconcile(td.OrderBook(states), FILLS)
        assert (row.finding, row.legs, row.orders_quantity) == ("agrees", legs, 20.0)


def test_an_order_of_a_day_before_the_trades_may_have_filled_more() -> None:
    """It is not said to agree, nor to differ: the trades of its first day are not there."""
    orders = td.OrderBook([state("X", 20, 21)])
    for trades in (FILLS[1:], td.TradeBook([made(3, "B", 1, 100, "21 10:00")])):
        found = td.reconcile(orders, trades)
        assert "earlier days missing" in {row.finding for row in found}
        assert not found.agrees
    assert td.reconcile(orders, FILLS).agrees
    sold = td.TradeBook([FILLS[1]._replace(txn_type="S")])
    assert [row.finding for row in td.reconcile(orders, sold)] == ["side differs"]
    lacking = td.TradeBook([FILLS[1]._replace(quantity=None)])
    assert [row.finding for row in td.reconcile(orders, lacking)] == ["value missing"]
    (row,) = td.reconcile(orders, FILLS[:1])
    assert row.finding == "quantity differs"
