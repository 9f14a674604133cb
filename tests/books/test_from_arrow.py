"""Books made of what other libraries export over the Arrow C interface, their own exports too."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tradingdata as td
from sample_records import JSON_VALUES, TYPES, VALUES, kinds_of
from service import as_json, envelope
from worlds.records import BOOKS, KINDS, sample

INDIA = ZoneInfo("Asia/Kolkata")


def read(data: Any, kind: Any = td.TradeBook) -> Any:
    return kind.from_arrow(data, keep_personal_data=True)


def one_column(name: str, array: Any) -> Any:
    """A trade book of a table with one column; the others are missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return read(pa.table({name: array}))


def issues_of(book: Any, field: str) -> list[tuple[str, int, int, bool]]:
    return [(i.problem, i.count, i.row, i.lost) for i in book.issues if i.field == field]


def test_clock_times_around_a_change_of_the_offset() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    hours = [dt.datetime(2026, 3, 28, 20, tzinfo=dt.UTC) + dt.timedelta(hours=h) for h in range(12)]
    book = one_column("exch_trade_time", pa.array(hours, pa.timestamp("us", "Europe/Berlin")))
    assert [row.exch_trade_time for row in book] == [hour.astimezone(berlin) for hour in hours]


def test_offsets_and_their_names_become_zones() -> None:
    array = pa.array([dt.datetime(2026, 1, 6)], pa.timestamp("us", "+05:30"))
    found = one_column("exch_trade_time", array)[0].exch_trade_time
    assert found.utcoffset() == dt.timedelta(hours=5, minutes=30)
    wrong = pa.table({"exch_trade_time": array.cast(pa.timestamp("us", "Not/There"))})
    with pytest.raises(ValueError, match="Not/There"):
        td.TradeBook.from_arrow(wrong)


def test_two_zones_in_one_book_are_an_error() -> None:
    zoned = pa.array([dt.datetime(2026, 1, 6)], pa.timestamp("us", "UTC"))
    naive = zoned.cast(pa.timestamp("us"))
    for other in (naive, naive.cast(pa.string())):  # text is of no zone
        with pytest.raises(TypeError, match="order_date_time"):
            td.TradeBook.from_arrow(pa.table({"exch_trade_time": zoned, "order_date_time": other}))


