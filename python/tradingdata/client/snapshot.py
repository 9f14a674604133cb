"""Consistent pairs of books: the sequence of requests behind ``books()``.

The two books come from two requests, and fills may arrive in between. They are consistent if, for
every order of the order book's days, ``traded_qty`` summed over its legs equals ``quantity`` summed
over its trades, or exceeds it for an order of an earlier day; prices are not compared. Both clients
run the same sequence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date
from typing import Any

from .._util.declarations import RECORDS
from .._util.waiting import Plan
from ..analysis.reconciliation import Reconciliation, compared
from ..books.book import AnyBook, Books, OrderBook, TradeBook
from ..errors import BooksDisagreeError
from .calls import BaseClient

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.0, 1.0)  # seconds before each repetition
_LEAST_TIME = 0.001  # seconds; a call that starts too late then fails with a DeadlineError
_ENTERED = RECORDS["Order"]["event_times"][0]
_NAMED = 3  # number of orders listed in an error message


def snapshot(
    client: BaseClient[Any],
    timeout: float | None,
    pause: Callable[[float], object],
    compute: Callable[..., object],
) -> Plan[Books]:
    """The plan of ``books()``.

    Trades are requested first, so that the orders are never older. Then the book that lacks a fill
    is requested again, until the books agree or the time is up.

    Args:
        client: Requests the books.
        timeout: Seconds for everything; None for the client's.
        pause: Waits.
        compute: Calls a function with arguments; for large books, it takes long enough to block an
            event loop.
    """
    deadline = time.monotonic() + client._budget(timeout)

    def fetched(kind: type[AnyBook], wait: float = 0.0) -> Plan[AnyBook]:
        yield pause(wait)
        book: AnyBook = yield client._book(kind, max(deadline - time.monotonic(), _LEAST_TIME))
        return book

    trades = yield from fetched(TradeBook)
    orders = yield from fetched(OrderBook)
    if not len(orders) and len(trades):
        # An empty order book has no day to compare. It may only lag, so request it once more.
        orders = yield from fetched(OrderBook, _PAUSES[0])
    apart, trades_behind, orders_behind = yield compute(gaps_between, orders, trades)
    for wait in _PAUSES:
        if not apart or deadline - time.monotonic() <= wait:
            break
        if trades_behind:
            trades = yield from fetched(TradeBook, wait)
        if orders_behind:
            orders = yield from fetched(OrderBook, 0.0 if trades_behind else wait)
        apart, trades_behind, orders_behind = yield compute(gaps_between, orders, trades)
    if apart:
        raise _disagreement(Books(orders, trades), apart, client.account)
    return Books(orders, trades)


def _disagreement(
    books: Books, differences: Reconciliation, account: str | None
) -> BooksDisagreeError:
    named = ", ".join(map(repr, differences.to_dict(["order_no"])["order_no"][:_NAMED]))
    if len(differences) > _NAMED:
        named += f", {len(differences) - _NAMED} more"
    error = BooksDisagreeError(
        f"orders and trades still disagree on {named} after repeated requests: call again later, "
        "or use the latest pair in .books; .differences lists the orders",
        account=account,
        retryable=True,
    )
    error.books, error.differences = books, differences
    return error


def gaps_between(orders: OrderBook, trades: TradeBook) -> tuple[Reconciliation, bool, bool]:
    """Returns the orders whose filled quantities differ; whether trades, and orders, are behind.

    A missing quantity always differs. Of an order that was entered on an earlier day, the trade
    book may lack the fills of that day.
    """
    compared_orders, _ = compared(orders, trades, 0.0, lambda _: 1)  # quantities need no multiplier
    quantities = compared_orders.to_dict(["trades_quantity", "orders_quantity"]).values()
    pairs = list(zip(*quantities, strict=True)) if len(orders) else []
    apart = [row for row, pair in enumerate(pairs) if None in pair or pair[0] != pair[1]]
    if apart:
        last, still_valid = _last_day(orders, trades), _valid_today(orders)
        entered = list(zip(*compared_orders.to_dict(["day", "order_no"]).values(), strict=True))

        def carried_over(row: int) -> bool:
            day, number = entered[row]
            is_earlier = day is not None and last is not None and day < last
            return (is_earlier or number in still_valid) and not _is_behind(*pairs[row][::-1])

        apart = [row for row in apart if None in pairs[row] or not carried_over(row)]
    trades_behind = any(_is_behind(*pairs[row]) for row in apart)
    return (
        compared_orders._taken(apart),
        trades_behind,
        any(_is_behind(*pairs[row][::-1]) for row in apart),
    )


def _last_day(orders: OrderBook, trades: TradeBook) -> date | None:
    """Returns the last day on which an order was entered or executed."""
    moments = (
        moment
        for book in (orders, trades)
        for name in RECORDS[book._record]["event_times"]
        for moment in book._rows.column(name)
    )
    return max((moment.date() for moment in moments if moment is not None), default=None)


def _valid_today(orders: OrderBook) -> set[str | None]:
    """Returns the numbers of orders of earlier days that are valid on the day of the response."""
    at = None if orders.response is None else orders.response.received_at
    if at is None:
        return set()
    today = at.astimezone(orders._rows.zone or UTC).date()
    columns = map(orders._rows.column, ("order_no", _ENTERED, "good_till_days_date"))
    return {
        number
        for number, entered, until in zip(*columns, strict=True)
        if entered is not None and until is not None and entered.date() < today <= until
    }


def _is_behind(here: float | None, there: float | None) -> bool:
    return here is None or (there is not None and here < there)
