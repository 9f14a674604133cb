"""What users of pandas do with a frame of ours: dates compare, join, resample and plot (F175).

Every idiom runs on the frame of a book and on that of a result, with both backends of NumPy.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tradingdata as td
from pandas_dtypes import PANDAS, TEXT

# Not on each Python.
mpl, *_ = map(pytest.importorskip, ("matplotlib", "plotly", "seaborn", "sklearn"))
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


def by_sql(frame: pd.DataFrame, condition: str) -> str:
    with closing(duckdb.connect()) as database:
        database.register("frame", frame)
        query = f"SELECT string_agg(symbol, '' ORDER BY symbol) FROM frame WHERE {condition}"
        return database.execute(query).fetchall()[0][0]  # type: ignore[no-any-return]


def by_sqlite(frame: pd.DataFrame) -> Any:
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("trades", database, index=False)
        read = pd.read_sql("SELECT * FROM trades", database, parse_dates=["expiry_date"])
    return of_date(read)


def through(frame: pd.DataFrame, write: str, read: Callable[..., pd.DataFrame], **how: Any) -> str:
    """Which rows of the date come back from a file."""
    file = io.BytesIO()
    getattr(frame, write)(file, index=False)
    file.seek(0)
    return of_date(read(file, **how))


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


def charted(frame: pd.DataFrame) -> list[str]:
    from plotly import express

    chart = json.loads(express.bar(frame.dropna(), x="expiry_date", y="price").to_json())
    return [day[:10] for day in chart["data"][0]["x"]]


IDIOMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    # Rows of a date.
    "== text": (where(lambda days: days == "2026-11-24"), "AB"),
    "== Timestamp": (where(lambda days: days == STAMP), "AB"),
    ">= text": (where(lambda days: days >= "2026-12-01"), "C"),
    "between": (where(lambda days: days.between("2026-11-01", "2026-11-30")), "AB"),
    "isin a column": (where(lambda days: days.isin(listed()["expiry_date"])), "ABC"),
    "isna": (where(lambda days: days.isna()), "D"),
    # pandas' own `query` finds nothing with `==` and text (pandas-dev/pandas#35595).
    "query < text": (lambda frame: symbols(frame.query("expiry_date < '2026-12-01'")), "AB"),
    "query == @name": (lambda frame: symbols(frame.query("expiry_date == @STAMP")), "AB"),
    ".dt.date ==": (where(lambda days: days.dt.date == NEAR), "AB"),
    # Joins.
    "merge": (lambda frame: frame.merge(listed(), on="expiry_date")["strikes"].sum(), 34),
    "map a Series": (
        lambda frame: frame["expiry_date"].map(listed().set_index("expiry_date")["strikes"]).sum(),
        34,
    ),
    "merge_asof": (
        lambda frame: pd.merge_asof(
            frame.dropna().astype({"expiry_date": listed()["expiry_date"].dtype}),
            listed(),
            on="expiry_date",
        )["strikes"].tolist(),
        [11, 11, 12],
    ),
    "concat": (
        lambda frame: kinds(pd.concat([frame, listed()])["expiry_date"].dtype),
        "M",
    ),
    # Time.
    "resample": (
        lambda frame: frame.dropna().resample("MS", on="expiry_date")["price"].sum().tolist(),
        [150, 10],
    ),
    '.loc["2026-11"]': (
        lambda frame: symbols(frame.dropna().set_index("expiry_date").sort_index().loc["2026-11"]),
        "AB",
    ),
    ".dt.days": (
        lambda frame: (frame["expiry_date"] - pd.Timestamp("2026-11-20")).dt.days.sum(),
        4 + 4 + 39,
    ),
    ".dt.strftime": (where(lambda days: days.dt.strftime("%d%b%y") == "24Nov26"), "AB"),
    # Shapes.
    "pivot_table": (
        lambda frame: frame.pivot_table("price", "symbol", "expiry_date", aggfunc="sum")[
            STAMP
        ].sum(),
        150,
    ),
    # Values.
    "to_numpy": (lambda frame: kinds(frame["expiry_date"].to_numpy().dtype), "M"),
    'fillna("")': (lambda frame: of_date(frame.fillna({"expiry_date": ""})), "AB"),
    "astype str": (where(lambda days: days.astype(str) == "2026-11-24"), "AB"),
    # Files and other libraries.
    "read_csv": (
        lambda frame: through(frame, "to_csv", pd.read_csv, parse_dates=["expiry_date"]),
        "AB",
    ),
    "to_parquet": (lambda frame: through(frame, "to_parquet", pd.read_parquet), "AB"),
    "pyarrow": (lambda frame: of_date(pa.Table.from_pandas(frame).to_pandas()), "AB"),
    "to_excel": (lambda frame: through(frame, "to_excel", pd.read_excel), "AB"),
    "polars": (
        lambda frame: "".join(
            pl.from_pandas(frame).filter(pl.col("expiry_date").dt.date() == NEAR)["symbol"]
        ),
        "AB",
    ),
    "DuckDB text": (lambda frame: by_sql(frame, "expiry_date = '2026-11-24'"), "AB"),
    "to_sql": (by_sqlite, "AB"),
    "plot": (plotted, [NEAR, NEAR, FAR]),
    "plotly": (charted, ["2026-11-24", "2026-11-24", "2026-12-29"]),
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
