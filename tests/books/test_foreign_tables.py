"""Tables of other software: CSV files that its readers typed, brokers' columns, odd producers."""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, trades
from worlds.records import BOOKS, KINDS, sample

READERS: dict[str, Any] = {
    "pandas": lambda text: pd.read_csv(io.StringIO(text)),
    "polars": lambda text: pl.read_csv(io.StringIO(text), infer_schema_length=None),
    "polars with times": lambda text: pl.read_csv(
        io.StringIO(text), infer_schema_length=None, try_parse_dates=True
    ),
    "pyarrow": lambda text: pa.csv.read_csv(io.BytesIO(text.encode())),
    "text alone": lambda text: pl.read_csv(io.StringIO(text), infer_schema=False),
}


def without_empty_text(book: Any) -> list[dict[str, Any]]:
    return [{n: None if v == "" else v for n, v in row.items()} for row in book.to_dicts()]


def read(data: Any, kind: Any = td.TradeBook, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return kind.from_arrow(data, keep_personal_data=True, **options)


SENT = [
    {**row, "order_no": str(10**15 + at), "expiry_date": "2026-11-26" if at % 2 else "0001-01-01"}
    for at, row in enumerate(trades(20))
]


@pytest.mark.parametrize("reader", READERS)
def test_our_csv_is_the_book_again_through_any_reader(reader: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        book = td.TradeBook.from_json(as_json(envelope(SENT)))
    again = read(READERS[reader](book.to_csv()))
    assert without_empty_text(again) == without_empty_text(book)
    assert not [issue for issue in again.issues if issue.lost]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("book", [td.TradeBook([td.Trade(symbol="A")]), td.OrderBook([td.Order()])])
def test_a_csv_with_empty_columns_is_read_through_any_reader(reader: str, book: Any) -> None:
    """Shares have no expiry: no value says what the column is."""
    again = read(READERS[reader](book.to_csv()), type(book))
    assert (again, again.issues) == (book, ())


def test_times_that_are_floats_are_refused() -> None:
    for name in ("expiry_date", "exch_trade_time"):
        with pytest.raises(TypeError, match=f"column {name} takes"):
            read(pa.table({name: [float("nan"), 1.5]}))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_csv_is_the_book_again(kind: str, tmp_path: Path) -> None:
    book = sample(kind, 60).book
    book.save(tmp_path / "book.csv")
    again = BOOKS[kind].load(tmp_path / "book.csv", keep_personal_data=True)
    assert without_empty_text(again) == without_empty_text(book)
    assert [row._extra for row in again] == [row._extra for row in book]


def test_a_csv_that_is_no_saved_book_is_refused(tmp_path: Path) -> None:
    book = sample("trade", 3).book
    path = tmp_path / "x.csv"
    for text, problem in (
        ("", "no column"),
        (book.to_csv(columns=["symbol"]), "no column"),
        (book.to_csv(spreadsheet=True), "for a spreadsheet"),
        (book.to_csv()[:-9].rpartition(",")[0], "damaged|no column"),
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=problem):
            td.TradeBook.load(path)


@settings(max_examples=settings().max_examples * 3 // 2)
@given(
    field=st.sampled_from(["quantity", "traded_price", "exch_trade_time", "expiry_date"]),
    texts=st.lists(
        st.sampled_from(["5", "5.0", "-0", "1e3", " 7 ", "x", "", "1" * 20, "9007199254740993"])
        | st.sampled_from(["2026-11-20", "2026-11-20 10:00:00", "2026-11-20T10:00:00.25Z"])
        | st.sampled_from(["2026-11-20 10:00:00+05:30", "0001-01-01", "2026-11-20 00:00:00"])
        | st.integers().map(str)
        | st.floats(allow_nan=False, allow_infinity=False).map(repr),
        min_size=1,
        max_size=6,
    ),
)
def test_text_means_the_same_in_json_and_in_arrow(field: str, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        sent = td.TradeBook.from_json(as_json(envelope([{field: text} for text in texts])))
    table = read(pa.table({field: pa.array(texts)}))
    assert table.to_dict([field]) == sent.to_dict([field])
    problems = [[i[:4] for i in book.issues if i.field == field] for book in (table, sent)]
    assert sorted(problems[0]) == sorted(problems[1])


def column(field: str, array: Any) -> tuple[list[Any], list[tuple[str, bool]]]:
    book = read(pa.table({field: array}))
    issues = [(issue.problem, issue.lost) for issue in book.issues if issue.field == field]
    return book.to_dict([field])[field], issues


def test_numbers_become_the_text_that_they_were() -> None:
    number = ("text sent as a number", False)
    assert column("order_no", pa.array([2**63 - 1, None])) == ([str(2**63 - 1), None], [number])
    floats = pa.array([1e15, float("nan"), 1.5])
    assert column("order_no", floats) == (["1000000000000000", None, "1.5"], [number])
    values, issues = column("order_no", pa.array([1e17, float("inf")]))
    assert values == [None, None]
    assert [lost for _, lost in issues] == [True, True]
    assert column("order_no", pa.array([True, None]))[0] == ["true", None]


@pytest.mark.parametrize("kind", [pa.decimal128(38, 4), pa.decimal256(60, 4)])
def test_decimals_are_exact(kind: Any) -> None:
    def decimals(*values: str) -> Any:
        return pa.array([Decimal(value) for value in values], kind)

    assert column("traded_price", decimals("1501.05", "-0.5", "0"))[0] == [1501.05, -0.5, 0.0]
    assert column("quantity", decimals("75", "-9223372036854775808"))[0] == [75, -(2**63)]
    assert column("quantity", decimals("7.5", "1e19"))[0] == [None, None]
    assert column("order_no", decimals("12345678901234567890123", "7.50"))[0] == [
        "12345678901234567890123",
        "7.5",
    ]
    book = read(pa.table({"unknown": decimals("7.50")}))
    assert book[0]["unknown"] == 7.5


def test_a_huge_integer_of_duckdb_is_read() -> None:
    found = duckdb.sql("SELECT 170141183460469231731687303715884105727::HUGEINT AS order_no")
    assert read(found)[0].order_no.startswith("17014118346046923")
    assert read(duckdb.sql("SELECT 75::HUGEINT AS quantity"))[0].quantity == 75


BROKER = """trade_id,order_id,tradingsymbol,exchange,price,at
403921,250101000012345,INFY,NSE,1501.05,2026-11-20 09:15:01
403922,250101000012346,TCS,NSE,3301,2026-11-20 09:16:00
"""
COLUMNS = (
    "trade_id=trade_no order_id=order_no tradingsymbol=symbol price=traded_price at=exch_trade_time"
)
NAMES = dict(pair.split("=") for pair in COLUMNS.split())


@pytest.mark.parametrize("reader", READERS)
def test_names_map_the_columns_of_a_broker(reader: str) -> None:
    constants: dict[str, Any] = {"quantity": 75, "expiry_date": dt.date(2026, 11, 26)}
    book = td.TradeBook.from_arrow(READERS[reader](BROKER), names=NAMES, constants=constants)
    names = [NAMES.get(name, name) for name in BROKER.split("\n")[0].split(",")]
    at = dt.datetime(2026, 11, 20, 9, 15, 1)
    values = ["403921", "250101000012345", "INFY", "NSE", 1501.05, at]
    wanted = td.Trade(**dict(zip(names, values, strict=True)), **constants)  # type: ignore[arg-type]
    assert book[0] == wanted
    assert not [issue for issue in book.issues if issue.lost]


def test_names_and_constants_are_checked() -> None:
    table = pa.table({"symbol": ["A"], "other": ["B"]})
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"names": {"other": "simbol"}}, KeyError, "did you mean 'symbol'"),
        ({"constants": {"simbol": "x"}}, KeyError, "did you mean 'symbol'"),
        ({"names": {"another": "quantity"}}, ValueError, "column another, which the data lacks"),
        ({"names": {"other": "symbol"}}, ValueError, "two columns named symbol"),
        ({"constants": {"symbol": "x"}}, ValueError, "also a column"),
        ({"constants": {"quantity": "x"}}, TypeError, "quantity takes an int"),
    ]
    for options, error, problem in wrong:
        with pytest.raises(error, match=problem):
            td.TradeBook.from_arrow(table, **options)


def test_two_equal_clock_times_stay_two_instants() -> None:
    """Which of the two an hour at the end of summer time is, a clock does not say."""
    times = [
        dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC) + dt.timedelta(hours=h) for h in (0, 1)
    ]
    for zone in ("Europe/Berlin", "America/New_York"):
        array = pa.array(times, pa.timestamp("us", zone))
        book = read(pa.table({"exch_trade_time": array}))
        assert [row.exch_trade_time for row in book] == times
        assert (
            book.to_arrow()["exch_trade_time"].cast(pa.timestamp("us", "UTC")).to_pylist() == times
        )
    berlin = ZoneInfo("Europe/Berlin")
    assert book[0].exch_trade_time.tzinfo == ZoneInfo("America/New_York")
    array = pa.array(times[:1], pa.timestamp("us", "Europe/Berlin"))
    assert read(pa.table({"exch_trade_time": array}))[0].exch_trade_time.tzinfo == berlin


