"""Consistent pairs of books: the sequence of requests behind ``books()``, without any I/O.

The two books come from two requests, and fills may arrive in between. They are consistent if, for
every order of the order book's days, ``traded_qty`` summed over its legs equals ``quantity`` summed
over its trades; prices are not compared. Both clients run the same sequence.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis import Reconciliation, reconcile
from ..books.book import OrderBook, TradeBook
from ..errors import BooksDisagreeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.0, 1.0)  # seconds before each repetition
_FIRST_PAUSE = _PAUSES[0]
_LEAST_TIME = 0.001  # seconds; a call that starts too late then fails with a DeadlineError
_NAMED = 3  # number of orders listed in an error message


class Books(NamedTuple):
    """A consistent pair of books of one account: ``orders, trades = client.books()``.

    Attributes:
        orders: The order book.
        trades: The trade book, which has every fill that the orders report, and no others.
    """

    orders: OrderBook
    trades: TradeBook


class Gaps(NamedTuple):
    """The orders on which two books disagree, and which of the books is behind."""

    differences: Reconciliation
    orders_behind: bool
    trades_behind: bool


class Step(NamedTuple):
    """What to do next: compare the books, or make a request after a wait.

    Attributes:
        kind: The kind of book to request, or ``None`` to compare the books.
        wait: Seconds to wait before the request.
        time_left: Seconds that the request may take.
    """

    kind: type[Any] | None
    wait: float = 0.0
    time_left: float = 0.0


_COMPARE = Step(None)


class Snapshot:
    """The sequence of requests behind one ``books()`` call.

    Iterating yields the next step: a request, whose result ``take`` receives, or a call of
    ``compare``, which takes long enough for large books to block an event loop. Trades are
    requested first, so that the orders are never older. Then the book that lacks a fill is
    requested again. Iterating raises BooksDisagreeError after the last repetition, or when the time
    is up.
    """

    def __init__(self, budget: float, account: str | None) -> None:
        self._deadline = time.monotonic() + budget
        self._account = account
        self._orders = OrderBook()
        self._trades = TradeBook()
        self._gaps: Gaps

    @property
    def books(self) -> Books:
        """The latest order book and trade book."""
        return Books(self._orders, self._trades)

    def take(self, book: OrderBook | TradeBook) -> None:
        """Stores the result of a request."""
        if isinstance(book, OrderBook):
            self._orders = book
        else:
            self._trades = book

    def compare(self) -> None:
        """Finds the orders on which the latest books disagree."""
        self._gaps = gaps_between(*self.books)

    def __iter__(self) -> Iterator[Step]:
        yield self._step(TradeBook)
        yield self._step(OrderBook)
        yield _COMPARE
        if not len(self._orders) and len(self._trades):
            # An empty order book has no day to compare. It may only lag, so request it once more.
            yield self._step(OrderBook, _FIRST_PAUSE)
            yield _COMPARE
        for pause in _PAUSES:
            gaps = self._gaps
            if not gaps.differences or self._time_left() <= pause:
                break
            if gaps.trades_behind:
                yield self._step(TradeBook, pause)
            if gaps.orders_behind:
                yield self._step(OrderBook, 0.0 if gaps.trades_behind else pause)
            yield _COMPARE
        if self._gaps.differences:
            raise self._disagreement(self._gaps.differences)

    def _step(self, kind: type[OrderBook] | type[TradeBook], wait: float = 0.0) -> Step:
        return Step(kind, wait, max(self._time_left() - wait, _LEAST_TIME))

    def _time_left(self) -> float:
        return self._deadline - time.monotonic()

    def _disagreement(self, differences: Reconciliation) -> BooksDisagreeError:
        named = [
            f"{row.order_no!r} on {row.exchange} ({_amount(row.orders_quantity, row.legs)} filled "
            f"in the order book, {_amount(row.trades_quantity, row.fills)} in the trade book)"
            for row in differences[:_NAMED]
        ]
        if len(differences) > _NAMED:
            named.append(f"{len(differences) - _NAMED} more")
        error = BooksDisagreeError(
            f"orders and trades still disagree on {', '.join(named)} after repeated requests: call "
            "again later, or use the latest pair in .books; .differences lists the orders"
        )
        error.account, error.retryable = self._account, True
        error.books, error.differences = self.books, differences
        return error


def gaps_between(orders: OrderBook, trades: TradeBook) -> Gaps:
    """Finds the orders whose filled quantities differ; a missing quantity always differs."""
    found = reconcile(orders, trades)
    if not len(orders):
        return Gaps(found[:0], orders_behind=False, trades_behind=False)
    quantities = found.to_dict(["orders_quantity", "trades_quantity"]).values()
    pairs = list(zip(*quantities, strict=True))
    apart = [row for row, pair in enumerate(pairs) if None in pair or pair[0] != pair[1]]
    return Gaps(
        found._taken(apart),
        any(_is_behind(*pairs[row]) for row in apart),
        any(_is_behind(*reversed(pairs[row])) for row in apart),
    )


def _is_behind(here: float | None, there: float | None) -> bool:
    return here is None or (there is not None and here < there)


def _amount(quantity: float | None, rows: int) -> str:
    if not rows:
        return "nothing"
    return "an unknown quantity" if quantity is None else f"{quantity:,.15g}"
