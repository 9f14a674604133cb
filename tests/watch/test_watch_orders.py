"""What a watch of orders tells, poll by poll; no waiting, no service."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from tradingdata import _core
from watching import Record, content, order_book, order_updates, reported, some_orders

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
        [("gone", "0", ()), ("gone", "2", ()), ("gone", "3", ())],
    ]
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
    held, _ = order_updates(
        [updated(some_orders(1)[0], 5, status="Old")],
        [],
        previous=order_book([updated(some_orders(1)[0], 9)]).localize("Asia/Kolkata"),
    )
    assert content(held.orders) == content(order_book(some_orders(1)))
    with pytest.raises(TypeError, match="previous= takes type OrderBook, not TradeBook"):
        order_updates(previous=td.TradeBook())


def test_a_failure_that_may_pass_is_a_miss_with_the_orders_as_known() -> None:
    error = td.ServerError("down", retryable=True)
    before, now = some_orders(1), [{**some_orders(1)[0], "status": "Other"}]
    first, missed, again, good = order_updates(before, error, error, now)
    assert (missed.missed, missed.changes, missed.rollover) == (error, (), False)
    assert missed.orders is first.orders
    assert again.missed is error
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
    "error",
    [td.AuthenticationError("no"), td.DecodeError("odd"), td.ServiceError("no"), ValueError("own")],
)
def test_any_other_error_is_raised(error: Exception) -> None:
    updates = order_updates(some_orders(1), error, some_orders(1))
    next(updates)
    with pytest.raises(type(error)):
        next(updates)
    with pytest.raises(StopIteration):
        next(updates)


def test_an_update_is_a_tuple_that_prints_and_pickles() -> None:
    (update,) = order_updates(some_orders(2))
    orders, changes, missed, at, rollover = update
    assert (orders, changes, missed, at, rollover) == (
        update.orders, update.changes, None, update.at, False,
    )  # fmt: skip
    assert repr(update) == f"<OrderUpdate {update.at:%H:%M:%S}Z, 2 orders, 2 changes>"
    assert pickle.loads(pickle.dumps(update)) == update


# -- old responses --


def test_an_order_that_goes_back_is_held_until_three_responses_in_a_row_say_so() -> None:
    base = some_orders(2)
    new = [updated(base[0], 9, status="New"), base[1]]
    old = [updated(base[0], 5, status="Old"), base[1]]
    updates = list(order_updates(new, old, old, old, old))
    assert [reported(update) for update in updates[1:]] == [
        [],
        [],
        [("changed", "0", ("status",))],
        [],
    ]
    assert [update.orders[0].status for update in updates] == ["New"] * 3 + ["Old"] * 2
    held = updates[1].orders
    assert content(held) == content(order_book(new))
    assert held.response is None


def test_good_responses_in_between_begin_the_count_anew_and_misses_do_not() -> None:
    (base,) = some_orders(1)
    new, old = [updated(base, 9, status="New")], [updated(base, 5, status="Old")]
    error = td.DeadlineError("late", retryable=True)
    flapping = list(order_updates(new, old, old, new, old, old, new))
    assert [len(update.changes) for update in flapping] == [1, 0, 0, 0, 0, 0, 0]
    missing = list(order_updates(new, old, error, old, error, old))
    assert [len(update.changes) for update in missing] == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    "other",
    [{"status": "Other"}, {UPDATED: "2026-01-06 10:00:06"}, {UPDATED: "2026-01-06 10:00:04"}],
)
def test_an_old_response_agrees_only_with_the_same_values_and_time(other: Record) -> None:
    (base,) = some_orders(1)
    new, old = [updated(base, 9, status="New")], [updated(base, 5, status="Old")]
    differs = [{**old[0], **other}]
    updates = list(order_updates(new, old, old, differs, old, old, old))
    assert [len(update.changes) for update in updates] == [1, 0, 0, 0, 0, 0, 1]


def test_old_responses_agree_whatever_ticks() -> None:
    (base,) = some_orders(1)
    new = [updated(base, 9, status="New")]
    old = [[updated(base, 5, status="Old", row_no=n, ref_ltp=float(n))] for n in range(3)]
    updates = list(order_updates(new, *old))
    assert [len(update.changes) for update in updates] == [1, 0, 0, 1]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=25))
def test_an_order_goes_back_only_to_what_three_responses_in_a_row_agree_on(
    versions: list[int],
) -> None:
    """Machines that lag by any number of versions, in any order."""
    (base,) = some_orders(1)
    responses = [[updated(base, version, traded_qty=version)] for version in versions]
    known: int | None = None
    for at, update in enumerate(order_updates(*responses)):
        agreed = versions[max(at - 2, 0) : at + 1] == [versions[at]] * 3
        expected = versions[at] if known is None or versions[at] > known or agreed else known
        assert update.orders[0].traded_qty == expected
        assert len(update.changes) == (expected != known)
        known = expected


def test_the_same_old_response_counts_each_time_though_it_is_decoded_once() -> None:
    (base,) = some_orders(1)
    new = order_book([updated(base, 9, status="New")])
    old = order_book([updated(base, 5, status="Old")])
    updates = list(order_updates(new, old, old, old, old))
    assert [update.orders[0].status for update in updates] == ["New", "New", "New", "Old", "Old"]
    assert [len(update.changes) for update in updates] == [1, 0, 0, 1, 0]


def test_only_the_orders_that_went_back_are_held() -> None:
    base = some_orders(6)
    new = [updated(record, 9) for record in base]
    old = [dict(record) for record in new]
    old[1], old[4] = updated(base[1], 5, status="Old"), updated(base[4], 5)
    old[3]["status"] = "Other"
    _, update = order_updates(new, old)
    assert reported(update) == [("changed", "3", ("status",))]
    assert [row.order_no for row in update.orders] == [str(i) for i in range(6)]
    assert content(update.orders) == content(order_book([*new[:3], old[3], *new[4:]]))


def test_orders_of_one_key_are_held_one_by_one() -> None:
    (base,) = some_orders(1)
    new = [updated(base, 9, price=1), updated(base, 9, price=2)]
    second_old = [new[0], updated(base, 5, price=7)]
    first_old = [updated(base, 5, price=6), new[1]]
    updates = list(order_updates(new, second_old, first_old, second_old, second_old, second_old))
    assert [[row.price for row in update.orders] for update in updates] == [
        [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 7],
    ]  # fmt: skip


def test_an_order_without_a_time_is_believed() -> None:
    (base,) = some_orders(1)
    updates = list(order_updates([updated(base, 9)], [{**base, UPDATED: "", "status": "Other"}]))
    assert reported(updates[1]) == [("changed", "0", ("status",))]


# -- the day --


def entered(day: int, count: int = 2, first: int = 0) -> list[Record]:
    records = some_orders(first + count)[first:]
    return [{**record, ENTERED: f"2026-01-{day:02} 09:15:00"} for record in records]


def rollovers(*responses: Any, **options: Any) -> list[bool]:
    return [update.rollover for update in order_updates(*responses, **options)]


def test_the_cleared_book_and_the_next_day_are_reported_once() -> None:
    error = td.ServerError("down", retryable=True)
    assert rollovers(entered(6), [], [], entered(7, first=5), entered(7, first=5, count=3)) == [
        False, True, False, False, False,
    ]  # fmt: skip
    assert rollovers(entered(6), error, entered(7, first=5), []) == [False, False, True, True]
    assert rollovers([], [], entered(6)) == [False, False, False]


def test_orders_that_outlast_the_day_do_not_hide_the_next_one() -> None:
    lasting = entered(6, count=1)
    assert rollovers(entered(6), lasting, lasting + entered(7, first=5)) == [False, False, True]


def test_the_day_of_the_orders_that_were_known_counts() -> None:
    known = order_book(entered(6))
    assert rollovers(entered(7, first=5), previous=known) == [True]
    assert rollovers(entered(6), previous=known) == [False]
    assert rollovers([], previous=known) == [True]


def test_the_orders_of_a_day_that_is_over_are_gone() -> None:
    _, second = order_updates(entered(6), entered(7, first=5))
    assert [change.kind for change in second.changes] == ["new", "new", "gone", "gone"]
    assert "rollover" in repr(second)
