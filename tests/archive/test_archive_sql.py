"""SQL over an archive: typed views, for reading only."""

from __future__ import annotations

import datetime as dt
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tradingdata as td
from archiving import archive_with, order, order_response, trade, trade_response
from calls import within
from sample_records import PAN, kinds_of
from service import as_json, orders, trades
from signalling import sent_after
from tradingdata import _core
from tradingdata.archive import QueryResult, views

# What the service and its relatives send, and what the decoder makes something of or nothing.
ODD: list[Any] = [
    None, "", "NA", "5", " 5 ", "-5", "5.0", "5.25", "1e2", "1,501.05", "+5", "05", ".5", "5.",
    0, -1, 5, 5.0, 5.25, 1e2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 1.5e300, "0x5",
    "9007199254740992", "9007199254740993", "1e400", True, False, [], {}, [1], {"a": 1},
    "0001-01-01", "0001-01-01 00:00:00", "0000-00-00", "0000-00-00 00:00:00", "0001-01-02",
    "2026-11-20", "2026-11-20 10:00:00", "2026-11-20T10:00:00", "2026-11-20 10:00:00.25",
    "2026-11-20 10:00:00.", "2026-11-20 24:00:00", "2026-11-20 10:60:00", "2026-11-20 10:00:60",
    "2026-02-29", "2024-02-29", "2026-02-30 10:00:00", "2026-13-01", "2026-11-31", "9999-12-31",
    "2026-11-20 00:00:00", "2026-11-20T00:00:00", "2026-11-20 10:00", "20-11-2026",
    "2026-11-20 10:00:00+05:30", "2026-11-20T10:00:00.25+0530", "2026-11-20 00:00:00.00+05:30",
    "2026-11-20 10:00:00.1234567", "2026-11-20 10:00:00..5", "2026-11-20 10:00:00+24:00",
    "2026-11-20 10:00:00 +05:30", "2026-11-20 10:00:00.5x", "2026-11-20 00:00:00.0000001",
    "₹1234", "twelve \" \\ \n bytes", "📈",
    PAN, "ABXXXXXX4F", "short",
]  # fmt: skip


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
DIGITS = st.from_regex(r"-?[0-9]{1,12}(\.[0-9]{1,6})?(e[0-3])?", fullmatch=True)
VALUES = st.one_of(
    st.none(),
    TEXTS,
    DIGITS,
    st.integers(-(2**53), 2**53),
    st.booleans(),
    st.floats(-(2**53), 2**53),
    st.datetimes(dt.datetime(1, 1, 2)).map(lambda time: time.isoformat(" ")),
    st.dates(dt.date(1, 1, 2)).map(str),
)


