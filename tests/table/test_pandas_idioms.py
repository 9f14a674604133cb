"""Frames of pandas, of books and of results: dates compare and join (F175), in every backend."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tradingdata as td
from pandas_dtypes import PANDAS, TEXT

NEAR, FAR = dt.date(2026, 11, 24), dt.date(2026, 12, 29)
STAMP = pd.Timestamp(NEAR)
TRADES = [
    td.Trade(
        exchange="NSE",
        segment="D" if expiry else "E",
        client_id="C1",
        security_id=str(at),
        product="M",
        symbol=symbol,
        txn_type="B",
        quantity=10 * at,
        traded_price=price,
        trade_value=10 * at * price,
        expiry_date=expiry,
        order_no=str(at),
        trade_no=str(at),
        exch_trade_time=dt.datetime(2026, 11, 20, 9, 15 + at),
    )
    for at, (symbol, expiry, price) in enumerate(
        [("A", NEAR, 100.0), ("B", NEAR, 50.0), ("C", FAR, 10.0), ("D", None, 5.0)], 1
    )
]
BOOK = td.TradeBook(TRADES)
RESULT = td.positions(BOOK, multipliers=dict.fromkeys("123", 1))
TABLES: dict[str, tuple[Any, dict[str, str]]] = {
    "book": (BOOK, {"traded_price": "price"}),
    "result": (RESULT, {"buy_quantity": "quantity", "buy_average": "price"}),
}


def frame_of(table: str, backend: Any = "numpy_nullable") -> pd.DataFrame:
    """The rows A to D: their symbols, expiry dates, quantities (10 to 40) and prices."""
    source, names = TABLES[table]
    frame = source.to_pandas(dtype_backend=backend).rename(columns=names)
    frame = frame[["symbol", "expiry_date", "quantity", "price"]]
    rows: pd.DataFrame = frame.sort_values("symbol", ignore_index=True)
    return rows


@pytest.mark.parametrize("backend", ["numpy_nullable", "numpy"])
@pytest.mark.parametrize("table", TABLES)
def test_dates_are_found_by_text_and_join(table: str, backend: str) -> None:
    frame = frame_of(table, backend)
    assert "".join(frame[frame["expiry_date"] == "2026-11-24"]["symbol"]) == "AB"
    # A chain, as `read_csv` reads one: in another unit than ours.
    listed = io.StringIO("expiry_date,strikes\n2026-11-24,11\n2026-12-29,12\n")
    chain = pd.read_csv(listed, parse_dates=["expiry_date"])
    assert frame.merge(chain, on="expiry_date")["strikes"].tolist() == [11, 11, 12]


BACKENDS = {
    "numpy_nullable": [TEXT, "datetime64[us]", "Int64", "float64"],
    "numpy": [TEXT if PANDAS >= (2, 3) else "object", "datetime64[us]", "float64", "float64"],
    "pyarrow": ["string[pyarrow]", "date32[day][pyarrow]", "int64[pyarrow]", "double[pyarrow]"],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("table", TABLES)
def test_a_backend_gives_the_same_dtypes_whatever_the_data(table: str, backend: Any) -> None:
    dtypes = frame_of(table, backend).dtypes
    assert [str(dtype) for dtype in dtypes] == BACKENDS[backend]
    source, names = TABLES[table]
    others = [source[:0], source.filter(symbol="none")]
    others += [td.TradeBook(), td.TradeBook([td.Trade()])] if table == "book" else []
    for other in others:
        frame = other.to_pandas(dtype_backend=backend).rename(columns=names)
        assert frame[list(dtypes.index)].dtypes.equals(dtypes)


@pytest.mark.parametrize("backend", ["numpy", "pyarrow"])
def test_a_backend_keeps_values_zones_and_unknown_fields(backend: Any) -> None:
    row: dict[str, Any] = {"quantity": 5, "expiry_date": NEAR, "traded_price": 1.5, "symbol": "A"}
    book = td.TradeBook([td.Trade(**row), td.Trade()]).localize("Asia/Kolkata")
    names = [*row, "exch_trade_time"]
    frame = book.to_pandas(names, extra=True, dtype_backend=backend)
    assert "Asia/Kolkata" in str(frame["exch_trade_time"].dtype)
    assert list(frame.columns) == [*names, "extra"]
    first = frame.iloc[0]
    assert (first["quantity"], first["traded_price"], first["symbol"]) == (5, 1.5, "A")
    assert pd.Timestamp(first["expiry_date"]) == STAMP
    assert frame.iloc[1].isna().all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_book_of_the_frame_of_a_book_is_that_book(backend: Any) -> None:
    frame = BOOK.to_pandas(dtype_backend=backend)
    assert td.TradeBook.from_arrow(pa.Table.from_pandas(frame)) == BOOK


def test_an_integer_that_a_float_does_not_hold_is_named() -> None:
    book = td.TradeBook([td.Trade(quantity=2**53 + 1)])
    assert book.to_pandas()["quantity"].tolist() == [2**53 + 1]
    assert book.to_pandas(dtype_backend="pyarrow")["quantity"].tolist() == [2**53 + 1]
    with pytest.raises(ValueError, match=r"'quantity'.*use dtype_backend='numpy_nullable'"):
        book.to_pandas(dtype_backend="numpy")


def test_an_unknown_backend_is_refused_with_the_known_ones() -> None:
    wrong: Any = "numpy-nullable"
    with pytest.raises(td.ConfigurationError, match="'numpy_nullable', 'numpy', 'pyarrow', not"):
        BOOK.to_pandas(dtype_backend=wrong)