def test_times_as_text_do_not_join_times_in_a_zone() -> None:
    table = pa.table(
        {
            "exch_trade_time": pa.array([dt.datetime(2026, 1, 6)], pa.timestamp("us", "UTC")),
            "last_updated_time": pa.array(["2026-01-06 09:00:00"]),
        }
    )
    with pytest.raises(TypeError, match="another time zone"):
        td.TradeBook.from_arrow(table)


@pytest.mark.parametrize(
    "wrong",
    [
        {"exch_trade_time": pd.Timestamp("2026-11-20 10:00:00.000000001")},
        {"traded_price": Decimal(2**53 + 1)},
        {"traded_price": Fraction(2**53 + 1)},
        {"traded_price": np.longdouble(2**53) + 1},
        {"traded_price": 2**53 + 1},
    ],
    ids=str,
)
def test_a_value_that_a_column_cannot_hold_is_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} cannot be .*(round|microsecond)"):
        td.Trade(**wrong)
    assert td.Trade(traded_price=Decimal("1501.05")).traded_price == 1501.05  # type: ignore[arg-type]
    assert td.Trade(exch_trade_time=pd.Timestamp("2026-11-20 10:00")).exch_trade_time


def test_json_lines_of_pandas_are_read() -> None:
    frame = pd.read_json(io.StringIO(json.dumps(SENT[:3])), dtype=False)
    assert [row.order_no for row in read(frame)] == [row["order_no"] for row in SENT[:3]]
