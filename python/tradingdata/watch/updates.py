"""Updates of the books that are polled: what each poll brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from ..books.book import OrderBook, TradeBook
    from ..books.diff import OrderChange
    from ..books.records import Trade
    from ..errors import TradingDataError


class _OrderUpdateFields(NamedTuple):
    orders: OrderBook
    changes: tuple[OrderChange, ...]
    missed: TradingDataError | None
    at: datetime
    rollover: bool = False


class _TradeUpdateFields(NamedTuple):
    trades: TradeBook
    fills: tuple[Trade, ...]
    missed: TradingDataError | None
    at: datetime
    rollover: bool = False


def _known(update):  # type: ignore[no-untyped-def]
    book = update[0]
    if book is None:
        # Whoever asks often, or keeps the update, keeps no frames of those who asked before.
        raise update.missed.with_traceback(None)
    return book


class OrderUpdate(_OrderUpdateFields):
    """What one poll of the order book brought.

    Attributes:
        orders: the orders as they stand now; after a miss, as of the last good answer. Reading it
            raises the error of the miss where no answer came yet: that is not an empty book.
        changes: from the last update's orders to these, each an ``OrderChange``.
        missed: the error of a poll that failed and may pass; ``None`` where the answer was good.
        at: when the answer had arrived, or the failure was known, in UTC (aware).
        rollover: whether the book of the day that was followed is over: it was cleared, or holds
            the orders of a later day.
    """

    __slots__ = ()

    if not TYPE_CHECKING:
        orders = property(_known, doc="The book as it stands; see the class.")

    def __repr__(self) -> str:
        text: str = _shown(self, "orders", "changes")  # type: ignore[no-untyped-call]
        return text


class TradeUpdate(_TradeUpdateFields):
    """What one poll of the trade book brought.

    Attributes:
        trades: the trade book as it stands now; after a miss, as of the last good answer. Reading
            it raises the error of the miss where no answer came yet.
        fills: the trades that were not told before; they own their storage.
        missed: the error of a poll that failed and may pass; ``None`` where the answer was good.
        at: when the answer had arrived, or the failure was known, in UTC (aware).
        rollover: whether the book of the day that was followed is over: it was cleared, or holds
            trades of a later day.
    """

    __slots__ = ()

    if not TYPE_CHECKING:
        trades = property(_known, doc="The book as it stands; see the class.")

    def __repr__(self) -> str:
        text: str = _shown(self, "trades", "fills")  # type: ignore[no-untyped-call]
        return text


def _shown(update, what, news):  # type: ignore[no-untyped-def]
    book = update[0]
    parts = [
        f"{update.at:%H:%M:%S}Z",
        f"{what} unknown" if book is None else f"{len(book):,} {what}",
    ]
    parts.append(f"{len(update[1]):,} {news}")
    if update.rollover:
        parts.append("rollover")
    if update.missed is not None:
        parts.append(f"missed: {type(update.missed).__name__}")
    return f"<{type(update).__name__} {', '.join(parts)}>"