@pytest.mark.parametrize("first", ["exch_trade_time", "order_date_time"])
def test_of_two_offsets_that_are_as_frequent_the_first_row_s_is_kept(first: str) -> None:
    """In whichever column it is, as in a response."""
    (then,) = {"exch_trade_time", "order_date_time"} - {first}
    rows = [
        {first: "2026-01-06 09:15:00+05:30", then: None},
        {first: None, then: "2026-01-06 09:15:00+09:00"},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        sent = td.TradeBook.from_json(as_json(envelope(rows)))
        book = read(pa.Table.from_pylist(rows))
    assert book.to_dict([*rows[0]]) == sent.to_dict([*rows[0]])
    assert book.column(first) == [dt.datetime(2026, 1, 6, 9, 15), None]
    assert book.column(then) == [None, None]
    for field in rows[0]:
        assert issues_of(book, field) == issues_of(sent, field)


def test_a_missing_column_is_none_and_an_issue() -> None:
    table = sample("trade", 5).book.to_arrow().drop_columns(["isin", "account"])
    with pytest.warns(td.DataWarning, match="isin"):
        book = td.TradeBook.from_arrow(table)
    assert [row.isin for row in book] == [None] * 5
    assert [issue.field for issue in book.issues] == ["isin"]  # an account is no one's to send
    assert issues_of(book, "isin") == [("missing", 5, 0, True)]
    with pytest.warns(td.DataWarning, match="isin"):
        kept = read(table.append_column("extra", pa.array(['{"isin": "X"}', *[None] * 4])))
    assert [row.isin for row in kept] == ["X", *[None] * 4]
    assert issues_of(kept, "isin") == [("missing", 4, 1, True)]


def test_columns_of_an_archive_and_of_an_index_are_dropped() -> None:
    book = sample("trade", 4).book
    table = book.to_arrow(extra=True)
    for name in ("day", "fetch_id", "received_at", "sent"):
        table = table.append_column(name, pa.array(["x"] * 4))
    assert read(table) == book
    frame = book.to_pandas(extra=True).set_index(pd.Index([5, 6, 7, 9]))
    assert read(frame) == book


def test_the_column_extra_holds_json_objects() -> None:
    texts = ['{"a": 1, "b": {"c": [1.50]}}', None, "", '{"a":2,"a":3,"quantity":9}', "{}"]
    book = one_column("extra", pa.array(texts))
    assert [row._extra for row in book] == [{"a": 1, "b": {"c": [1.5]}}, {}, {}, {"a": 3}, {}]
    assert [row.quantity for row in book] == [None, None, None, 9, None]
    for wrong in ("[1]", "{", "{}x", '{"a":}', "null", "{}{}", '{"a":"\x01"}'):
        with pytest.raises(ValueError, match="extra"):
            one_column("extra", pa.array([None, wrong]))


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_older_version_kept_as_an_unknown_field_fills_the_field(kind: str) -> None:
    """An older version stores fields that the service adds in the column `extra`."""
    book = sample(kind).book
    table = book.to_arrow(extra=True)
    for name in book.columns[::3]:
        values = table.column(name).to_pylist()
        objects = [json.dumps({name: value}, default=str) for value in values]
        later = table.drop_columns([name] + ["extra"] * ("extra" in table.column_names))
        stored = read(later.append_column("extra", pa.array(objects)), type(book))
        assert stored.column(name) == book.column(name)
        assert stored.issues == ()
        # Some rows are of a newer version, which has the column.
        newer = [index % 2 == 0 for index in range(len(values))]
        half = pa.array(
            [value if new else None for value, new in zip(values, newer, strict=True)],
            table.schema.field(name).type,
        )
        both = later.append_column(name, half).append_column("extra", pa.array(objects))
        assert read(both, type(book)).column(name) == book.column(name)


def test_a_stream_is_consumed_once() -> None:
    class Once:
        def __init__(self) -> None:
            self.capsule = pa.table({"symbol": ["a"]}).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return self.capsule

    once = Once()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        assert len(td.TradeBook.from_arrow(once)) == 1
    with pytest.raises(ValueError, match="consumed before"):
        td.TradeBook.from_arrow(once)


def through_parquet(book: Any, path: Path, *, by: str) -> Any:
    if by == "polars":
        book.to_polars(extra=True).write_parquet(path)
        return pl.read_parquet(path)
    book.to_parquet(path, extra=True)
    return pq.read_table(path)


def with_dictionaries(table: pa.Table) -> pa.Table:
    """Returns the table with its text, but for the unknown fields, in dictionaries."""
    for at, name in enumerate(table.column_names):
        if table.schema.field(at).type == pa.string() and name != "extra":
            table = table.set_column(at, name, table.column(at).dictionary_encode())
    return table


def one_batch(table: pa.Table) -> pa.RecordBatch:
    return pa.record_batch([column.combine_chunks() for column in table.columns], table.schema)


WAYS = {
    "stream": lambda book, path: book.to_arrow(extra=True),
    "batches": lambda book, path: pa.Table.from_batches(
        book.to_arrow(extra=True).to_batches(max_chunksize=2), book.to_arrow(extra=True).schema
    ),
    "batch": lambda book, path: one_batch(book.to_arrow(extra=True)),
    "reader": lambda book, path: book.to_arrow(extra=True).to_reader(1),
    "dictionaries": lambda book, path: with_dictionaries(book.to_arrow(extra=True)),
    "polars": lambda book, path: book.to_polars(extra=True),
    "pandas": lambda book, path: book.to_pandas(extra=True),
    "Parquet of pyarrow": lambda book, path: through_parquet(book, path, by="pyarrow"),
    "Parquet of polars": lambda book, path: through_parquet(book, path, by="polars"),
}


def random_books(kind: Any) -> st.SearchStrategy[Any]:
    """Books of random records, with unknown fields."""
    names = list(kinds_of(kind))
    record = st.fixed_dictionaries(
        {}, optional={name: VALUES[of] for name, of in kinds_of(kind).items()}
    ).map(lambda values: kind(**values))
    unknown = st.dictionaries(
        st.text(st.characters(codec="utf-8")).filter(lambda name: name not in names),
        JSON_VALUES,
        max_size=2,
    )

    def joined(rows: list[tuple[Any, dict[str, Any]]]) -> Any:
        book = BOOKS[kind.__name__.lower()]([row for row, _ in rows])
        text = json.loads(book._rows.to_json())
        for sent, (_, extra) in zip(text, rows, strict=True):
            sent |= extra
        body = as_json(text if kind is td.Stock else envelope(text))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", td.DataWarning)
            return type(book).from_json(body, keep_personal_data=True)

    return st.lists(st.tuples(record, unknown), max_size=4).map(joined)


@pytest.mark.parametrize("kind", TYPES)
@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_book_comes_back_as_it_went(kind: Any, tmp_path: Path, data: st.DataObject) -> None:
    zone = None if kind is td.Stock else data.draw(st.sampled_from([None, "Asia/Kolkata"]))
    book, path = data.draw(random_books(kind)).localize(zone), tmp_path / "book.parquet"
    for way in WAYS:
        path.unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", td.DataWarning)
            again = read(WAYS[way](book, path), type(book))
        assert (again, again.issues, again.response) == (book, (), None), way
        assert again.extra_fields == book.extra_fields, way
