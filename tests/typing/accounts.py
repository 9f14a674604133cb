"""What type checkers know of many accounts; read by them, never run."""

from __future__ import annotations

from typing import assert_type

import tradingdata as td
from tradingdata.archive import Fetched


def many(client: td.Client) -> None:
    with td.Accounts(["desk1", "desk2"], concurrency=4) as accounts:
        assert_type(accounts.trade_book(timeout=5), td.TradeBook)
        assert_type(accounts.order_book()[0].account, str | None)
        orders, trades = accounts.books()
    td.reconcile(orders, trades)
    assert_type(td.Accounts({"desk1": client}).labels, tuple[str, ...])
    td.Accounts({"desk1": {"base_url": "https://example.com"}, "desk2": "a profile"})
    td.Accounts(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def failed(error: td.AccountsError) -> None:
    assert_type(error.errors["desk1"], Exception)


def on_a_cluster(archive: td.Archive) -> None:
    assert_type(td.dask.fetch(["desk1"], archive, share=5), dict[str, Fetched])
    td.dask.fetch(["desk1"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
