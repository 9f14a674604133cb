"""What type checkers know of a search; read by them, never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import pandas as pd
import polars as pl

import tradingdata as td


def exports(client: td.Client) -> None:
    found = client.search("bank", max_items=50)
    assert_type(found.to_pandas(["nsesymbol"]), pd.DataFrame)
    assert_type(found.to_polars(), pl.DataFrame)
    assert_type(found.to_dicts(json=True), list[dict[str, Any]])
    assert_type(found.to_parquet(Path("banks.parquet"), overwrite=True), None)
    found.to_dicts(colums=["nsesymbol"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def awaited(client: td.AsyncClient) -> None:
    found = client.search("bank")
    assert_type(await found.to_pandas(), pd.DataFrame)
    assert_type(await found.to_dict(["mcap"]), dict[str, list[Any]])


def several(client: td.Client) -> None:
    assert_type(client.stock("RELIANCE"), td.Stock)
    assert_type(client.stock(["RELIANCE", "TCS"]), td.StockList)


async def several_awaited(client: td.AsyncClient) -> None:
    assert_type(await client.stock("RELIANCE"), td.Stock)
    assert_type(await client.stock({"RELIANCE", "TCS"}), td.StockList)
