"""Time zones and indexes of frames: `tz=` declares the zone of naive times and converts others."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tradingdata as td
from sandbox_calls import arguments
from tradingdata.sandbox import Service

INDIA = ZoneInfo("Asia/Kolkata")
TIME = "exch_trade_time"


@pytest.fixture(scope="module")
def trades(sandbox: Service) -> td.TradeBook:
    return sandbox.client().trade_book()[:20]


def tables(trades: td.TradeBook, sandbox: Service) -> list[Any]:
    books = td.trade_books(arguments(sandbox))
    return [trades, td.execution_quality(*sandbox.client().books()), books]


def time_column(table: Any) -> str:
    columns: dict[str, list[Any]] = table.to_dict()
    return next(
        name
        for name, values in columns.items()
        if any(isinstance(value, dt.datetime) for value in values)
    )


def frames(table: Any, column: str, **options: Any) -> list[list[Any]]:
    """The values of one column, from each library."""
    pandas = [value.to_pydatetime() for value in table.to_pandas(**options)[column].dropna()]
    polars = table.to_polars(**options)[column].drop_nulls().to_list()
    arrow = table.to_arrow(**options)[column].drop_null().to_pylist()
    return [pandas, polars, arrow]


def test_naive_times_are_declared_to_be_in_the_zone(trades: Any, sandbox: Service) -> None:
    for table in tables(trades, sandbox):
        column = time_column(table)
        naive = [value for value in table.to_dict()[column] if value is not None]
        wanted = [value.replace(tzinfo=INDIA) for value in naive]
        for found in frames(table, column, tz="Asia/Kolkata"):
            assert found == wanted
            assert [value.replace(tzinfo=None) for value in found] == naive


def test_times_in_another_zone_are_converted(trades: td.TradeBook) -> None:
    localized = trades.localize("Asia/Kolkata")
    for found in frames(localized, TIME, tz="Europe/London"):
        assert found == [trade.exch_trade_time for trade in localized]
        assert {value.utcoffset() for value in found} == {dt.timedelta(0)}
    assert str(localized.to_pandas(tz="UTC")[TIME].dtype) == "datetime64[us, UTC]"
    assert localized.to_polars(tz="UTC").schema[TIME] == pl.Datetime("us", "UTC")
    assert localized.to_arrow(tz="UTC").schema.field(TIME).type == pa.timestamp("us", "UTC")


class _Rules(ZoneInfo):
    """A zone whose rules begin in 2000."""

    def utcoffset(self, when: dt.datetime | None) -> dt.timedelta | None:
        assert when is None or when.year >= 2000
        return super().utcoffset(when)


def test_no_offset_is_asked_for_where_there_is_no_time() -> None:
    made = td.TradeBook([td.Trade(exch_trade_time=dt.datetime(2026, 11, 20)), td.Trade()])
    assert made.localize(_Rules("Asia/Kolkata")).to_pandas()[TIME].isna().tolist() == [False, True]


def test_an_unknown_zone_is_refused(trades: td.TradeBook) -> None:
    for export in (trades.to_pandas, trades.to_polars, trades.to_arrow):
        with pytest.raises(ValueError, match="no time zone 'Asia/Mumbai'"):
            export(tz="Asia/Mumbai")


def test_a_column_becomes_the_index(trades: td.TradeBook) -> None:
    frame = trades.to_pandas(["symbol", "traded_price"], index=TIME, tz="Asia/Kolkata")
    assert isinstance(frame.index, pd.DatetimeIndex)
    assert frame.index.name == TIME
    assert str(frame.index.dtype) == "datetime64[us, Asia/Kolkata]"
    assert list(frame.columns) == ["symbol", "traded_price"]
    assert frame["traded_price"].tolist() == trades.to_dict()["traded_price"]
    assert len(trades.to_pandas(index="order_no").columns) == len(trades.columns) - 1
    assert isinstance(trades[:0].to_pandas(index=TIME).index, pd.DatetimeIndex)
    minutes = frame["traded_price"].resample("1min").last()
    assert minutes.index[0].minute == frame.index[0].minute


def test_an_index_that_is_no_column_is_refused(trades: td.TradeBook) -> None:
    with pytest.raises(KeyError, match="no field 'exch_trade_tiem'; did you mean"):
        trades.to_pandas(index="exch_trade_tiem")
    with pytest.raises(KeyError, match="has no field 'smybol'; did you mean 'symbol'"):
        td.positions(trades).to_pandas(index="smybol")


def test_the_account_may_be_the_index(sandbox: Service) -> None:
    frame = td.trade_books(arguments(sandbox)).to_pandas(["symbol"], index="account")
    assert set(frame.index) == {"desk1"}
    assert list(frame.columns) == ["symbol"]
