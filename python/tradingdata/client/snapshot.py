"""Orders and trades that belong together: asked for again until each order's fills are in both.

The two books are two calls, and the day goes on between them. They belong together where, for every
order of the order book's days, ``traded_qty`` summed over its legs is the ``quantity`` summed over
its trades; prices do not count. The steps are here; either client takes them in its own way.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis import Reconciliation, reconcile
from ..books.book import OrderBook, TradeBook
from ..errors import BooksDisagreeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.0, 1.0)  # seconds before each round of asking again
_FIRST_PAUSE = _PAUSES[0]
_LEAST_TIME = 0.001  # seconds; a call that is late fails as calls do
_NAMED = 3  # orders that an error names


class Books(NamedTuple):
    """The two books of one account that belong together: ``orders, trades = client.books()``."""

    orders: OrderBook
    trades: TradeBook


class Gaps(NamedTuple):
    """The orders on which two books disagree, and which of the books is behind."""

    differences: Reconciliation
    orders_behind: bool
    trades_behind: bool


class Step(NamedTuple):
    """Which book to ask for, after how many seconds, and how many the call may then take."""

    kind: type[Any]
    wait: float
    time_left: float


class Together:
    """The askings of one ``books()``: iterated, it says what to ask next; ``take`` has the answer.

    The trades go first, so that the orders are no older. Then the book that is behind is asked for
    again: the orders where a trade is not in them yet, the trades where a fill is not in those yet.
    Iterating raises BooksDisagreeError when that was done often enough, or the time is too short.
    """

    def __init__(self, budget: float, account: str | None) -> None:
        self._deadline = time.monotonic() + budget
        self._account = account
        self._orders = OrderBook()
        self._trades = TradeBook()

    @property
    def books(self) -> Books:
        """The last answers of both."""
        return Books(self._orders, self._trades)

    def take(self, book: OrderBook | TradeBook) -> None:
        """Keeps an answer."""
        if isinstance(book, OrderBook):
            self._orders = book
        else:
            self._trades = book

    def __iter__(self) -> Iterator[Step]:
        yield self._step(TradeBook)
        yield self._step(OrderBook)
        gaps = gaps_between(*self.books)
        if not len(self._orders) and len(self._trades):
            # Orders that are gone have no day to compare; once more, in case they are only late.
            yield self._step(OrderBook, _FIRST_PAUSE)
            gaps = gaps_between(*self.books)
        for pause in _PAUSES:
            if not gaps.differences or self._time_left() <= pause:
                break
            if gaps.trades_behind:
                yield self._step(TradeBook, pause)
            if gaps.orders_behind:
                yield self._step(OrderBook, 0.0 if gaps.trades_behind else pause)
            gaps = gaps_between(*self.books)
        if gaps.differences:
            raise self._disagreement(gaps.differences)

    def _step(self, kind: type[OrderBook] | type[TradeBook], wait: float = 0.0) -> Step:
        return Step(kind, wait, max(self._time_left() - wait, _LEAST_TIME))

    def _time_left(self) -> float:
        return self._deadline - time.monotonic()

    def _disagreement(self, differences: Reconciliation) -> BooksDisagreeError:
        named = [
            f"{row.order_no!r} on {row.exchange} ({_told(row.orders_quantity, row.legs)} filled "
            f"in the order book, {_told(row.trades_quantity, row.fills)} in the trade book)"
            for row in differences[:_NAMED]
        ]
        if len(differences) > _NAMED:
            named.append(f"{len(differences) - _NAMED} more")
        error = BooksDisagreeError(
            f"orders and trades were asked for again and do not agree on {', '.join(named)}: call "
            "again later, or go on with the last of both in .books; .differences has the orders"
        )
        error.account, error.retryable = self._account, True
        error.books, error.differences = self.books, differences
        return error


def gaps_between(orders: OrderBook, trades: TradeBook) -> Gaps:
    """Where the books disagree on what was filled. A missing quantity agrees with nothing."""
    found = reconcile(orders, trades)
    if not len(orders):
        return Gaps(found._take([]), orders_behind=False, trades_behind=False)
    quantities = found.to_dict(["orders_quantity", "trades_quantity"]).values()
    pairs = list(zip(*quantities, strict=True))
    apart = [row for row, pair in enumerate(pairs) if None in pair or pair[0] != pair[1]]
    return Gaps(
        found._take(apart),
        any(_is_behind(*pairs[row]) for row in apart),
        any(_is_behind(*reversed(pairs[row])) for row in apart),
    )


def _is_behind(here: float | None, there: float | None) -> bool:
    return here is None or (there is not None and here < there)


def _told(quantity: float | None, rows: int) -> str:
    if not rows:
        return "nothing"
    return "an unknown quantity" if quantity is None else f"{quantity:,.15g}"
