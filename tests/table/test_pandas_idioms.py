"""What users of pandas do with a frame of ours: dates compare, join, resample and plot (F175).

Every idiom runs on the frame of a book and on that of a result, with both backends of NumPy.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tradingdata as td
from pandas_dtypes import PANDAS, TEXT

# Not on each Python.
mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

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
LISTED = "expiry_date,strikes\n2026-11-24,11\n2026-12-29,12\n"


def frame_of(table: str, backend: Any = "numpy_nullable") -> pd.DataFrame:
    """The rows A to D: their symbols, expiry dates, quantities (10 to 40) and prices."""
    source, names = TABLES[table]
    frame = source.to_pandas(dtype_backend=backend).rename(columns=names)
    frame = frame[["symbol", "expiry_date", "quantity", "price"]]
    rows: pd.DataFrame = frame.sort_values("symbol", ignore_index=True)
    return rows


def listed() -> pd.DataFrame:
    """A chain, as `read_csv` reads one: in another unit than ours."""
    return pd.read_csv(io.StringIO(LISTED), parse_dates=["expiry_date"])


def symbols(frame: Any) -> str:
    return "".join(frame["symbol"])


def of_date(frame: pd.DataFrame) -> str:
    return symbols(frame[frame["expiry_date"] == "2026-11-24"])


def where(condition: Callable[[Any], Any]) -> Callable[[pd.DataFrame], str]:
    """The idiom of a mask: which rows it finds."""
    return lambda frame: symbols(frame[condition(frame["expiry_date"])])


def kinds(dtype: Any) -> str:
    return str(np.dtype(dtype).kind)


def days_of(numbers: Any) -> list[dt.date]:
    """The dates of an axis of matplotlib."""
    from matplotlib import dates

    return [day.date() for day in dates.num2date(list(numbers))]  # type: ignore[no-untyped-call]


def plotted(frame: pd.DataFrame) -> list[dt.date]:
    from matplotlib import pyplot

    axes: Any = frame.dropna(subset="expiry_date").plot(x="expiry_date", y="price", x_compat=True)
    axes.figure.canvas.draw()
    days = days_of(axes.lines[0].get_xdata(orig=False))
    pyplot.close(axes.figure)
    return days


IDIOMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "== text": (where(lambda days: days == "2026-11-24"), "AB"),
    "== Timestamp": (where(lambda days: days == STAMP), "AB"),
    ">= text": (where(lambda days: days >= "2026-12-01"), "C"),
    "np.where": (lambda frame: np.where(frame["expiry_date"] == STAMP, 1, 0).sum(), 2),
    "merge": (lambda frame: frame.merge(listed(), on="expiry_date")["strikes"].sum(), 34),
    "map a Series": (
        lambda frame: frame["expiry_date"].map(listed().set_index("expiry_date")["strikes"]).sum(),
        34,
    ),
    "groupby * series": (
        lambda frame: (
            frame.groupby("expiry_date")["quantity"].sum()
            * listed().set_index("expiry_date")["strikes"]
        ).tolist(),
        [30 * 11, 30 * 12],
    ),
    "resample": (
        lambda frame: frame.dropna().resample("MS", on="expiry_date")["price"].sum().tolist(),
        [150, 10],
    ),
    '.loc["2026-11"]': (
        lambda frame: symbols(frame.dropna().set_index("expiry_date").sort_index().loc["2026-11"]),
        "AB",
    ),
    "convert_dtypes": (lambda frame: of_date(frame.convert_dtypes()), "AB"),
    "to_json": (lambda frame: len(json.loads(frame.to_json(date_format="iso"))["expiry_date"]), 4),
    'fillna("")': (lambda frame: of_date(frame.fillna({"expiry_date": ""})), "AB"),
    "one hot": (lambda frame: pd.get_dummies(frame["expiry_date"]).sum().tolist(), [2, 1]),
    "plot": (plotted, [NEAR, NEAR, FAR]),
}


@pytest.mark.parametrize("backend", ["numpy_nullable", "numpy"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_idiom_finds_its_rows(idiom: str, table: str, backend: str) -> None:
    use, expected = IDIOMS[idiom]
    frame = frame_of(table, backend)
    assert str(frame["expiry_date"].dtype) == "datetime64[us]"
    assert use(frame) == expected


@pytest.mark.parametrize("table", TABLES)
def test_a_date_finds_no_row_in_pandas_and_a_timestamp_of_it_does(table: str) -> None:
    days = frame_of(table)["expiry_date"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # pandas 2.2, of isin
        assert not (days == NEAR).any()
        with pytest.raises(TypeError, match="Invalid comparison"):
            days < NEAR  # noqa: B015
    assert (days == pd.Timestamp(NEAR)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("table", TABLES)
def test_frames_of_other_libraries_meet_ours(table: str) -> None:
    ours = frame_of(table)
    source, names = TABLES[table]
    with closing(duckdb.connect()) as database:
        database.register("rows", source)
        selected = database.sql("SELECT * FROM rows").df()
    for theirs in (source.to_polars().to_pandas(), selected):
        frame = theirs.rename(columns=names)[["symbol", "expiry_date"]]
        assert kinds(frame["expiry_date"].dtype) == "M"
        merged = ours.merge(frame, on=["symbol", "expiry_date"])
        assert symbols(merged.sort_values("symbol")) == "ABCD"


NUMERIC: dict[str, Callable[[Any], Any]] = {
    "to_numpy": lambda frame: frame.to_numpy().dtype == np.float64,
    "np.log": lambda frame: np.isclose(np.log(frame.to_numpy())[0, 0], np.log(10.0)),
    "corr": lambda frame: frame.corr().shape == (2, 2),
    "isnan": lambda frame: np.isnan(frame.to_numpy()).sum() == 0,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("idiom", NUMERIC)
def test_numbers_are_numeric_with_the_backend_of_numpy(idiom: str, table: str) -> None:
    frame = frame_of(table, "numpy")[["quantity", "price"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert NUMERIC[idiom](frame)


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
