"""Every table in every format: one exporter, whatever the columns are stored in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from oracle import KINDS, sample
from sample_books import BOOK, INDIA
from tradingdata import sandbox
from tradingdata.archive import QueryResult
from tradingdata.books.column_table import ColumnTable
from tradingdata.export.table_export import TableExport

LABELS = ["desk1", "desk2"]


class Lists(ColumnTable):
    """The values of a book as lists, whose exports must be those of the book."""

    def __init__(self, book: Any, rows: Sequence[int] | None = None) -> None:
        self.book = book if rows is None else type(book)(book[row] for row in rows)

    def __len__(self) -> int:
        return len(self.book)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.book)

    def _take(self, rows: Sequence[int]) -> Lists:
        return Lists(self.book, rows)

    @property
    def _lists(self) -> Mapping[str, list[Any]]:
        lists: dict[str, list[Any]] = self.book.to_dict()
        return lists

    @property
    def _kinds(self) -> Mapping[str, str]:
        return {name: kind for name, kind, *_ in td._core.fields_of(self.book._record)}

    @property
    def _time_zone(self) -> Any:
        return self.book._rows.zone


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TableExport]]:
    with sandbox.start(accounts=LABELS, orders=30) as service:
        client = service.client("desk1")
        accounts: dict[str, dict[str, Any]] = {
            label: {"base_url": service.base_url, "access_token": service.token(label)}
            for label in LABELS
        }
        orders, trades = client.books()
        pnl = td.realised_pnl(trades, shorts=False)
        archive = td.Archive(tmp_path_factory.mktemp("archive") / "books.sqlite")
        archive.fetch(client)
        query = "SELECT symbol, quantity, trade_value, exch_trade_time, 7 AS symbol FROM trades"
        yield {
            "TradeBook": trades,
            "AccountBooks": td.order_books(accounts),
            "QueryResult": archive.sql(query),
            "Positions": td.positions(trades),
            "RealisedPnl": pnl,
            "Matches": pnl.matches,
            "unmatched": pnl.unmatched,
            "Lots": pnl.open_lots,
            "UnrealisedPnl": td.unrealised_pnl(pnl, lambda row: 1.5),
            "Reconciliation": td.reconcile(orders, trades),
            "ExecutionQuality": td.execution_quality(orders, trades),
        }


NAMES = [
    *("TradeBook", "AccountBooks", "QueryResult", "Positions", "RealisedPnl", "Matches"),
    *("unmatched", "Lots", "UnrealisedPnl", "Reconciliation", "ExecutionQuality"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_becomes_every_format(
    tables: dict[str, TableExport], name: str, tmp_path: Path
) -> None:
    table = tables[name]
    rows = table.to_dicts()
    assert len(rows) > 1
    names = list(table.to_dict())
    assert [
        dict(zip(names, row, strict=True)) for row in zip(*table.to_dict().values(), strict=True)
    ] == rows
    plain = [
        {key: value if _is_json(value) else str(value) for key, value in row.items()}
        for row in rows
    ]
    assert json.loads(table.to_json()) == json.loads(json.dumps(table.to_dicts(json=True))) == plain
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


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_chosen_and_categories_made_alike(
    tables: dict[str, TableExport], name: str
) -> None:
    table = tables[name]
    wanted = [column for column in ("account", "symbol") if column in table.to_dict()]
    assert list(table.to_pandas(wanted)) == wanted
    assert table.to_polars(wanted).columns == table.to_arrow(wanted).column_names == wanted
    assert table.to_csv(None, wanted).splitlines()[0] == ",".join(wanted)
    assert list(table.to_dicts(wanted)[0]) == wanted
    coded = table.to_pandas(wanted, categories=["symbol"])["symbol"].dtype
    assert isinstance(coded, pd.CategoricalDtype)
    assert list(coded.categories) == sorted(coded.categories)
    assert table.to_polars(wanted, categories=["symbol"])["symbol"].dtype == pl.Categorical
    assert "dictionary" in str(table.to_arrow(wanted, categories=["symbol"]).schema.field("symbol"))
    with pytest.raises(KeyError, match=r"has no (column|field) 'symbols'; did you mean 'symbol'"):
        table.to_pandas(["symbols"])
    with pytest.raises(TypeError, match=r"takes a list of names|a list of names is"):
        table.to_csv(None, "symbol")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spreadsheet", [False, True])
def test_lists_are_written_as_the_core_writes_a_book(kind: str, spreadsheet: bool) -> None:
    """F95, F99: the same bytes, for hostile text and odd numbers too."""
    for book in (sample(kind).book, sample(kind).book.localize("Asia/Kolkata")):
        lists = Lists(book)
        assert lists.to_csv(spreadsheet=spreadsheet) == book.to_csv(spreadsheet=spreadsheet)
        assert json.loads(lists.to_json()) == json.loads(book.to_json())
        written = [table.to_json(lines=True).splitlines() for table in (lists, book)]
        assert [*map(json.loads, written[0])] == [*map(json.loads, written[1])]
        assert lists.to_dicts(json=True) == book.to_dicts(json=True)
        assert lists.to_arrow().equals(book.to_arrow())
        assert lists.to_polars().equals(book.to_polars())
        pd.testing.assert_frame_equal(lists.to_pandas(), book.to_pandas())


def test_numbers_are_written_as_the_core_writes_them() -> None:
    numbers = [0.1 + 0.2, 1e15 + 0.5, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, -0.0, 100000.0]
    book = td.TradeBook(td.Trade(traded_price=number) for number in numbers)
    columns = ["traded_price"]
    assert Lists(book).to_csv(None, columns) == book.to_csv(None, columns)
    written = json.loads(Lists(book).to_json(None, columns))
    assert [str(float(row["traded_price"])) for row in written] == list(map(str, numbers))


def test_a_row_without_values_is_not_a_blank_line() -> None:
    book = td.TradeBook([td.Trade(), td.Trade(symbol="A")])
    assert Lists(book).to_csv(None, ["symbol"]) == book.to_csv(None, ["symbol"])


MOMENT = BOOK[7].exch_trade_time
assert MOMENT is not None
CONDITIONS: list[dict[str, Any]] = [
    {},
    {"symbol": BOOK[0].symbol},
    {"symbol__ne": BOOK[0].symbol},
    {"symbol": {"INFY", None}},
    {"symbol__gt": "INFY"},
    {"quantity__ge": BOOK[3].quantity, "txn_type": "B"},
    {"quantity": 1e5},
    {"traded_price__between": (100.0, 2000.0)},
    {"expiry_date": None},
    {"expiry_date__ne": None},
    {"exch_trade_time": MOMENT.date()},
    {"exch_trade_time__lt": MOMENT},
    {"exch_trade_time__ge": MOMENT.time()},
]


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
def test_lists_are_filtered_as_the_core_filters_a_book(conditions: dict[str, Any]) -> None:
    assert Lists(BOOK).filter(**conditions).to_dicts() == BOOK.filter(**conditions).to_dicts()


def test_filters_take_functions_zones_and_no_mistakes() -> None:
    def large(row: td.Trade) -> bool:
        return bool(row.quantity and row.quantity > 100)

    assert Lists(BOOK).filter(large).to_dicts() == BOOK.filter(large).to_dicts()
    local = BOOK.localize("Asia/Kolkata")
    when = MOMENT.replace(tzinfo=INDIA) if MOMENT else None
    found = Lists(local).filter(exch_trade_time=when).to_dicts()
    assert found == local.filter(exch_trade_time=when).to_dicts() != []
    mistakes: list[dict[str, Any]] = [
        {"symbols": "INFY"},
        {"quantity__gte": 5},
        {"quantity": "5"},
        {"quantity": True},
        {"symbol": 5},
        {"symbol": ["INFY"]},
    ]
    for table in (BOOK, Lists(BOOK)):
        for mistake in mistakes:
            with pytest.raises(TypeError):
                table.filter(**mistake)


def test_the_books_of_accounts_are_filtered_by_label_and_field(
    tables: dict[str, TableExport],
) -> None:
    books: Any = tables["AccountBooks"]
    found = books.filter(account="desk2", txn_type="B")
    assert isinstance(found, td.AccountBooks)
    assert list(found.books) == ["desk2"]
    assert found.books["desk2"] == books.books["desk2"].filter(txn_type="B")
    assert list(books.filter(account__ne="desk2").books) == ["desk1"]
    assert books.filter(lambda order: order.quantity > 50).to_dicts() == [
        row for row in books.to_dicts() if row["quantity"] > 50
    ]


def test_unknown_fields_of_several_accounts_are_exported_too() -> None:
    sent = sample("trade", 3).book
    books = td.AccountBooks(td.TradeBook, {"a": sent, "b": sent}, {})
    head = books.to_csv(extra=True).splitlines()[0].split(",")
    assert head == ["account", *sent.columns, *sent.extra_fields]
    assert sent.extra_fields
    assert books.to_dicts(extra=True)[0] == {"account": "a", **sent.to_dicts(extra=True)[0]}
    assert json.loads(books.to_json(extra=True))[0].keys() == books.to_dicts(extra=True)[0].keys()


def test_values_that_sqlite_mixes_are_text() -> None:
    result = QueryResult([(1, 2.5, b"x", None), ("a", float("inf"), None, None)], "abcd")
    assert result.to_polars().dtypes[0] == result.to_polars(["c"]).dtypes[0]
    assert result.to_pandas()["a"].tolist() == ["1", "a"]
    assert result.to_dicts()[0] == {"a": 1, "b": 2.5, "c": b"x", "d": None}
    assert json.loads(result.to_json())[1] == {"a": "a", "b": "inf", "c": None, "d": None}
    assert result.filter(b__gt=3.0) == [("a", float("inf"), None, None)]
    again = QueryResult([(1, 2)], ["a", "a"])
    assert (again.columns, again.to_dicts()) == (["a", "a"], [{"a": 1, "a_1": 2}])
