"""The Arrow stream: its types, its values, who takes it, and who keeps what alive."""

from __future__ import annotations

import datetime as dt
import gc
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import tradingdata as td
from sample_books import Nameless
from service import trades
from worlds.records import KINDS, Sample, body_of, of_kind, sample

pytestmark = pytest.mark.sanitize

TYPES = {
    "string": pa.string_view(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "string, timestamp": pa.timestamp("us"),
    "string, date": pa.date32(),
}
POLARS = {
    "string": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "string, timestamp": pl.Datetime("us"),
    "string, date": pl.Date(),
}
PARTS = {
    "whole": slice(None),
    "odd start": slice(3, 150),
    "few": slice(101, 108),
    "steps": slice(5, 190, 7),
    "reversed": slice(None, None, -1),
    "none": slice(50, 50),
}


def query(sql: str, *, book: Any) -> list[Any]:
    """What duckdb returns; it finds `book` among the caller's variables."""
    relation = duckdb.sql(sql)
    assert relation is not None
    return relation.fetchall()


def checked(frame: pa.Table) -> dict[str, list[Any]]:
    frame.validate(full=True)
    values: dict[str, list[Any]] = frame.to_pydict()
    return values


def check(frame: pa.Table, expected: Sample) -> None:
    assert checked(frame) == {name: expected.column(name) for name in expected.kinds}


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_has_every_field_in_order_and_names_the_record(kind: str) -> None:
    expected = sample(kind, 3)
    schema, frame = pa.table(expected.book).schema, expected.book[:0].to_polars()
    assert schema.names == frame.columns == list(expected.kinds)
    kinds = expected.kinds.values()
    assert schema.types == [TYPES[words] for words in kinds]
    assert frame.dtypes == [POLARS[words] for words in kinds]
    plain = [pa.string() if words == "string" else TYPES[words] for words in kinds]
    assert expected.book.to_arrow().schema.types == plain
    assert all(field.nullable for field in schema)
    assert schema.metadata == {b"tradingdata.record": kind.title().encode()}


READERS: dict[str, Callable[[Any], dict[str, list[Any]]]] = {
    "pa.table": lambda book: checked(pa.table(book)),
    "to_arrow": lambda book: checked(book.to_arrow()),
    "pl.DataFrame": lambda book: pl.DataFrame(book).to_dict(as_series=False),
    "to_polars": lambda book: book.to_polars().to_dict(as_series=False),
    "duckdb": lambda book: {
        name: [row[at] for row in query("select * from book", book=book)]
        for at, name in enumerate(book.columns)
    },
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_values_are_those_that_json_reads(reader: str, kind: str, part: str) -> None:
    expected = sample(kind).part(PARTS[part])
    assert READERS[reader](expected.book) == {
        name: expected.column(name) for name in expected.kinds
    }


def test_a_complete_book_is_exported_without_a_copy() -> None:
    book = sample("trade", 100).book
    for one, other in zip(pa.table(book).columns, pa.table(book).columns, strict=True):
        parts = zip(one.chunk(0).buffers(), other.chunk(0).buffers(), strict=True)
        assert all(a is b is None or a.address == b.address for a, b in parts)


def test_a_request_for_other_types_is_ignored() -> None:
    names = [(name, pa.large_string()) for name in sample("stock").kinds]
    capsule = pa.schema(names).__arrow_c_schema__()
    book = sample("stock", 5).book
    assert book.__arrow_c_stream__(requested_schema=capsule)
    assert pa.table(book).schema.types == [TYPES[words] for words in sample("stock").kinds.values()]


def test_capsules_that_nobody_takes_are_freed() -> None:
    book = sample("trade", 5).book
    for _ in range(100):
        book.__arrow_c_stream__()
    gc.collect()


def test_frames_outlive_their_book() -> None:
    expected = sample("trade", 500)
    book = expected.book
    frames = [pa.table(book), pa.table(book[100:]), pa.table(book[:5])]
    polars_frame = pl.DataFrame(book)
    column = pa.table(book)["display_name"]
    del book
    expected = sample("trade", 500)
    gc.collect()
    ballast = [sample("trade", 500, seed) for seed in range(1, 4)]
    check(frames[0], expected)
    check(frames[1], expected.part(slice(100, None)))
    check(frames[2], expected.part(slice(5)))
    assert polars_frame["display_name"].to_list() == expected.column("display_name")
    assert column.to_pylist() == expected.column("display_name")
    assert ballast


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Asia/Kolkata", "Asia/Kolkata"),
        (dt.timezone(dt.timedelta(hours=5, minutes=30)), "+05:30"),
        (dt.timezone(-dt.timedelta(hours=3, minutes=30)), "-03:30"),
        (dt.UTC, "UTC"),
    ],
)
def test_localized_times_leave_as_instants(zone: Any, name: str) -> None:
    expected = sample("trade", 100)
    frame = pa.table(expected.book.localize(zone))
    for column in of_kind(expected, "string, timestamp"):
        assert frame[column].type == pa.timestamp("us", name)
        assert frame[column].to_pylist() == [row[column] for row in expected.book.localize(zone)]
    check(pa.table(expected.book), expected)


def test_the_days_when_clocks_change_are_read_as_datetime_reads_them() -> None:
    times = [
        f"{day} {hour:02}:{minute:02}:00"
        for day in ("2025-03-29", "2025-03-30", "2025-10-26", "1900-01-01")
        for hour in range(24)
        for minute in (0, 30, 59)
    ]
    book = td.TradeBook.from_json(
        body_of("trade", trades(len(times), exch_trade_time=times.__getitem__))
    ).localize("Europe/London")
    leaving = pa.table(book)["exch_trade_time"].cast(pa.int64()).to_pylist()
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    wall = book.to_dict(["exch_trade_time"])["exch_trade_time"]
    instants = [time.astimezone(dt.UTC) - epoch for time in wall]
    assert leaving == [round(instant / dt.timedelta(microseconds=1)) for instant in instants]


def test_a_zone_without_a_name_is_refused() -> None:
    book = sample("trade", 2).book
    with pytest.raises(ValueError, match="by name"):
        pa.table(book.localize(Nameless()))
    with pytest.raises(ValueError, match="full minutes"):
        pa.table(book.localize(dt.timezone(dt.timedelta(seconds=1))))
