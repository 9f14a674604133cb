"""The states of an order, as the archive saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .fetch_log import local
from .read import book_of

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime, tzinfo

    from ..books.records import Order


class OrderState(NamedTuple):
    """What the service said of an order, from some answer on.

    Attributes:
        seen_at: when the first answer that said so was received, in the archive's zone; ``None``
            where a saved book does not know.
        account: the label of the account, or ``None``.
        order: the order, as that answer had it.
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
    """All states of the orders of that number, record by record, each in order of time."""
    query = """SELECT s.seen_at, r.account, s.json FROM records r JOIN states s ON s.record = r.id
        WHERE r.number = ? AND r.book = 'orders' AND r.account = coalesce(?, r.account)
        ORDER BY r.day, r.id, s.seen_at, s.id"""
    found = connection.execute(query, (order_no, account)).fetchall()
    orders = book_of("orders", (text for _, _, text in found), keep=keep, stacklevel=3)
    return [
        OrderState(local(seen_at, zone), label or None, order)
        for (seen_at, label, _), order in zip(found, orders, strict=True)
    ]
