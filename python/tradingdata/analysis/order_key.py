"""Groups the rows of both books by order and side.

An order is identified by client, day of entry, exchange, segment and order number, which both books
have; over several days an order number may repeat. Within an order, buying and selling legs (of a
bracket order, for example) are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from .validation import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..books.book import OrderBook, TradeBook

Key = tuple[Any, ...]
Sides = dict[str | None, list[int]]  # the rows of an order by txn_type, in the order of the book

_KEY = ("client_id", "order_date_time", "exchange", "segment", "order_no")
LEAD = ("order_no",)
APART = ("account", "exchange", "txn_type", "client_id", "day", "segment")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfOrder:
    """The leading columns of every row about one side of an order.

    Attributes:
        account: Local label of the account, if known.
        client_id: Client identifier; with the next five, the key of the row.
        day: Day on which the order was entered.
        exchange: Exchange.
        segment: Market segment code.
        order_no: Order number.
        txn_type: Code of the side.
        security_id: Security identifier.
        product: Product code.
        symbol: Trading symbol.
        display_name: Custom symbol name.
    """

    account: str | None
    client_id: str | None
    day: date | None
    exchange: str | None
    segment: str | None
    order_no: str | None
    txn_type: str | None
    security_id: str | None
    product: str | None
    symbol: str | None
    display_name: str | None


ABOUT = tuple(field.name for field in fields(OfOrder))[1 + len(_KEY) :]  # from the side on


def rows_by_order(book: OrderBook | TradeBook) -> dict[Key, Sides]:
    """Returns the rows of each order by side, in the order of the book."""
    client, entered, *rest, sides = read(book, *_KEY, "txn_type")
    days = [time and time.date() for time in entered]
    rows: dict[Key, Sides] = {}
    for row, (key, side) in enumerate(
        zip(zip(client, days, *rest, strict=True), sides, strict=True)
    ):
        rows.setdefault(key, {}).setdefault(side, []).append(row)
    return rows


def trades_of_days(
    trades: dict[Key, Sides], orders: dict[Key, Sides]
) -> tuple[dict[Key, Sides], int]:
    """Splits off the trades of orders that were entered on days without orders.

    A trade without an entry time counts as one of the orders' days.

    Returns:
        The trades that remain, by order, and the number of rows split off.
    """
    days = {key[1] for key in orders} | {None}
    kept = {key: sides for key, sides in trades.items() if key[1] in days}
    other_days = sum(
        len(rows) for key in trades.keys() - kept.keys() for rows in trades[key].values()
    )
    return kept, other_days


def paired_sides(legs: Sides, fills: Sides) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs the legs and the trades of one order by side; either may be empty.

    Where a single side is left over in each book, the two are one pair, whose sides differ.
    """
    legs_left = [side for side in legs if side not in fills]
    fills_left = [side for side in fills if side not in legs]
    crossed = len(legs_left) == len(fills_left) == 1
    for side, rows in legs.items():
        matching = fills_left[0] if crossed and side in legs_left else side
        yield rows, fills.get(matching, [])
    if not crossed:
        yield from (([], fills[side]) for side in fills_left)
