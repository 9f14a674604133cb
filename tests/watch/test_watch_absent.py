"""What a watch has seen it knows, for a day, and a response that lacks it is asked for again."""

from __future__ import annotations

import pytest

from tradingdata.watch.updates import KnownOrders
from watching import (
    Clock,
    Polls,
    Record,
    order_book,
    order_updates,
    reported,
    some_orders,
    until_over,
    watched,
)

FULL = some_orders(6)


@pytest.mark.parametrize("bad", [[], FULL[1:], FULL[:2]], ids=len)
def test_a_response_that_lacks_orders_is_asked_for_again(bad: list[Record]) -> None:
    """An empty, null or partial book for one response leaves no trace."""
    clock = Clock()
    full = order_book(FULL)
    polls = Polls([full, order_book(bad), full, full], clock, confirms=False)
    updates = list(until_over(watched(polls, KnownOrders((), None), clock)))
    assert [len(update.orders) for update in updates] == [6, 6, 6]
    assert [(update.changes, update.cleared) for update in updates[1:]] == [((), False)] * 2
    assert [at - polls.at[0] for at in polls.at] == [0, 5, 6, 10, 15]


def test_what_was_known_before_the_watch_may_be_absent() -> None:
    updates = list(order_updates(FULL[1:], FULL, previous=order_book(FULL)))
    assert [reported(update) for update in updates] == [
        [("gone", "0", ())],
        [("returned", "0", ())],
    ]
    (update,) = order_updates([], previous=order_book(FULL))
    assert update.cleared


def test_an_order_that_was_absent_for_a_day_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is that of a day, however long a watch runs."""
    import datetime as dt

    state, now = KnownOrders((), None), dt.datetime(2026, 1, 6, 9, tzinfo=dt.UTC)
    monkeypatch.setattr("tradingdata.watch.updates._at", lambda _: now)
    for hours, body in enumerate([FULL, FULL[1:], FULL[1:5], FULL[1:]]):
        now += dt.timedelta(hours=[0, 1, 25, 1][hours])
        update = state.received(order_book(body))
    assert update is not None
    assert reported(update) == [("returned", "5", ())]
    update = state.received(order_book(FULL))
    assert update is not None
    assert reported(update) == [("new", "0", ())]
