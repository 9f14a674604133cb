"""What type checkers know of many accounts; read by them, never run."""

from __future__ import annotations

from typing import Any, assert_type

import tradingdata as td


def many(client: td.Client) -> None:
    found = td.trade_books(["desk1", "desk2"], concurrency=4, timeout=5)
    assert_type(found, td.AccountBooks[td.TradeBook])
    assert_type(found.books, dict[str, td.TradeBook])
    assert_type(found.errors, dict[str, td.TradingDataError])
    assert_type(td.order_books({"desk1": client}).books["desk1"][0], td.Order)
    assert_type(found.to_dicts(["symbol"]), list[dict[str, Any]])
    td.trade_books({"desk1": {"base_url": "https://example.com"}, "desk2": "a profile"})
    td.trade_books(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def both_books(client: td.Client) -> None:
    orders, trades = td.fetch_books({"desk1": client}, timeout=5)
    assert_type(orders, td.AccountBooks[td.OrderBook])
    assert_type(trades.books["desk1"], td.TradeBook)


def on_a_cluster() -> None:
    td.dask.order_books(["desk1"], columns=["symbol"], errors="keep")
    td.dask.order_books(["desk1"], errors="drop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
