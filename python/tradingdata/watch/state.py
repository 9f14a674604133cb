"""What a watch knows, as a pure state: fed with answers and misses, it gives the updates."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..books.diff import OrderChange, checked_ignore, order_diff
from .updates import OrderUpdate, TradeUpdate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date
    from typing import Any

    from ..errors import TradingDataError

# So many answers in a row must say that an order's last update lies before the one that is known.
ANSWERS_TO_BELIEVE = 3

# What makes a fill one, together with its day, since the exchanges count anew each day: its number
# on an exchange and segment. Both sides of a trade that an account made with itself bear one
# number, and are two fills by their orders.
FILL_KEY = ("trade_no", "exchange", "segment", "order_no")


class Day:
    """The day whose book is followed, and when it is over."""

    def __init__(self) -> None:
        self._latest: date | None = None
        self._cleared = False

    def is_over(self, known: int, rows: int, latest: datetime | None) -> bool:
        """Whether an answer ends the day: of ``rows`` rows after ``known``, the last of ``latest``.

        The service clears the book after the session and at no other time, so one that was not
        empty and now is was cleared. A day that is over by that is not over once more when the
        rows of the next one come.
        """
        cleared = known > 0 and rows == 0
        day = None if latest is None else latest.date()
        later = day is not None and self._latest is not None and day > self._latest
        over = cleared or (later and not self._cleared)
        self._cleared = cleared or (self._cleared and rows == 0)
        if later or self._latest is None:
            self._latest = day
        return over


def _column(book: OrderBook | TradeBook, name: str) -> list[Any]:
    return book._table.column(name, book._start, book._stop)


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _at(book: OrderBook | TradeBook) -> datetime:
    at = None if book.response is None else book.response.received_at
    return datetime.now(UTC) if at is None else at


class OrderState:
    """The orders as they stand after each good answer."""

    def __init__(self, ignore: Iterable[str], previous: OrderBook | None) -> None:
        if previous is not None and not isinstance(previous, OrderBook):
            raise TypeError(f"previous= takes an OrderBook, not {type(previous).__name__}")
        self._ignore = checked_ignore(ignore)
        # Without a zone, as the answers that come: rows of both may have to stand in one book.
        self._orders = None if previous is None else previous.localize(None)
        self._doubts: dict[tuple[Any, ...], int] = {}
        self._day = Day()
        if previous is not None:
            self._day.is_over(0, len(previous), _latest(_column(previous, "order_date_time")))

    def missed(self, error: TradingDataError) -> OrderUpdate:
        """The update of a poll that failed."""
        return OrderUpdate(self._orders, (), error, datetime.now(UTC))  # type: ignore[arg-type]

    def answered(self, answer: OrderBook) -> OrderUpdate:
        """The update of a good answer."""
        known = OrderBook() if self._orders is None else self._orders
        diff = order_diff(answer, known, self._ignore)
        held = self._held(answer, diff.older)
        changes = tuple(map(OrderChange._make, diff.changes(frozenset(held))))
        latest = _latest(_column(answer, "order_date_time"))
        over = self._day.is_over(len(known), len(answer), latest)
        self._orders = _with_rows(answer, known, held) if held else answer
        return OrderUpdate(self._orders, changes, None, _at(answer), over)

    def _held(self, answer: OrderBook, older: list[tuple[int, int, int]]) -> dict[int, int]:
        """The answer's rows that are not believed yet, with the known rows that stand for them."""
        doubts = {}
        held = {}
        for row, known, occurrence in older:
            order = answer._table.row(row)
            key = (order.exchange, order.segment, order.order_no, order.leg_no, occurrence)
            count = self._doubts.get(key, 0) + 1
            if count < ANSWERS_TO_BELIEVE:
                doubts[key] = count
                held[row] = known
        self._doubts = doubts
        return held


def _with_rows(answer: OrderBook, known: OrderBook, held: dict[int, int]) -> OrderBook:
    """The answer, with rows of the known orders in the places of some of its own."""
    parts = []
    begin = answer._start
    for row in sorted(held):
        parts.append((answer._table, begin, row))
        parts.append((known._table, held[row], held[row] + 1))
        begin = row + 1
    parts.append((answer._table, begin, answer._stop))
    return OrderBook._of(_core.join("Order", parts), issues=answer.issues)


class TradeState:
    """The fills that were told, and the trade book as it stands."""

    def __init__(self, previous: TradeBook | None) -> None:
        if previous is not None and not isinstance(previous, TradeBook):
            raise TypeError(f"previous= takes a TradeBook, not {type(previous).__name__}")
        self._trades = None if previous is None else previous.localize(None)
        self._told: set[tuple[Any, ...]] = set()
        self._day = Day()
        if previous is not None:
            self._untold(previous)
            self._day.is_over(0, len(previous), _latest(_column(previous, "exch_trade_time")))

    def missed(self, error: TradingDataError) -> TradeUpdate:
        """The update of a poll that failed."""
        return TradeUpdate(self._trades, (), error, datetime.now(UTC))  # type: ignore[arg-type]

    def answered(self, answer: TradeBook) -> TradeUpdate:
        """The update of a good answer."""
        before, self._trades = self._trades, answer
        if answer == before:  # a comparison in C++: far cheaper than to look at each row below
            return TradeUpdate(answer, (), None, _at(answer))
        parts = _in_parts(self._untold(answer))
        fills = tuple(row for part in parts for row in TradeBook._of(answer._table.take(part)))
        latest = _latest(_column(answer, "exch_trade_time"))
        over = self._day.is_over(0 if before is None else len(before), len(answer), latest)
        return TradeUpdate(answer, fills, None, _at(answer), over)

    def _untold(self, trades: TradeBook) -> list[int]:
        """The rows of fills that were not told, which count as told from now on."""
        days = map(_day_of, _column(trades, "exch_trade_time"), _column(trades, "order_date_time"))
        keys = zip(days, *(_column(trades, name) for name in FILL_KEY), strict=True)
        unnumbered: Counter[tuple[Any, ...]] = Counter()
        rows = []
        for row, key in enumerate(keys, trades._start):
            if key[1] is None or key[1] == "":  # each of these is a fill of its own
                unnumbered[key] += 1
                key = (*key, unnumbered[key])
            if key not in self._told:
                self._told.add(key)
                rows.append(row)
        return rows


def _day_of(traded: datetime | None, ordered: datetime | None) -> date | None:
    moment = ordered if traded is None else traded
    return None if moment is None else moment.date()


def _in_parts(rows: list[int], size: int = 16) -> list[list[int]]:
    """A few rows at a time: who keeps one of them keeps so many at the most."""
    return [rows[i : i + size] for i in range(0, len(rows), size)]
