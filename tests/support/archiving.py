"""Responses of chosen content and time, and archives of them, for the tests of archives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tradingdata as td
from service import as_json, envelope, orders, trades
from tradingdata.archive import ArchiveFetch
from tradingdata.books.response import Response

DAY = dt.date(2026, 11, 20)  # a Friday
DAYS = [dt.date(2026, 11, day) for day in (16, 17, 18, 19, 20)]


def clock(text: str, day: dt.date = DAY) -> dt.datetime:
    """A time of a day in India, as text such as "15:45"."""
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    return dt.datetime.combine(day, dt.time.fromisoformat(text), zone)


def response(
    kind: type[Any],
    records: Iterable[object],
    at: dt.datetime | None = None,
    *,
    account: str | None = None,
    keep: bool = False,
    elapsed: float = 0.1,
    served_at: dt.datetime | None = None,
) -> Any:
    """The book of one complete response, received at that time."""
    sent = [_of_client(record, account) for record in records]
    table = kind._decode(as_json(envelope(sent)), False, keep, account)
    response = Response(
        table,
        status_code=200,
        account=account,
        attempts=1,
        elapsed=elapsed,
        received_at=at,
        served_at=served_at,
    )
    return kind._of(table, response=response)


def _of_client(record: Any, account: str | None) -> Any:
    """A record as it is sent to an account: a client of its own, unless one was chosen."""
    if (
        account
        and isinstance(record, dict)
        and record.get("client_id") == trades(1)[0]["client_id"]
    ):
        return record | {"client_id": f"C-{account}"}
    return record


def trade(number: str = "1", day: dt.date = DAY, **values: Any) -> dict[str, Any]:
    """A trade as it is sent, with the values given."""
    return trades(1)[0] | {"trade_no": number, "exch_trade_time": f"{day} 10:00:00"} | values


def order(number: str = "1", day: dt.date = DAY, **values: Any) -> dict[str, Any]:
    """An order as it is sent, with the values given."""
    return orders(1)[0] | {"order_no": number, "order_date_time": f"{day} 10:00:00"} | values


def trade_response(*records: object, at: str | None = "15:45", **options: Any) -> td.TradeBook:
    book: td.TradeBook = response(td.TradeBook, records, clock(at) if at else None, **options)
    return book


def order_response(*records: object, at: str | None = "15:45", **options: Any) -> td.OrderBook:
    book: td.OrderBook = response(td.OrderBook, records, clock(at) if at else None, **options)
    return book


def archive_with(folder: Path, *books: Any, **options: Any) -> td.Archive:
    """A new archive of these books."""
    archive = td.Archive(folder / "books", **options)
    for book in books:
        archive.add(book)
    return archive


def numbers(book: Any) -> list[str]:
    """The numbers of a book's trades or orders, sorted."""
    field = "trade_no" if isinstance(book, td.TradeBook) else "order_no"
    return sorted(str(row[field]) for row in book)


def stored(entry: ArchiveFetch) -> tuple[int, bool]:
    return entry.rows, entry.stored
