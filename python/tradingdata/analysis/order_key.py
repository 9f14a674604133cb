"""Orders and trades by order: what each side says of it, summed over legs and fills.

The key is the account, the day of the order's entry, exchange, segment and order number: all of
them stand in both books, and over several days a number may come again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from .validation import read

if TYPE_CHECKING:
    from ..books.book import OrderBook, TradeBook

Key = tuple[Any, ...]

_KEY = ("client_id", "order_date_time", "exchange", "segment", "order_no")
ASIDES = ("client_id", "day", "segment")  # what a display can do without


@dataclass(frozen=True, slots=True, kw_only=True)
class OfOrder:
    """What begins each row about an order: which one it is.

    Attributes:
        client_id: the account; with the next four, the key of the row.
        day: when the order was entered.
        exchange: its exchange.
        segment: its segment.
        order_no: its number.
        symbol: trading symbol.
    """

    client_id: str | None
    day: date | None
    exchange: str | None
    segment: str | None
    order_no: str | None
    symbol: str | None


def keys_of(book: OrderBook | TradeBook) -> list[Key]:
    """Each row's order: account, day of entry, exchange, segment, order number."""
    client, entered, *rest = read(book, *_KEY)
    days = [time and time.date() for time in entered]
    return list(zip(client, days, *rest, strict=True))


def days_of(keys: list[Key]) -> set[date | None]:
    """The days on which the orders were entered."""
    return {key[1] for key in keys}


def rows_by_order(keys: list[Key]) -> dict[Key, list[int]]:
    """The rows of each order, in the order of the book."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    return rows


def trades_by_order(
    trades: TradeBook, orders: dict[Key, list[int]]
) -> tuple[dict[Key, list[int]], int]:
    """The rows of each order's trades, and how many trades belong to other days than the orders.

    A trade that does not tell when its order was entered belongs to the orders' days.
    """
    days = days_of(list(orders)) | {None}
    rows = rows_by_order(keys_of(trades))
    other_days = sum(len(found) for key, found in rows.items() if key[1] not in days)
    if not orders:
        return {}, len(trades)
    return {key: found for key, found in rows.items() if key[1] in days}, other_days
