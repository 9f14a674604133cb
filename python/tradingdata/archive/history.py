"""The history of an order: all states that the archive has recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import checksums
from .fetch_log import local
from .read import book_of

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime, tzinfo

    from ..books.records import Order


class OrderState(NamedTuple):
    """One state of an order.

    Attributes:
        seen_at: When the first response with this state was received, in the archive's time zone;
            ``None`` if unknown, as for a saved book without a time.
        account: The label of the account, or ``None``.
        order: The order in that response.
    """

    seen_at: datetime | None
    account: str | None
    order: Order


def read_history(
    connection: sqlite3.Connection,
    zone: tzinfo,
    order_no: str,
    account: str | None,
    *,
    keep: bool,
) -> list[OrderState]:
    """Returns all states of the orders with that number, record by record, each in order of time.

    The caller must have checked the file, since no checksum covers the states of one order alone.
    """
    query = f"""SELECT s.seen_at, r.account, {checksums.JSON}
        FROM records r JOIN states s ON s.record = r.id
        WHERE r.number = ? AND r.book = 'orders' AND r.account = coalesce(?, r.account)
        ORDER BY r.day, r.id, s.seen_at, s.id"""
    found = connection.execute(query, (order_no, account)).fetchall()
    orders = book_of("orders", (json for _, _, json in found), keep=keep, stacklevel=3)
    return [
        OrderState(local(seen_at, zone), label or None, order)
        for (seen_at, label, _), order in zip(found, orders, strict=True)
    ]
