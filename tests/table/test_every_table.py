"""Every table in every format: one exporter, whatever the columns are stored in."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from analysis_samples import RESULTS, results, unwarned
from sample_books import BOOK
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


def test_every_table_is_filtered_by_the_same_rules() -> None:
    time = BOOK[7].exch_trade_time
    conditions: list[dict[str, Any]] = [
        {},
        {"symbol": BOOK[0].symbol, "expiry_date": None},
        {"quantity__ge": BOOK[3].quantity, "exch_trade_time__lt": time},
    ]
    for each in conditions:
        assert of_values(BOOK).filter(**each).to_dicts() == BOOK.filter(**each).to_dicts()


@pytest.mark.parametrize("wrong", [BOOK, BOOK[0], BOOK.to_pandas(), 5, object(), ["a"] * 500])
def test_the_message_for_a_wrong_argument_is_short(wrong: object) -> None:
    """Not the repr of a frame, and no error of the code that expected something else."""
    result = unwarned(lambda: td.realised_pnl(BOOK))
    calls: list[tuple[Any, dict[str, object]]] = [
        (BOOK.to_dict, {"columns": wrong}),
        (BOOK.to_arrow, {"categories": wrong}),
        (BOOK.to_dicts, {"json": wrong}),
        (BOOK.to_pandas, {"index": wrong}),
        (lambda given: BOOK.sort(given), {"given": wrong}),
        (lambda given: td.concat([result, given]), {"given": wrong}),
        *(
            (function, {"trades": BOOK, "rates": [td.ChargeRate()], name: wrong})
            for function, name in ((td.charges, "day"), (td.charges, "rates"))
        ),
        *((td.realised_pnl, {"trades": BOOK, name: wrong}) for name in ("day", "shorts")),
        (td.unrealised_pnl, {"lots": result, "prices": wrong}),
    ]
    for function, given in calls:
        if wrong is given.get("columns") and hasattr(wrong, "columns"):
            continue  # a frame is an iterable of its columns' names
        with pytest.raises((TypeError, ValueError, KeyError)) as raised:
            function(**given)
        message = str(raised.value)
        assert len(message) < 200
        assert "\n" not in message
        assert "object has" not in message


HARMLESS = {
    *("style", "div", "b", "table", "thead", "tbody", "tfoot", "tr", "th", "td"),
    *("details", "summary", "ul", "li"),
}


class Elements(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_of_every_table_is_harmless(tables: dict[str, TableExport]) -> None:
    for name, table in tables.items():
        found = Elements(table.to_html())
        assert found.tags.keys() <= HARMLESS, name
        assert found.attributes <= {"class", "title", "colspan"}, name


ATTACKS = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><b", "&lt;"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_html_escapes_what_the_service_sends(attack: str) -> None:
    trade = td.Trade(display_name=attack, symbol=attack, product_name=attack)
    page = td.TradeBook([trade] * 3).to_html(["display_name", "symbol", "product_name"])
    found = Elements(page)
    assert found.tags.keys() <= HARMLESS
    assert found.attributes <= {"class", "title", "colspan"}
    assert found.tags["td"] == 3 * 3
    assert found.text.count(attack) == 9


def test_html_counts_hidden_columns_below_the_table(tables: dict[str, TableExport]) -> None:
    """As a heading, the count was out of view where a page is narrower than the table."""
    book = tables["TradeBook"]
    assert isinstance(book, td.TradeBook)
    _, _, below = book._repr_html_().partition("</table>")
    hidden = re.search(r'title="([^"]+)">\+(\d+) more columns<', below)
    assert hidden
    assert len(hidden[1].split(", ")) == int(hidden[2])
    assert "more column" not in book.to_html(book.columns)


def test_html_has_all_rows_or_those_asked_for(tables: dict[str, TableExport]) -> None:
    book = tables["TradeBook"]
    assert isinstance(book, td.TradeBook)
    assert Elements(book.to_html()).tags["tr"] == 1 + len(book)
    for most in (1, 3, 4, len(book) - 1):
        assert Elements(book.to_html(["symbol"], rows=most)).tags["tr"] == 1 + most + 1
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


def test_nothing_that_tables_have_is_replaced_by_a_message(tables: dict[str, TableExport]) -> None:
    tried = " ".join(INSTEAD.values()).split()
    for name, table in tables.items():
        assert not [method for method in tried if hasattr(type(table), method)], name
