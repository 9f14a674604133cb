"""What a type checker knows of an archive."""

from __future__ import annotations

from datetime import date, datetime
from typing import assert_type

import tradingdata as td
from tradingdata.archive import ArchiveFetch, Fetched, MissingDay, OrderState, QueryResult


def keep(client: td.Client) -> None:
    archive = td.Archive("books", tz="Asia/Kolkata")
    assert_type(archive.fetch(client), Fetched)
    assert_type(archive.fetch(client).trades, ArchiveFetch)
    assert_type(archive.trades("2026-11-20"), td.TradeBook)
    assert_type(archive.orders(date(2026, 11, 16), date(2026, 11, 20), account="a"), td.OrderBook)
    assert_type(archive.add(archive.trades()), ArchiveFetch)
    assert_type(archive.history("1"), list[OrderState])
    assert_type(archive.history("1")[0].seen_at, datetime | None)
    assert_type(archive.history("1")[0].order, td.Order)
    assert_type(archive.fetches()[0].days, tuple[date, ...])
    assert_type(archive.missing("2026-11-16", "2026-11-20"), list[MissingDay])
    assert_type(archive.sql("SELECT 1"), QueryResult)
    assert_type(archive.sql("SELECT ?", parameters=[1]), QueryResult)
    archive.sql("SELECT ?", parameters="1")  # type: ignore[arg-type]  # pyright: ignore
    assert_type(archive.trades("2026-11-20", missing_ok=True), td.TradeBook)
    assert_type(archive.fetch(td.Accounts({"desk1": client})), dict[str, Fetched])
    assert_type(archive.verify(), int)
    archive.add(td.StockList())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def keep_async(client: td.AsyncClient) -> None:
    archive = td.Archive("books")
    archive.fetch(client)  # type: ignore[call-overload]  # pyright: ignore
