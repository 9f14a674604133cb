"""Tables of other software: CSV files that its readers typed, brokers' columns, odd producers."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import tradingdata as td
from sample_records import INDIA
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


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda text: text + '"INFY', "line 4 is no CSV: unexpected end of data"),
        (lambda text: text.replace("\n", '\n"', 1), "line 2 is no CSV"),
        (lambda text: text + "\nINFY,5\n", "line 5 has 2 cells, and the first one"),
        (lambda text: text.replace("INFY", "\udcff", 1), "it is not UTF-8"),
    ],
)
def test_a_damaged_csv_is_refused_by_its_line(edit: Any, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    text = td.TradeBook([td.Trade(symbol="INFY", isin='two\n"lines"')]).to_csv()
    path.write_bytes(edit(text).encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=f"book.csv is damaged.*{problem}"):
        td.TradeBook.load(path)


def test_a_csv_with_a_large_cell_is_read_and_no_limit_is_changed(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    book = td.TradeBook([td.Trade(symbol="x" * 200_000)])
    book.save(tmp_path / "book.csv")
    assert td.TradeBook.load(tmp_path / "book.csv") == book
    assert csv.field_size_limit() == limit


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


def in_zone(*times: str, zone: str = "Asia/Kolkata") -> Any:
    """Instants, given in UTC, as a column in a zone."""
    naive = [dt.datetime.fromisoformat(time) for time in times]
    return pa.array(naive, pa.timestamp("us", zone))


@pytest.mark.parametrize(
    "sent", ["2026-11-20 09:15:03", "2026-11-20T09:15:03+05:30", "2026-11-20 03:45:03Z"]
)
def test_a_time_in_extra_is_on_the_clock_of_the_columns(sent: str) -> None:
    """F185"""
    table = pa.table(
        {
            "order_date_time": in_zone("2026-11-20 03:45"),
            "extra": [json.dumps({"exch_trade_time": sent})],
        }
    )
    book = read(table)
    assert str(book[0].exch_trade_time) == "2026-11-20 09:15:03+05:30"
    assert not [issue for issue in book.issues if issue.field == "exch_trade_time"]


def test_a_time_in_extra_beside_a_repeated_hour_is_read_by_the_zone() -> None:
    """F185: both of the hours are kept, in UTC."""
    table = pa.table(
        {
            "order_date_time": in_zone(
                "2026-10-25 00:30", "2026-10-25 01:30", zone="Europe/Berlin"
            ),
            "extra": ['{"exch_trade_time": "2026-10-25 09:00:00"}'] * 2,
        }
    )
    book = read(table, constants={"last_updated_time": dt.datetime(2026, 6, 1, 12)})
    assert [str(row.order_date_time) for row in book] == [
        "2026-10-25 00:30:00+00:00",
        "2026-10-25 01:30:00+00:00",
    ]
    assert {str(row.exch_trade_time) for row in book} == {"2026-10-25 08:00:00+00:00"}
    assert {str(row.last_updated_time) for row in book} == {"2026-06-01 10:00:00+00:00"}


def test_a_constant_with_a_zone_is_on_the_clock_of_the_columns() -> None:
    """F185"""
    at = dt.datetime(2026, 11, 20, 3, 45, tzinfo=dt.UTC)
    zoned = pa.table({"order_date_time": in_zone("2026-11-20 03:45")})
    for constant in (at, at.astimezone(INDIA), dt.datetime(2026, 11, 20, 9, 15)):
        book = read(zoned, constants={"exch_trade_time": constant})
        assert str(book[0].exch_trade_time) == "2026-11-20 09:15:00+05:30"
        assert book.issues == ()
    # Without a zone in the data the clock time counts, as of a response.
    naive = read(pa.table({"order_no": ["1"]}), constants={"exch_trade_time": at})
    assert str(naive[0].exch_trade_time) == "2026-11-20 03:45:00"
    assert [(i.problem, i.count) for i in naive.issues] == [("offset from UTC, dropped", 1)]
    two = {"exch_trade_time": at, "order_date_time": at.astimezone(INDIA)}
    with pytest.raises(ValueError, match="another time zone"):
        read(pa.table({"order_no": ["1"]}), constants=two)


def test_times_with_one_offset_are_kept_wherever_they_are() -> None:
    """F185: the first of them is in `extra`, which is read after the columns."""
    times = [f"2026-11-20 09:15:0{second}+05:30" for second in range(3)]
    table = pa.table(
        {
            "exch_trade_time": [None, *times[1:]],
            "extra": [json.dumps({"exch_trade_time": times[0]}), None, None],
        }
    )
    book = read(table)
    assert [str(row.exch_trade_time)[-8:] for row in book] == ["09:15:00", "09:15:01", "09:15:02"]
    (issue,) = [issue for issue in book.issues if issue.field == "exch_trade_time"]
    assert issue[:4] == ("exch_trade_time", "offset from UTC, dropped", 3, 0)


def test_records_without_times_are_in_no_zone() -> None:
    """F185"""
    at = dt.datetime(2026, 11, 20, 9, 15, tzinfo=INDIA)
    rows = [td.Trade(order_no="1"), td.Trade(exch_trade_time=at), td.Trade(order_no="2")]
    for order in (rows, rows[::-1], rows[1:]):
        book = td.TradeBook(order)
        assert [row.exch_trade_time for row in book].count(at) == 1
        assert td.concat([td.TradeBook([row]) for row in order]) == book
    with pytest.raises(ValueError, match="different time zones"):
        td.TradeBook([*rows, td.Trade(exch_trade_time=dt.datetime(2026, 11, 20))])


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
