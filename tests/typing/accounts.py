"""What type checkers know of many accounts; read by them, never run."""

from __future__ import annotations

from typing import Any, assert_type

import tradingdata as td
from tradingdata.archive import FetchedAccounts


def many(client: td.Client) -> None:
    found = td.trade_books(["desk1", "desk2"], concurrency=4, timeout=5)
    assert_type(found, td.AccountBooks[td.TradeBook])
    assert_type(found["desk1"], td.TradeBook)
    assert_type(found.errors, dict[str, td.TradingDataError])
    assert_type(td.order_books({"desk1": client})["desk1"][0], td.Order)
    assert_type(found.to_dicts(["symbol"]), list[dict[str, Any]])
    td.trade_books({"desk1": {"base_url": "https://example.com"}, "desk2": "a profile"})
    td.trade_books(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def both_books(client: td.Client) -> None:
    found = td.fetch_books({"desk1": client}, timeout=5)
    assert_type(found, td.AccountBooks[td.Books])
    assert_type(found["desk1"].orders, td.OrderBook)
    assert_type(found.trades, td.AccountBooks[td.TradeBook])
    td.reconcile(found.orders, found.trades)
    td.trade_books({"desk1": client}).orders  # type: ignore[misc]  # pyright: ignore  # noqa: B018


def on_a_cluster(archive: td.Archive) -> None:
    assert_type(td.dask.fetch(["desk1"], archive, share=5), FetchedAccounts)
    td.dask.fetch(["desk1"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
