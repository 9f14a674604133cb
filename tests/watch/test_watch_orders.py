"""What a watch of orders tells, poll by poll; no waiting, no service."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import pytest

import tradingdata as td
from tradingdata import _core
from watching import Record, order_book, order_updates, reported, some_orders

(UPDATED,) = (name for name, *_ in _core.fields_of("Order") if name.startswith("last_up"))
(ENTERED,) = (name for name, *_ in _core.fields_of("Order") if name == "order_" + "date_time")


def updated(record: Record, second: int, **changes: Any) -> Record:
    return {**record, UPDATED: f"2026-01-06 10:00:{second:02}", **changes}


def test_the_first_orders_are_new_and_then_only_what_happens_is_reported() -> None:
    first = some_orders()
    second = [{**first[0], "status": "Other"}, *some_orders(4)[2:]]
    updates = list(order_updates(first, first, second, []))
    assert [reported(update) for update in updates] == [
        [("new", "0", ()), ("new", "1", ()), ("new", "2", ())],
        [],
        [("changed", "0", ("status",)), ("new", "3", ()), ("gone", "1", ())],
        [],
    ]
    assert [update.cleared for update in updates] == [False, False, False, True]
    assert [list(update.orders) for update in updates] == [
        list(order_book(records)) for records in (first, first, second, [])
    ]
    assert {update.missed for update in updates} == {None}
    assert {update.at.tzinfo for update in updates} == {dt.UTC}


def test_what_ticks_is_no_change_unless_it_is_asked_for() -> None:
    ticks = [some_orders(row_no=lambda i, n=n: i + n, ref_ltp=float(n)) for n in range(3)]
    assert [len(update.changes) for update in order_updates(*ticks)] == [3, 0, 0]
    asked = list(order_updates(*ticks, ignore=["row_no"]))
    assert [len(update.changes) for update in asked] == [3, 3, 3]
    assert asked[2].changes[0].fields == ("ref_ltp",)


def test_orders_that_were_known_are_not_reported_again() -> None:
    known = order_book(some_orders(2))
    (update,) = order_updates(some_orders(3), previous=known)
    assert reported(update) == [("new", "2", ())]
    (update,) = order_updates(some_orders(3), previous=known.localize("Asia/Kolkata"))
    assert reported(update) == [("new", "2", ())]
    with pytest.raises(TypeError, match="previous= takes type OrderBook, not TradeBook"):
        order_updates(previous=td.TradeBook())


def test_a_failure_that_may_pass_is_a_miss_with_the_orders_as_known() -> None:
    error = td.ServerError("down", retryable=True)
    before, now = some_orders(1), [{**some_orders(1)[0], "status": "Other"}]
    first, missed, again, good = order_updates(before, error, error, now)
    assert (missed.missed, missed.changes) == (error, ())
    assert missed.orders is first.orders
    assert again.missed is error
    assert [update.misses for update in (first, missed, again, good)] == [0, 1, 2, 0]
    assert repr(again).endswith("missed: ServerError, 2 in a row>")
    assert error.__traceback__ is None
    assert (good.missed, reported(good)) == (None, [("changed", "0", ("status",))])


def test_a_miss_before_the_first_response_is_no_empty_book() -> None:
    error = td.ConnectError("no one there", retryable=True)
    missed, good = order_updates(error, some_orders(1))
    for _ in range(2):
        with pytest.raises(td.ConnectError, match="no one there") as caught:
            len(missed.orders)
        assert len(caught.traceback) == 2  # this test and the property, each time
    assert repr(missed).endswith("Z, orders unknown, 0 changes, missed: ConnectError>")
    assert [change.kind for change in good.changes] == ["new"]


@pytest.mark.parametrize(
    "error", [ValueError("own"), td.ConfigurationError("no token"), td.ClientClosedError("closed")]
)
def test_what_no_later_poll_can_mend_is_raised_and_ends_nothing(error: Exception) -> None:
    """F164: `next()` after an error goes on, and is no clean end."""
    updates = order_updates(some_orders(1), error, error, some_orders(1))
    next(updates)
    for _ in range(2):
        with pytest.raises(type(error)):
            next(updates)
    assert next(updates).changes == ()


def test_an_update_is_a_tuple_that_prints_and_pickles() -> None:
    (update,) = order_updates(some_orders(2))
    orders, changes, cleared, missed, misses, at = update
    assert (orders, changes, at) == (update.orders, update.changes, update.at)
    assert (cleared, missed, misses) == (False, None, 0)
    assert repr(update) == f"<OrderUpdate {update.at:%H:%M:%S}Z, 2 orders, 2 changes>"
    assert pickle.loads(pickle.dumps(update)) == update


# -- orders that go back, and days --


def test_an_older_state_is_reported_as_the_service_returns_it() -> None:
    (base,) = some_orders(1)
    new, old = [updated(base, 9, status="New")], [updated(base, 5, status="Old")]
    updates = list(order_updates(new, old, new))
    assert [reported(update) for update in updates[1:]] == [[("changed", "0", ("status",))]] * 2
    assert [update.orders[0].status for update in updates] == ["New", "Old", "New"]
    assert updates[1].orders.response is not None


def test_the_orders_of_a_day_that_is_over_are_cleared() -> None:
    _, second = order_updates(some_orders(2), some_orders(7)[5:])
    assert second.cleared
    assert [change.kind for change in second.changes] == ["new", "new"]
