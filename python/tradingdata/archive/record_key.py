"""The rows of a book as an archive stores them, each with its key, its day and its JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..books.book import OrderBook, TradeBook

if TYPE_CHECKING:
    from datetime import date, datetime

    AnyBook = TradeBook | OrderBook

BOOKS: dict[str, type[TradeBook] | type[OrderBook]] = {"trades": TradeBook, "orders": OrderBook}

# The field that numbers a record, and the times that determine its day: the first that is known.
_NUMBER = {"trades": "trade_no", "orders": "order_no"}
_TIMES = {
    "trades": ("exch_trade_time", "order_date_time"),
    "orders": ("order_date_time", "exch_order_time"),
}


class Key(NamedTuple):
    """Identifies a record among those of its book and account.

    ``leg`` is an order's leg. For a trade it is the order number, because both sides of a
    self-trade have the same trade number, and a later response may lack one of them.
    """

    day: str
    client_id: str
    exchange: str
    segment: str
    number: str
    leg: str
    repeat: int


class Row(NamedTuple):
    """A record to store; ``time`` is the time that determines its day, or ``""``."""

    key: Key
    time: str
    json: str


def name_of(book: AnyBook) -> str:
    """Returns ``"trades"`` or ``"orders"``. Raises TypeError for any other type of book."""
    for name, kind in BOOKS.items():
        if isinstance(book, kind):
            return name
    raise TypeError(f"an archive keeps a TradeBook or an OrderBook, not {type(book).__name__}")


def rows_of(book: AnyBook, other_day: date) -> list[Row]:
    """Returns the book's rows in order; a row without a time is assigned to ``other_day``.

    Rows with the same key are numbered (``repeat``), so that none is lost.
    """
    name = name_of(book)
    columns = ["client_id", "exchange", "segment", _NUMBER[name]]
    texts = [_texts(book, column) for column in columns]
    legs = map(_leg, book._rows.column("leg_no")) if name == "orders" else _texts(book, "order_no")
    times = _times(book, name)
    seen: Counter[tuple[str, ...]] = Counter()
    rows = []
    jsons = book._rows.record_texts()
    for client, exchange, segment, number, leg, time, json in zip(
        *texts, legs, times, jsons, strict=True
    ):
        day = time[:10] or other_day.isoformat()
        plain = (day, client, exchange, segment, number, leg)
        rows.append(Row(Key(*plain, seen[plain]), time, json))
        seen[plain] += 1
    return rows


def _texts(book: AnyBook, name: str) -> list[str]:
    return [value or "" for value in book._rows.column(name)]


def _times(book: AnyBook, name: str) -> list[str]:
    """Returns the time that determines each row's day, as text, without a time zone."""
    first, second = (book._rows.column(column) for column in _TIMES[name])
    return [_clock(a or b) for a, b in zip(first, second, strict=True)]


def _clock(time: datetime | None) -> str:
    return "" if time is None else time.replace(tzinfo=None).isoformat(" ")


def _leg(leg: float | None) -> str:
    return "" if leg is None else f"{leg:.17g}"
