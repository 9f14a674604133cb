"""What type checkers know of books; read by them, never run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any, Literal, assert_type

import tradingdata as td


def sequences(trades: td.TradeBook, orders: td.OrderBook, stocks: td.StockList) -> None:
    assert_type(trades[0], td.Trade)
    assert_type(trades[-5:], td.TradeBook)
    assert_type(iter(trades), Iterator[td.Trade])
    for trade in trades:
        assert_type(trade, td.Trade)
    assert_type([stock.mcap for stock in stocks], list[float | None])


def parts_and_unions(trades: td.TradeBook, orders: td.OrderBook) -> None:
    assert_type(trades.filter(symbol="INFY", exchange={"NSE", "BSE"}), td.TradeBook)
    assert_type(trades.filter(quantity__gt=100, exch_trade_time__lt=time(10)), td.TradeBook)
    assert_type(orders.filter(lambda order: order.status == "Error"), td.OrderBook)
    assert_type(orders.sort("symbol", "price", reverse=True), td.OrderBook)
    orders.filter(lambda order: order.simbol)  # type: ignore[attr-defined]  # pyright: ignore
    orders.sort(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(orders.localize("Asia/Kolkata"), td.OrderBook)
    assert_type(td.concat([trades, trades]), td.TradeBook)
    assert_type(td.TradeBook([td.Trade(order_no="1", quantity=5)]), td.TradeBook)
    td.TradeBook([td.Order()])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


def made_and_kept(data: bytes, path: Path) -> None:
    book = td.StockList.from_json(data, strict=True)
    assert_type(book, td.StockList)
    book.save(path, overwrite=True)
    assert_type(td.OrderBook.load(path, keep_personal_data=True), td.OrderBook)
    pickle.dumps(book)


def what_came_with_it(trades: td.TradeBook) -> None:
    assert_type(trades.issues, tuple[td.types.Issue, ...])
    assert_type(trades.issues[0].count, int)
    assert_type(trades.extra_fields, tuple[str, ...])
    assert_type(trades.to_dicts(["symbol"], extra=True), list[dict[str, Any]])
    assert_type(trades.to_dict(), dict[str, list[Any]])
    assert_type(trades.to_json(columns=["symbol"], lines=True), str)
    assert_type(trades.to_json(Path("trades.json"), overwrite=True), None)
    response = trades.response
    if response is not None:
        assert_type(response.content, bytes)
        assert_type(response.status_code, int | None)
        assert_type(response.sha256, str)


def changes(orders: td.OrderBook, client: td.Client) -> None:
    for change in orders.diff(orders[:5], ignore=["row_no"]):
        assert_type(change.kind, Literal["new", "changed", "gone", "returned"])
        assert_type(change.order, td.Order)
        assert_type(change.previous, td.Order | None)
        assert_type(change.fields, tuple[str, ...])
    orders.diff(client.trade_book())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def watched(client: td.Client, known: td.OrderBook) -> None:
    for update in client.watch_orders(0.5, previous=known, ignore=(), timeout=3):
        assert_type(update, td.types.OrderUpdate)
        assert_type(update.changes, tuple[td.types.OrderChange, ...])
        assert_type(update.missed, td.TradingDataError | None)
        assert_type(update.at, datetime)
    for fills in client.watch_trades(interval=0.5):
        assert_type(fills, td.types.TradeUpdate)
        assert_type(fills.fills, tuple[td.Trade, ...])
        assert_type(fills.changes, tuple[td.types.TradeChange, ...])
        assert_type((fills.cleared, fills.misses), tuple[bool, int])
    assert_type(client.watch_orders(), td.types.Watch[td.types.OrderUpdate])


async def watched_async(client: td.AsyncClient) -> None:
    async for update in client.watch_orders():
        assert_type(update, td.types.OrderUpdate)
    async for fills in client.watch_trades():
        assert_type(fills, td.types.TradeUpdate)


def refused(trades: td.TradeBook) -> None:
    trades[0] = trades[1]  # type: ignore[index]  # pyright: ignore
    trades.symbol  # type: ignore[attr-defined]  # pyright: ignore  # noqa: B018
    trades["symbol"]  # type: ignore[call-overload]  # pyright: ignore
    trades.issues = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
