"""The state of a watch, without I/O: computes updates from responses and failures."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..books.diff import OrderDiff, checked_ignore, in_parts
from .updates import OrderUpdate, TradeUpdate
from .where import Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date
    from typing import Any, TypeVar

    from ..errors import TradingDataError
    from ..table.rows import Order, Trade

    OrdersWhere = Mapping[str, Any] | Callable[[Order], object] | None
    TradesWhere = Mapping[str, Any] | Callable[[Trade], object] | None
    AnyBook = TypeVar("AnyBook", OrderBook, TradeBook)

# An order that moves back in time is accepted once this many consecutive responses agree on it.
# A replica that lags behind for a moment must not undo known changes.
RESPONSES_TO_BELIEVE = 3

# Identifies a fill within a day; exchanges restart their numbers daily. Both sides of a self-trade
# have one trade number, so the order number is part of the key.
FILL_KEY = ("trade_no", "exchange", "segment", "order_no")


class Day:
    """The trading day of the watched book."""

    def __init__(self) -> None:
        self._latest: date | None = None
        self._cleared = False

    def is_over(self, known: int, rows: int, latest: datetime | None) -> bool:
        """Returns whether a response ends the day.

        The service clears the book after the session and at no other time, so a book that becomes
        empty has been cleared. The first rows of the next day then do not end the day again.

        Args:
            known: Number of rows before the response.
            rows: Number of rows of the response.
            latest: Latest timestamp of the response.
        """
        cleared = known > 0 and rows == 0
        day = None if latest is None else latest.date()
        later = day is not None and self._latest is not None and day > self._latest
        over = cleared or (later and not self._cleared)
        self._cleared = cleared or (self._cleared and rows == 0)
        if later or self._latest is None:
            self._latest = day
        return over


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _in_zone_of(response: AnyBook, book: AnyBook) -> AnyBook:
    """Returns an earlier book in the zone of the response, to be compared and joined with it."""
    zone = response._rows.zone
    return book if book._rows.zone == zone else book.localize(None).localize(zone)


def _at(book: OrderBook | TradeBook) -> datetime:
    at = None if book.response is None else book.response.received_at
    return datetime.now(UTC) if at is None else at


class OrderState:
    """The orders after each successful poll."""

    def __init__(
        self,
        ignore: Iterable[str],
        previous: OrderBook | None,
        where: OrdersWhere = None,
    ) -> None:
        if previous is not None and not isinstance(previous, OrderBook):
            raise TypeError(f"previous= takes an OrderBook, not {type(previous).__name__}")
        self._ignore = checked_ignore(ignore)
        self._where: Where[Order] = Where(OrderBook, where)
        self._orders = previous
        # For each order key, the older state that the latest responses agree on, and their number.
        self._doubts: dict[tuple[Any, ...], tuple[_core.Slice, int]] = {}
        self._day = Day()
        if previous is not None:
            self._day.is_over(0, len(previous), _latest(previous._rows.column("order_date_time")))

    def missed(self, error: TradingDataError) -> OrderUpdate:
        """Returns the update for a failed poll."""
        return OrderUpdate(self._orders, (), error, datetime.now(UTC))

    def received(self, response: OrderBook) -> OrderUpdate:
        """Returns the update for a successful poll."""
        known = OrderBook() if self._orders is None else _in_zone_of(response, self._orders)
        diff = OrderDiff(response._rows, known._rows, self._ignore)
        held = self._held(response, diff)
        changes = self._where.changes([*diff.changes(without=held)])
        latest = _latest(response._rows.column("order_date_time"))
        over = self._day.is_over(len(known), len(response), latest)
        self._orders = _with_rows(response, known, held) if held else response
        return OrderUpdate(self._orders, changes, None, _at(response), over)

    def _held(self, response: OrderBook, diff: OrderDiff) -> dict[int, int]:
        """Maps each row of the response not yet accepted to the known row that replaces it."""
        doubts = {}
        held = {}
        for row, known in diff.older():
            key = diff.keys[row]
            state = response._rows.take([row])
            doubted, count = self._doubts.get(key, (None, 0))
            count = count + 1 if doubted is not None and self._agree(state, doubted) else 1
            if count < RESPONSES_TO_BELIEVE:
                doubts[key] = (state, count)
                held[row] = known
        self._doubts = doubts
        return held

    def _agree(self, state: _core.Slice, doubted: _core.Slice) -> bool:
        """Returns whether two states of an order are equal.

        A replica that lags but catches up differs in value or time from response to response.
        """
        same_time = state[0].last_updated_time == doubted[0].last_updated_time
        return same_time and not OrderDiff(state, doubted, self._ignore).changes()


def _with_rows(response: OrderBook, known: OrderBook, held: dict[int, int]) -> OrderBook:
    """Returns the response with the known rows in place of those held."""
    parts = []
    begin = 0
    for row in sorted(held):
        parts.append(response._rows[begin:row])
        parts.append(known._rows[held[row] : held[row] + 1])
        begin = row + 1
    parts.append(response._rows[begin:])
    return OrderBook._of(_core.join(parts), issues=response.issues)


class TradeState:
    """The trade book after each successful poll, and the fills reported so far."""

    def __init__(self, previous: TradeBook | None, where: TradesWhere = None) -> None:
        if previous is not None and not isinstance(previous, TradeBook):
            raise TypeError(f"previous= takes a TradeBook, not {type(previous).__name__}")
        self._where: Where[Trade] = Where(TradeBook, where)
        self._trades = previous
        self._reported: set[tuple[Any, ...]] = set()
        self._day = Day()
        if previous is not None:
            self._unreported(previous)
            self._day.is_over(0, len(previous), _latest(previous._rows.column("exch_trade_time")))

    def missed(self, error: TradingDataError) -> TradeUpdate:
        """Returns the update for a failed poll."""
        return TradeUpdate(self._trades, (), error, datetime.now(UTC))

    def received(self, response: TradeBook) -> TradeUpdate:
        """Returns the update for a successful poll."""
        before = None if self._trades is None else _in_zone_of(response, self._trades)
        self._trades = response
        if response == before:  # compared in C++, far cheaper than building keys below
            return TradeUpdate(response, (), None, _at(response))
        parts = in_parts(self._unreported(response))
        rows = [row for part in parts for row in response._rows.take(part)]
        fills = self._where.of(rows)
        latest = _latest(response._rows.column("exch_trade_time"))
        over = self._day.is_over(0 if before is None else len(before), len(response), latest)
        return TradeUpdate(response, fills, None, _at(response), over)

    def _unreported(self, trades: TradeBook) -> list[int]:
        """Returns the rows of fills not reported before, and marks them as reported."""
        column = trades._rows.column
        days = map(_day_of, column("exch_trade_time"), column("order_date_time"))
        keys = zip(days, *map(column, FILL_KEY), strict=True)
        unnumbered: Counter[tuple[Any, ...]] = Counter()
        rows = []
        for row, key in enumerate(keys):
            if key[1] is None or key[1] == "":  # no trade number: every occurrence is a fill
                unnumbered[key] += 1
                key = (*key, unnumbered[key])
            if key not in self._reported:
                self._reported.add(key)
                rows.append(row)
        return rows


def _day_of(traded: datetime | None, ordered: datetime | None) -> date | None:
    moment = ordered if traded is None else traded
    return None if moment is None else moment.date()
