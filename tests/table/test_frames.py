"""Data frames: dtypes that never depend on the data, and values that are those of the response."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tradingdata as td
from pandas_dtypes import TEXT
from worlds.records import BOOKS, KINDS, Sample, empty, of_kind, sample

PANDAS = {
    "string": TEXT,
    "integer": "Int64",
    "number": "float64",
    "string, timestamp": "datetime64[us]",
    "string, date": "datetime64[us]",
}


@pytest.fixture(params=["pyarrow", "python"])
def storage(request: pytest.FixtureRequest) -> Iterator[str]:
    """How pandas holds text: in pyarrow or, if a user sets it so, as objects."""
    with pd.option_context("mode.string_storage", request.param):
        yield request.param


def values(column: pd.Series[Any]) -> list[Any]:
    """A pandas column as plain values, None where there is none."""
    plain = [None if pd.isna(value) else value for value in column]
    return [v.to_pydatetime() if isinstance(v, pd.Timestamp) else v for v in plain]


def check(frame: pd.DataFrame, expected: Sample) -> None:
    assert list(frame.columns) == list(expected.kinds)
    for name, kind in expected.kinds.items():
        found = values(frame[name])
        if kind == "string, date":
            assert all(moment is None or moment.time() == dt.time() for moment in found)
            found = [moment and moment.date() for moment in found]
        assert found == expected.column(name), name


@pytest.mark.parametrize("kind", KINDS)
def test_pandas_dtypes_are_the_same_for_every_response(kind: str, storage: str) -> None:
    expected = sample(kind, 30)
    documented = {name: PANDAS[words] for name, words in expected.kinds.items()}
    for book in (expected.book, expected.book[:0], empty(kind), BOOKS[kind]()):
        frame = book.to_pandas()
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == documented
        assert frame.index.equals(pd.RangeIndex(len(book)))
        texts = [frame[name].dtype for name in of_kind(expected, "string")]
        assert {dtype.storage for dtype in texts} == {storage}
        if TEXT == "str":
            assert all(np.isnan(dtype.na_value) for dtype in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_pandas_holds_the_values_that_json_reads(kind: str, storage: str) -> None:
    expected = sample(kind)
    check(expected.book.to_pandas(), expected)
    check(expected.book[11:60].to_pandas(), expected.part(slice(11, 60)))
    check(expected.book[::-9].to_pandas(), expected.part(slice(None, None, -9)))


def test_a_frame_can_be_changed_without_changing_its_book(storage: str) -> None:
    expected = sample("trade", 30)
    frame = expected.book.to_pandas()
    frame.loc[0, "quantity"] = 999_999
    frame.loc[0, "symbol"] = "CHANGED"
    frame["traded_price"] *= 2
    frame.loc[:, "exch_trade_time"] = pd.Timestamp("2001-01-01")
    frame.iloc[0, 17] = 1.0
    assert frame.loc[0, "quantity"] == 999_999
    for name, value in (("traded_price", 1.5), ("exch_trade_time", pd.Timestamp("2001-01-01"))):
        alone = expected.book.to_pandas([name])
        alone.iloc[0, 0] = value
        assert alone.iloc[0, 0] == value
    check(expected.book.to_pandas(), expected)


def test_localized_books_give_localized_frames(storage: str) -> None:
    expected = sample("order", 40)
    book = expected.book.localize("Asia/Kolkata")
    pandas_frame, polars_frame, arrow = book.to_pandas(), book.to_polars(), book.to_arrow()
    naive = expected.book.to_pandas()
    for name in of_kind(expected, "string, timestamp"):
        rows = [row[name] for row in book]
        assert str(pandas_frame[name].dtype) == "datetime64[us, Asia/Kolkata]"
        assert values(pandas_frame[name]) == rows
        assert pandas_frame[name].equals(naive[name].dt.tz_localize("Asia/Kolkata"))
        assert polars_frame.schema[name] == pl.Datetime("us", "Asia/Kolkata")
        assert polars_frame[name].to_list() == rows
        assert arrow[name].to_pylist() == rows
    dates = of_kind(expected, "string, date")
    assert {str(pandas_frame[name].dtype) for name in dates} == {PANDAS["string, date"]}
    assert str(book[:0].to_pandas()["order_date_time"].dtype) == "datetime64[us, Asia/Kolkata]"


class _Rules(ZoneInfo):
    """A zone whose rules begin in 2000."""

    def utcoffset(self, when: dt.datetime | None) -> dt.timedelta | None:
        assert when is None or when.year >= 2000
        return super().utcoffset(when)


def test_no_offset_is_asked_for_where_there_is_no_time() -> None:
    made = td.TradeBook([td.Trade(exch_trade_time=dt.datetime(2026, 11, 20)), td.Trade()])
    assert made.localize(_Rules("Asia/Kolkata")).to_pandas()["exch_trade_time"].isna().tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("frame", "library", "extra"),
    [
        ("to_pandas", "pandas", "pandas"),
        ("to_pandas", "pyarrow", "pandas"),
        ("to_polars", "polars", "polars"),
        ("to_arrow", "pyarrow", "arrow"),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, frame: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{library}.*pip install .*\[{extra}\]"):
        getattr(sample("trade", 2).book, frame)()


def test_a_library_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pd, "__version__", "2.1.4")
    with pytest.raises(ImportError, match=r"needs pandas 2\.2 or later and found 2\.1\.4: pip"):
        sample("trade", 2).book.to_pandas()
    monkeypatch.setattr(pl, "__version__", "1.2.1")
    with pytest.raises(ImportError, match=r"needs polars 1\.3 or later and found 1\.2\.1: pip"):
        sample("trade", 2).book.to_polars()
    monkeypatch.setattr(pa, "__version__", "15.0.2")
    with pytest.raises(ImportError, match=r"needs pyarrow 16\.0 or later and found 15\.0\.2: pip"):
        sample("trade", 2).book.to_arrow()


def test_a_library_that_is_broken_says_so_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "polars.py").write_text("import a_module_that_polars_needs\n")
    monkeypatch.delitem(sys.modules, "polars")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_polars_needs"):
        sample("trade", 2).book.to_polars()
