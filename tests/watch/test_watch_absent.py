"""What a watch has seen it knows: records absent for a poll, and cleared books."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from tradingdata.watch.updates import KnownOrders, KnownTrades
from watching import (
    Clock,
    Polls,
    Record,
    order_book,
    order_updates,
    reported,
    some_orders,
    some_trades,
    trade_book,
    trade_updates,
    until_over,
    watched,
)

FULL = some_orders(6)
CLEARED: list[list[Record]] = [[], FULL[:1], FULL[:3]]


def test_an_order_that_was_absent_and_comes_back_has_returned() -> None:
    """F162: it is not new; what has changed meanwhile is named."""
    changed = [{**FULL[0], "status": "Other"}, *FULL[1:]]
    updates = list(order_updates(FULL, FULL[1:], FULL, FULL[1:], changed))
    assert [reported(update) for update in updates[1:]] == [
        [("gone", "0", ())],
        [("returned", "0", ())],
        [("gone", "0", ())],
        [("returned", "0", ("status",))],
    ]
    (back,) = updates[4].changes
    assert back.previous is not None
    assert (back.previous.status, back.order.status) == (FULL[0]["status"], "Other")


@pytest.mark.parametrize("rest", CLEARED, ids=len)
def test_a_book_that_most_orders_left_is_cleared(rest: list[Record]) -> None:
    updates = list(order_updates(FULL, rest, rest, FULL))
    assert [update.cleared for update in updates] == [False, True, False, False]
    assert [len(update.orders) for update in updates] == [6, len(rest), len(rest), 6]
    assert [update.changes for update in updates[1:3]] == [(), ()]
    assert {kind for kind, _, _ in reported(updates[3])} == {"returned"}
    assert len(updates[3].changes) == 6 - len(rest)


@pytest.mark.parametrize(
    ("before", "after", "cleared"), [(1, 0, 1), (2, 1, 0), (3, 1, 1), (4, 3, 0)]
)
def test_one_order_that_leaves_others_is_gone(before: int, after: int, cleared: int) -> None:
    _, update = order_updates(FULL[:before], FULL[:after])
    assert (update.cleared, len(update.changes)) == (bool(cleared), 0 if cleared else 1)


class Flapping:
    """A service that has responses one by one, whatever is asked for the second time."""

    def __init__(self, clock: Clock, *responses: Any) -> None:
        self.polls = Polls(responses, clock, confirms=False)

    def __call__(self) -> Any:
        return self.polls()


@pytest.mark.parametrize("bad", [[], FULL[1:], FULL[:2]], ids=len)
def test_a_response_that_lacks_orders_is_asked_for_again(bad: list[Record]) -> None:
    """F162: an empty, null or partial book for one response leaves no trace."""
    clock = Clock()
    full = order_book(FULL)
    service = Flapping(clock, full, order_book(bad), full, full)
    updates = list(until_over(watched(service, KnownOrders((), None), clock)))
    assert [len(update.orders) for update in updates] == [6, 6, 6]
    assert [(update.changes, update.cleared) for update in updates[1:]] == [((), False)] * 2
    assert [at - service.polls.at[0] for at in service.polls.at] == [0, 5, 6, 10, 15]


def test_a_response_that_is_not_confirmed_is_a_miss() -> None:
    clock = Clock()
    full, error = order_book(FULL), td.ServerError("down")
    service = Flapping(clock, full, order_book([]), error, full)
    updates = list(until_over(watched(service, KnownOrders((), None), clock)))
    assert [update.missed for update in updates] == [None, error, None]
    assert [len(update.orders) for update in updates] == [6, 6, 6]
    assert updates[2].changes == ()


def test_a_book_that_was_never_full_is_not_cleared() -> None:
    """A start before the open."""
    updates = list(order_updates([], [], FULL[:1]))
    assert [update.cleared for update in updates] == [False] * 3
    assert reported(updates[2]) == [("new", "0", ())]


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


# -- trades --


def numbers(update: td.types.TradeUpdate) -> list[str | None]:
    return [fill.trade_no for fill in update.fills]


TRADES = some_trades(6)


@pytest.mark.parametrize("rest", [[], TRADES[:1], TRADES[:3]], ids=len)
def test_fills_of_a_cleared_book_are_neither_busted_nor_reported_again(rest: list[Record]) -> None:
    updates = list(trade_updates(TRADES, rest, rest, TRADES))
    assert [update.cleared for update in updates] == [False, True, False, False]
    assert [len(update.fills) for update in updates] == [6, 0, 0, 0]
    assert {update.changes for update in updates} == {()}


def test_a_fill_that_is_missing_once_a_cleared_book_is_back_is_busted() -> None:
    updates = list(trade_updates(TRADES, [], TRADES[:2], TRADES[:5], TRADES))
    assert [[change.kind for change in update.changes] for update in updates] == [
        [], [], [], ["busted"], ["returned"],
    ]  # fmt: skip
    assert [numbers(update) for update in updates[1:]] == [[]] * 4


@pytest.mark.parametrize("bad", [[], TRADES[1:], TRADES[:2]], ids=len)
def test_a_response_that_lacks_trades_is_asked_for_again(bad: list[Record]) -> None:
    clock = Clock()
    full = trade_book(TRADES)
    service = Flapping(clock, full, trade_book(bad), full)
    updates = list(until_over(watched(service, KnownTrades(None), clock)))
    assert [len(update.fills) for update in updates] == [6, 0]
    assert updates[1].changes == ()