def as_shown(value: Any) -> Any:
    """A value of a book as the views have it: times as text."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, dt.date) else value


def differs(kind: str, shown: Any, value: Any) -> bool:
    """Whether a view shows another value, or type, than a book has; fractions stand as sent."""
    wanted = as_shown(value)
    if kind == "timestamp" and shown is not None:
        shown = dt.datetime.fromisoformat(shown).isoformat(" ")
    return type(shown) is not type(wanted) or bool(shown != wanted)


def rows_of_views(archive: td.Archive, name: str, record: str) -> list[dict[str, Any]]:
    names = _core.names_of(record)
    return archive.sql(f"SELECT {', '.join(names)} FROM {name}").to_dicts()


# The SQLite of Windows' CPython (3.45.1) misses the last digit of such numbers.
[[_large]] = sqlite3.connect(":memory:").execute("SELECT CAST('1.5e+300' AS REAL)")
rounds_well = pytest.mark.skipif(_large != 1.5e300, reason="SQLite reads 1.5e+300 inexactly here")


@rounds_well
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
@pytest.mark.parametrize("kind", [td.Trade, td.Order], ids=lambda kind: kind.__name__)
def test_a_view_has_the_values_of_a_book(kind: type, tmp_path: Path) -> None:
    """Every odd value in every field, a row for each value."""
    name = "trades" if kind is td.Trade else "orders"
    make = trade if kind is td.Trade else order
    number = "trade_no" if kind is td.Trade else "order_no"
    response: Any = trade_response if kind is td.Trade else order_response
    kinds = kinds_of(kind)
    rows = [
        make(f"{position:03}") | {field: value for field in kinds if field != number}
        for position, value in enumerate(ODD)
    ]
    archive = archive_with(tmp_path, response(*rows))
    book = getattr(archive, name)()
    # The book is in order of its days; the rows of a view are found by their number.
    shown = {row[number]: row for row in rows_of_views(archive, name, kind.__name__)}
    assert len(shown) == len(ODD)
    for row in book.to_dicts():
        sent = ODD[int(row[number])]
        for field, value in row.items():
            found = shown[row[number]][field]
            assert not differs(kinds[field], found, value), (field, sent, found, value)


@rounds_well
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
@settings(max_examples=5, deadline=None, phases=[Phase.generate])
@given(st.lists(VALUES, min_size=20, max_size=60))
def test_a_view_has_the_values_of_a_book_whatever_was_sent(sent: list[Any]) -> None:
    kinds = kinds_of(td.Trade)
    fields = [field for field in kinds if field != "trade_no"]
    rows = [trade(f"{n:03}", **dict.fromkeys(fields, value)) for n, value in enumerate(sent)]
    with TemporaryDirectory() as folder:
        archive = archive_with(Path(folder), trade_response(*rows))
        shown = {row["trade_no"]: row for row in rows_of_views(archive, "trades", "Trade")}
        for row in archive.trades().to_dicts():
            for field, value in row.items():
                found = shown[row["trade_no"]][field]
                assert not differs(kinds[field], found, value), (field, found, value)


def test_a_view_says_whose_and_when(tmp_path: Path) -> None:
    book = trade_response(trade("7", more={"a": [1]}), account="desk1")
    archive = archive_with(tmp_path, book)
    query = "SELECT account, day, seen_at, json ->> '$.more.a[0]' FROM trades WHERE trade_no = ?"
    assert archive.sql(query, ["7"]) == [("desk1", "2026-11-20", "2026-11-20T10:15:00.000000Z", 1)]
    assert archive.sql("SELECT :a + 1 AS b", {"a": 1}).to_dicts() == [{"b": 2}]


def test_a_view_has_the_newest_state_of_an_order(tmp_path: Path) -> None:
    archive = archive_with(
        tmp_path,
        order_response(order(status="Pending"), at="10:00"),
        order_response(order(status="Success"), at="11:00"),
    )
    assert archive.sql("SELECT status, seen_at FROM orders") == [
        ("Success", "2026-11-20T05:30:00.000000Z")
    ]


def test_other_programs_find_the_views_in_the_file(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(3)), order_response(*orders(2)))
    other = sqlite3.connect(archive.path)
    for name in views.RECORDS:
        found = other.execute(f"SELECT * FROM {name}").fetchall()
        assert found == archive.sql(f"SELECT * FROM {name}")
    assert other.execute("SELECT DISTINCT pan_no FROM trades").fetchone()[0].count("X") == 6
    other.close()


def test_views_of_another_version_are_made_anew_at_the_next_write(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), at="10:00"))
    with sqlite3.connect(archive.path) as other:
        other.execute("DROP VIEW trades")
        other.execute("CREATE VIEW trades AS SELECT 1 AS old")
    other.close()
    assert archive.sql("SELECT trade_no FROM trades") == [("1",)]
    archive.add(trade_response(trade("1"), trade("2"), at="10:01"))
    other = sqlite3.connect(archive.path)
    assert other.execute("SELECT count(trade_no) FROM trades").fetchone() == (2,)
    other.close()


def test_a_result_has_columns_also_without_rows(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(3)))
    result = archive.sql("SELECT symbol, quantity FROM trades ORDER BY 1")
    assert result.columns == ["symbol", "quantity"]
    assert len(result) == 3
    assert list(result.to_pandas()["quantity"]) == [row[1] for row in result]
    assert result.to_polars().rows() == list(result)
    nothing = archive.sql("SELECT symbol, quantity FROM trades WHERE quantity < 0")
    assert nothing == []
    assert list(nothing.to_pandas()) == nothing.to_polars().columns == ["symbol", "quantity"]
    assert isinstance(result.to_pandas(), pd.DataFrame)
    assert isinstance(result.to_polars(), pl.DataFrame)
    assert QueryResult().columns == []


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_half_a_character_does_not_spoil_a_result(tmp_path: Path) -> None:
    """F83"""
    body = as_json({"status": "success", "data": [trade(symbol="half")]})
    book = td.TradeBook.from_json(body.replace(b'"half"', b'"IN\\ud800FY"'))
    archive = archive_with(tmp_path, book)
    ((symbol,),) = archive.sql("SELECT symbol FROM trades")
    assert symbol.startswith("IN\ufffd")
    assert symbol.endswith("FY")
    assert archive.trades()[0].symbol is None


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM records",
        "DELETE FROM trades",
        "UPDATE states SET json = '{}'",
        "DROP VIEW trades",
        "CREATE TABLE more (id INTEGER)",
        "PRAGMA user_version = 9",
        "INSERT INTO archive VALUES ('a', 'b')",
    ],
)
def test_a_query_that_would_write_is_refused(tmp_path: Path, query: str) -> None:
    archive = archive_with(tmp_path, trade_response(trade()))
    before = Path(archive.path).read_bytes()
    with pytest.raises(td.ArchiveError, match="only reads"):
        archive.sql(query)
    assert Path(archive.path).read_bytes() == before


def test_a_query_reaches_no_other_file(tmp_path: Path) -> None:
    archive = archive_with(tmp_path)
    for query in (f"ATTACH '{tmp_path}/other' AS other", f"VACUUM INTO '{tmp_path}/copy'"):
        with pytest.raises((sqlite3.Error, td.ArchiveError)):
            archive.sql(query)
    assert [path.name for path in tmp_path.iterdir()] == ["books.sqlite"]


def test_a_query_that_is_wrong_says_so(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such column: colour"):
        archive_with(tmp_path).sql("SELECT colour FROM trades")


def test_f125_a_query_is_text_that_can_be_encoded(tmp_path: Path) -> None:
    archive: Any = archive_with(tmp_path)
    with pytest.raises(TypeError, match="query must be text, not int"):
        archive.sql(5)
    with pytest.raises(td.ConfigurationError, match="query contains a lone surrogate"):
        archive.sql("SELECT '\ud800'")


def test_ctrl_c_ends_a_long_query(tmp_path: Path) -> None:
    """F105"""
    archive = archive_with(tmp_path)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with sent_after(0.2), within(0.4), pytest.raises(KeyboardInterrupt):
        archive.sql(endless)
