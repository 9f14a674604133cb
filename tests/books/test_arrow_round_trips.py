"""Books that go through other libraries and come back equal, unknown fields included."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tradingdata as td
from oracle import BOOKS, KINDS, empty, sample
from sample_records import TYPES, VALUES, kinds_of
from service import as_json, envelope
from tradingdata._core import fields_of


def read(data: Any, kind: Any) -> Any:
    return kind.from_arrow(data, keep_personal_data=True)


def through_parquet(book: Any, path: Path, *, by: str) -> Any:
    if by == "polars":
        book.to_polars(extra=True).write_parquet(path)
        return pl.read_parquet(path)
    book.to_parquet(path, extra=True)
    return pq.read_table(path)


WAYS = {
    "stream": lambda book, path: book.to_arrow(extra=True),
    "batches": lambda book, path: pa.Table.from_batches(
        book.to_arrow(extra=True).to_batches(max_chunksize=7), book.to_arrow(extra=True).schema
    ),
    "batch": lambda book, path: book.to_arrow(extra=True).combine_chunks().to_batches()[0],
    "reader": lambda book, path: book.to_arrow(extra=True).to_reader(3),
    "dictionaries": lambda book, path: book.to_arrow(
        extra=True,
        categories=[field for field, kind, *_ in fields_of(book._record) if kind == "text"],
    ),
    "polars": lambda book, path: book.to_polars(extra=True),
    "pandas": lambda book, path: book.to_pandas(extra=True),
    "Parquet of pyarrow": lambda book, path: through_parquet(book, path, by="pyarrow"),
    "Parquet of polars": lambda book, path: through_parquet(book, path, by="polars"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
def test_a_book_comes_back_as_it_went(
    kind: str, way: str, zone: str | None, tmp_path: Path
) -> None:
    book = sample(kind, 60).book.localize(None if kind == "stock" else zone)
    again = read(WAYS[way](book, tmp_path / "book.parquet"), BOOKS[kind])
    assert again == book
    assert again.issues == ()
    assert again.extra_fields == book.extra_fields
    assert again.response is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_book_comes_back(kind: str) -> None:
    for way in ("stream", "polars", "pandas"):
        again = read(WAYS[way](empty(kind), Path()), BOOKS[kind])
        assert (again, again.issues) == (empty(kind), ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), values, max_size=3)
    ),
    max_leaves=4,
)


def random_books(kind: Any) -> st.SearchStrategy[Any]:
    """Books of random records, with unknown fields."""
    names = list(kinds_of(kind))
    record = st.fixed_dictionaries(
        {}, optional={name: VALUES[of] for name, of in kinds_of(kind).items()}
    ).map(lambda values: kind(**values))
    unknown = st.dictionaries(
        st.text(st.characters(codec="utf-8")).filter(lambda name: name not in names),
        JSON,
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
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_random_books_come_back(kind: Any, tmp_path: Path, data: st.DataObject) -> None:
    book, path = data.draw(random_books(kind)), tmp_path / "book.parquet"
    for way in ("stream", "polars", "pandas", "Parquet of pyarrow", "Parquet of polars"):
        path.unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", td.DataWarning)
            again = read(WAYS[way](book, path), type(book))
        assert again == book, way
        assert again.extra_fields == book.extra_fields, way
