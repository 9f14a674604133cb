"""The updates that a watch yields, one for each poll. They only hold results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from ..books.book import OrderBook, TradeBook
    from ..books.diff import OrderChange
    from ..errors import TradingDataError
    from ..table.rows import Trade


class _OrderUpdateFields(NamedTuple):
    orders: OrderBook | None
    changes: tuple[OrderChange, ...]
    missed: TradingDataError | None
    at: datetime
    rollover: bool = False


class _TradeUpdateFields(NamedTuple):
    trades: TradeBook | None
    fills: tuple[Trade, ...]
    missed: TradingDataError | None
    at: datetime
    rollover: bool = False


def _without_book(update: OrderUpdate | TradeUpdate) -> TradingDataError:
    assert update.missed is not None
    # Each access would otherwise extend the traceback and keep more frames alive.
    return update.missed.with_traceback(None)


class OrderUpdate(_OrderUpdateFields):
    """The result of one poll of the order book.

    Attributes:
        orders: The current orders; after a miss, those of the last good response. Raises the error
            of the miss if there was no good response yet: that is not an empty book.
        changes: The changes since the previous update, each an ``OrderChange``.
        missed: The error of a failed poll that may succeed later; ``None`` after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
        rollover: Whether the day of the book is over: it was cleared, or holds orders of a later
            day.
    """

    __slots__ = ()

    @property
    def orders(self) -> OrderBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    def __repr__(self) -> str:
        return _text(self, "orders", "changes")


class TradeUpdate(_TradeUpdateFields):
    """The result of one poll of the trade book.

    Attributes:
        trades: The current trade book; after a miss, that of the last good response. Raises the
            error of the miss if there was no good response yet.
        fills: The trades not reported before; they own their storage.
        missed: The error of a failed poll that may succeed later; ``None`` after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
        rollover: Whether the day of the book is over: it was cleared, or holds trades of a later
            day.
    """

    __slots__ = ()

    @property
    def trades(self) -> TradeBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    def __repr__(self) -> str:
        return _text(self, "trades", "fills")


def _clock(at: datetime, zone: tzinfo | None) -> str:
    """Returns the time of day in the zone of the book, or in UTC."""
    if zone is None:
        return f"{at:%H:%M:%S}Z"
    return at.astimezone(zone).isoformat(timespec="seconds").partition("T")[2]


def _text(update: OrderUpdate | TradeUpdate, what: str, news: str) -> str:
    book = update[0]
    parts = [
        _clock(update.at, None if book is None else book._rows.zone),
        f"{what} unknown" if book is None else f"{len(book):,} {what}",
    ]
    parts.append(f"{len(update[1]):,} {news}")
    if update.rollover:
        parts.append("rollover")
    if update.missed is not None:
        parts.append(f"missed: {type(update.missed).__name__}")
    return f"<{type(update).__name__} {', '.join(parts)}>"
