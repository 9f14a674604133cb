"""What type checkers know of a search; read by them, never run."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import tradingdata as td


def found(client: td.Client) -> None:
    search = client.search("bank", max_items=50)
    assert_type(search.all().to_pandas(["nsesymbol"]), pd.DataFrame)
    assert_type(search.all().to_pandas(dtype_backend="numpy"), pd.DataFrame)
    assert_type(search.first(5), td.StockList)
    assert_type(client.stock("RELIANCE"), td.Stock)
    for stock in search:
        assert_type(stock, td.Stock)
    for page in search.pages():
        assert_type(page, td.StockList)


async def awaited(client: td.AsyncClient) -> None:
    search = client.search("bank")
    assert_type(await search.all(), td.StockList)
    assert_type(await search.first(5), td.StockList)
    assert_type(await client.stock("RELIANCE"), td.Stock)
    async for stock in search:
        assert_type(stock, td.Stock)
