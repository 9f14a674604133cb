"""What happened to the orders of a day: from one book to another, and from one poll to the next."""

from __future__ import annotations

from collections import namedtuple

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Literal, NamedTuple

    from ..books.book import OrderBook, TradeBook
    from ..books.records import Order, Trade
    from ..errors import TradingDataError

    class _ChangeFields(NamedTuple):
        kind: Literal["new", "changed", "gone"]
        order: Order
        previous: Order | None
        fields: tuple[str, ...]

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
else:
    _ChangeFields = namedtuple("OrderChange", "kind order previous fields")
    _OrderUpdateFields = namedtuple(
        "OrderUpdate", "orders changes missed at rollover", defaults=(False,)
    )
    _TradeUpdateFields = namedtuple(
        "TradeUpdate", "trades fills missed at rollover", defaults=(False,)
    )


def _known(update):  # type: ignore[no-untyped-def]
    book = update[0]
    if book is None:
        # Whoever asks often, or keeps the update, keeps no frames of those who asked before.
        raise update.missed.with_traceback(None)
    return book


class OrderChange(_ChangeFields):
    """An order that is new, has changed or is gone; its records own their storage.

    Attributes:
        kind: ``"new"``, ``"changed"`` or ``"gone"``. Gone says that the order does not stand in the
            book any more, and nothing of why: never that it was cancelled.
        order: the order as it stands; of one that is gone, as it stood last.
        previous: the order as it stood before; ``None`` of a new one.
        fields: wire names of what changed, in the record's order, unknown fields behind; empty
            unless the kind is ``"changed"``.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        order = self.order
        known = (self.kind, order.order_no, order.symbol, order.txn_type)
        what = " ".join(part for part in known if part)
        shown = [self._told(name) for name in self.fields[:4]]
        more = f" and {len(self.fields) - 4} more" if len(self.fields) > 4 else ""
        told = f" ({', '.join(shown)}{more})" if shown else ""
        return f"<OrderChange {what}{told}>"

    def _told(self, name: str) -> str:
        from ..display.preview import value_of

        if any(name == known and personal for known, _, _, personal in _core.fields_of("Order")):
            return name
        return f"{name}: {value_of(self.previous, name)!r} -> {value_of(self.order, name)!r}"


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


def names(ignore: Iterable[str]) -> list[str]:
    """The fields that do not count, checked."""
    if isinstance(ignore, str):
        raise TypeError(f"ignore= takes names of fields, not the text {ignore!r}")
    listed = list(ignore)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(f"ignore= takes names of fields, not {name!r}")
    return listed


def order_diff(orders: OrderBook, previous: OrderBook, ignore: list[str]) -> _core.OrderDiff:
    """The core's comparison of two books."""
    return _core.OrderDiff(
        orders._table, orders._start, orders._stop,
        previous._table, previous._start, previous._stop, ignore,
    )  # fmt: skip
