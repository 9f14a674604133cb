"""Every table in every format: one exporter, whatever the columns are stored in."""

from __future__ import annotations

import csv
import io
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from analysis_samples import RESULTS, results, unwarned
from tradingdata import _core, sandbox
from tradingdata.table.export import TableExport
from tradingdata.table.rows import row_type
from tradingdata.table.table import INSTEAD, Table
from worlds.records import KINDS, sample

LABELS = ["desk1", "desk2"]


def of_values(book: Any) -> Table[Any]:
    """A table made of the values of a book, whose exports must be those of the book."""
    row = row_type("Row", [(name, kind, "") for name, kind in book._kinds.items()])
    return Table._over(_core.table_of(row, [*book.to_dict().values()], book._rows.zone))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TableExport]]:
    with sandbox.start(accounts=LABELS, orders=30) as service:
        client = service.client("desk1")
        orders, trades = client.books()
        odd = td.TradeBook(t._replace(trade_value=td.required(t.quantity) * 1.37) for t in trades)
        archive = td.Archive(tmp_path_factory.mktemp("archive") / "books")
        archive.fetch(client)
        query = "SELECT symbol, quantity, trade_value, exch_trade_time, 7 AS symbol FROM trades"
        yield {
            "TradeBook": trades,
            "QueryResult": archive.sql(query),
            "OrderIssues": unwarned(lambda: td.execution_quality(orders, odd)).issues,
            **results(orders, trades),
        }


NAMES = ["TradeBook", "QueryResult", "OrderIssues", *RESULTS]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_becomes_every_format(
    tables: dict[str, TableExport], name: str, tmp_path: Path
) -> None:
    table = tables[name]
    rows = table.to_dicts()
    assert len(rows) > 1 - (name == "daily_pnl")  # which has one for the day of the trades
    names = list(table.to_dict())
    assert [
        dict(zip(names, row, strict=True)) for row in zip(*table.to_dict().values(), strict=True)
    ] == rows
    plain = [
        {key: value if _is_json(value) else str(value) for key, value in row.items()}
        for row in rows
    ]
    assert json.loads(table.to_json()) == plain
    assert [json.loads(line) for line in table.to_json(lines=True).splitlines()] == plain
    assert table.to_arrow().to_pylist() == rows == table.to_polars().to_dicts()
    frame = table.to_pandas()
    assert list(frame) == names
    assert len(frame) == len(rows)
    text = table.to_csv()
    head, *cells = csv.reader(io.StringIO(text, newline=""))
    assert head == names
    expected = [["" if value is None else str(value) for value in row.values()] for row in rows]
    assert cells == expected
    for suffix in ("csv", "json", "parquet", "xlsx"):
        write = getattr(table, {"xlsx": "to_excel"}.get(suffix, f"to_{suffix}"))
        path = tmp_path / f"table.{suffix}"
        write(path)
        with pytest.raises(FileExistsError):
            write(path)
    assert (tmp_path / "table.csv").read_text("utf-8") == text
    assert json.loads((tmp_path / "table.json").read_text("utf-8")) == plain
    assert pq.read_table(tmp_path / "table.parquet").to_pylist() == rows
    sheet = openpyxl.load_workbook(tmp_path / "table.xlsx").active
    assert sheet is not None
    assert [[cell.value for cell in row] for row in sheet.iter_rows(max_row=1)] == [names]
    assert sheet.max_row == len(rows) + 1
    assert sheet.auto_filter.ref == sheet.dimensions


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_chosen_alike(tables: dict[str, TableExport], name: str) -> None:
    table = tables[name]
    columns = table.to_dict().items()
    wanted = [column for column, values in columns if any(isinstance(one, str) for one in values)][
        :2
    ]
    text = wanted[-1]
    assert list(table.to_pandas(wanted)) == wanted
    assert table.to_polars(wanted).columns == table.to_arrow(wanted).column_names == wanted
    assert table.to_csv(None, wanted).splitlines()[0] == ",".join(wanted)
    assert list(table.to_dicts(wanted)[0]) == wanted
    with pytest.raises(KeyError, match=rf"has no (column|field) '{text}s'; did you mean '{text}'"):
        table.to_pandas([f"{text}s"])
    with pytest.raises(TypeError, match=r"takes a list of names|a list of names is"):
        table.to_csv(None, text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
def test_a_table_of_values_is_exported_as_the_book_that_they_are_from(
    kind: str, zone: str | None
) -> None:
    """The same bytes, for hostile text and odd numbers too."""
    book = sample(kind).book.localize(zone)
    table = of_values(book)
    assert (table.to_csv(), table.to_json()) == (book.to_csv(), book.to_json())
    assert table.to_arrow().equals(book.to_arrow())
    assert pickle.loads(pickle.dumps(table)) == table
    assert [row._asdict() for row in table] == book.to_dicts()
    assert pickle.loads(pickle.dumps(table[0])) == table[0]


def test_html_has_all_rows_or_those_asked_for(tables: dict[str, TableExport]) -> None:
    book = tables["TradeBook"]
    assert isinstance(book, td.TradeBook)
    assert book.to_html().count("<tr") == 1 + len(book)
    for most in (1, 3, 4, len(book) - 1):
        assert book.to_html(["symbol"], rows=most).count("<tr") == 1 + most + 1
    for rows in (len(book), len(book) + 1):  # none is left out, and none counted
        assert "more</td>" not in book.to_html(["symbol"], rows=rows)
    with pytest.raises(KeyError, match="nothing"):
        book.to_html(["nothing"])
    with pytest.raises(ValueError, match="rows"):
        book.to_html(rows=0)


def test_html_has_every_character_whatever_standard_output_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page is UTF-8; what is printed is escaped."""
    book = td.TradeBook([td.Trade(display_name="\u20b9\u0928")])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert "\u20b9\u0928" in book.to_html()
    record: Any = book[0]
    assert "\u20b9\u0928" in record._repr_html_()
    assert "\\u20b9\\u0928" in repr(book)


def test_a_display_on_an_ascii_terminal_is_as_wide_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    monkeypatch.setenv("COLUMNS", "40")
    lines = repr(td.TradeBook([td.Trade(display_name="x" * 200)] * 99)).splitlines()
    assert [line for line in lines if len(line) > 40] == []
    assert "xxx~xxx" in lines[3]
    assert "  ... 89 more" in lines


def test_nothing_that_tables_have_is_replaced_by_a_message(tables: dict[str, TableExport]) -> None:
    tried = " ".join(INSTEAD.values()).split()
    for name, table in tables.items():
        assert not [method for method in tried if hasattr(type(table), method)], name
