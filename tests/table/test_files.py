"""Files: exact, whole or not at all, and harmless in a spreadsheet."""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils.escape import unescape

import tradingdata as td
from service import trades
from systems import link_to, needs
from tradingdata.display import group
from worlds.records import BOOKS, KINDS, body_of, read, sample

MOMENT = dt.datetime(2025, 1, 6, 9, 30)
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("x","y")', "\uff1d1+1")


CELLS: list[tuple[Any, str]] = [
    *(("", '""'), ("plain text", "plain text"), ("a,b", '"a,b"'), ("=1+1", "=1+1")),
    *(('a"b', '"a""b"'), ("two\nlines", '"two\nlines"'), ("one\rline", '"one\rline"'), (None, "")),
    *((1501.05, "1501.05"), (100000.0, "100000.0"), (-0.0, "-0.0"), (0.0001, "0.0001")),
    *(
        (1e-5, "1e-05"),
        (2.0**53, "9007199254740992.0"),
        (-5.5, "-5.5"),
        (1 - 2**63, f"-{2**63 - 1}"),
    ),
    *((MOMENT, "2025-01-06 09:30:00"), (MOMENT.date(), "2025-01-06")),
    (MOMENT.replace(microsecond=5, tzinfo=dt.timezone.max), "2025-01-06 09:30:00.000005+23:59"),
]
FIELDS = {float: "traded_price", int: "quantity", dt.datetime: "exch_trade_time"}
FIELDS |= {dt.date: "expiry_date"}


def cell(value: Any, *, spreadsheet: bool = False) -> str:
    """The line of a row that has one value, beside a column without one."""
    book = td.TradeBook([td.Trade(**{FIELDS.get(type(value), "symbol"): value})])
    names = [FIELDS.get(type(value), "symbol"), "settlor"]
    end = "\r\n" if spreadsheet else "\n"
    head, line = book.to_csv(columns=names, spreadsheet=spreadsheet).removesuffix(end).split(end, 1)
    assert head == "\ufeff" * spreadsheet + ",".join(names)
    return line.removesuffix(",")


@pytest.mark.parametrize(("value", "written"), CELLS)
def test_a_cell_reads_back_as_its_value(value: Any, written: str) -> None:
    assert cell(value) == written


@pytest.mark.parametrize("count", [4096, 4097, 9000])
def test_every_row_is_written_once_in_order(count: int) -> None:
    book = td.TradeBook([td.Trade(row_no=number) for number in range(count)])
    head, *lines = book.to_csv(columns=["row_no"]).splitlines()
    assert head == "row_no"
    assert lines == list(map(str, range(count)))


def test_a_line_is_never_blank() -> None:
    assert td.TradeBook([td.Trade()]).to_csv(columns=["symbol"]) == 'symbol\n""\n'
    assert td.TradeBook().to_csv(columns=["symbol"]) == "symbol\n"


CHANGED = (
    "=1+1|+1|-1|@SUM(A1)|\tx|\rx|\uff1d1+1|\uff0b1|\uff0d1|\uff20a|5/10|1-2|1-2-2026|MAR1|mar 1|"
    "1-Mar|25MAR|DEC25|Sept 2026|2 March 2026|10:30|10:30 PM|9 a|1E5|1e5|12E45|1.5e-7|00123|1.50|"
    "007.5|.5|5.|1,234|50%|$5|(5)|\u20b9500|\u00a35|\u20ac5|\u00a55|5\u00a0000|1 1/2| 5|5 |TRUE|"
    "false|#N/A|123456789012345|1.00000000000001|2026-11-20|1.2.2026|2026-11-20T10:04:05Z|"
    "26NOVE"
)
KEPT = (
    "INFY|A1|E1|E5|T2|P5|NIFTY25MAR24500CE|INE009A01021|20 Microns Ltd|5PAISA|3M India|12345|"
    "0|12.5|1501.05|12.345678901234|12345678901234|BAJAJ-AUTO|truely|Market|Dec|N/A|M&M|"
    "S&P 500|a=1|MARUTI 26NOV2026 12000 PE|MARICO 500|ZEE5|TATA 1|PE 100|E 5"
)


def test_a_spreadsheet_runs_no_formula_and_takes_no_text_for_another_value() -> None:
    for text in CHANGED.split("|"):
        assert cell(text, spreadsheet=True).strip('"') == f"'{text}"
        assert "'" not in cell(text)
    for text in KEPT.split("|"):
        assert cell(text, spreadsheet=True) == text
    assert cell(-5.5, spreadsheet=True) == "-5.5"


def test_parquet_without_its_library_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow, .*: pip install"):
        sample("trade", 40).book.to_parquet(tmp_path / "none.parquet")
    assert os.listdir(tmp_path) == []


def cells(path: Path) -> list[list[Any]]:
    sheet = openpyxl.load_workbook(path).active
    return [list(row) for row in sheet.iter_rows()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_workbook_has_the_values_that_json_reads(kind: str, tmp_path: Path) -> None:
    expected = read(kind, body_of(kind, [*sample(kind, 30).rows]))
    path = tmp_path / "book.xlsx"
    expected.book.to_excel(path)
    head, *rows = cells(path)
    assert [cell.value for cell in head] == list(expected.kinds)
    for at, (name, words) in enumerate(expected.kinds.items()):
        wanted = expected.column(name)
        if words == "string, date":
            wanted = [day and dt.datetime(day.year, day.month, day.day) for day in wanted]
        found = [row[at].value for row in rows]
        if words == "string":  # a workbook cannot tell empty text from none
            found = [unescape(value or "") for value in found]
            wanted = [value or "" for value in wanted]
            assert all(row[at].data_type in ("s", "inlineStr", "n") for row in rows)
        assert found == wanted, name


def test_a_workbook_runs_no_formula_and_keeps_each_digit(tmp_path: Path) -> None:
    """A number with more than 15 digits is text."""
    texts = [text for text in FORMULAS if text[0] not in "\t\r"] + ["1000000000000000123"]
    numbers = [10**15 - 1, 1 - 10**15, 10**15, -(10**15), *[2**60 + 1] * len(texts)]
    records = trades(len(texts), symbol=texts.__getitem__, quantity=numbers.__getitem__)
    book = td.TradeBook.from_json(body_of("trade", records))
    book.to_excel(tmp_path / "book.xlsx", ["symbol", "quantity"])
    rows = cells(tmp_path / "book.xlsx")[1:]
    for text, number, row in zip(texts, numbers, rows, strict=False):
        assert (row[0].value, row[0].data_type) == (text, "s")
        assert row[1].value == (number if abs(number) < 10**15 else str(number))


def test_a_workbook_shows_the_wall_clock_of_a_localized_book(tmp_path: Path) -> None:
    expected = sample("trade", 10)
    wanted = ["exch_trade_time", "quantity"]  # a row without any value ends the sheet
    expected.book.localize("Asia/Kolkata").to_excel(tmp_path / "x.xlsx", wanted)
    found = [row[0].value for row in cells(tmp_path / "x.xlsx")[1:]]
    assert found == expected.column("exch_trade_time")


def test_a_workbook_shows_every_digit_of_a_number_and_times_as_such(tmp_path: Path) -> None:
    prices = [0.05, 99_999.995, -1.5e11]
    quantities = [0, -1_234_567, 10**12]
    records = trades(
        3, trade_value=prices.__getitem__, quantity=quantities.__getitem__, expiry_date="2026-11-24"
    )
    book = td.TradeBook.from_json(body_of("trade", records))
    path = tmp_path / "book.xlsx"
    book.to_excel(path, ["trade_value", "quantity", "expiry_date", "exch_trade_time"])
    for row in cells(path)[1:]:
        assert [cell.number_format for cell in row[:2]] == ["#,##0.000", "#,##0"]
        assert [cell.is_date for cell in row] == [False, False, True, True]
    sheet = openpyxl.load_workbook(path).active
    widths = [sheet.column_dimensions[letter].width for letter in "AB"]
    assert widths >= [len(group(-1.5e11, 3)) + 2, len(group(10**12)) + 2]


def test_a_workbook_refuses_what_a_sheet_cannot_hold(tmp_path: Path) -> None:
    records = trades(2, symbol=("x", "x" * 32_768).__getitem__)
    book = td.TradeBook.from_json(body_of("trade", records))
    with pytest.raises(ValueError, match="32,767 characters, but column 0 of row 1 has 32,768"):
        book.to_excel(tmp_path / "book.xlsx", ["symbol"])
    with pytest.raises(ValueError, match=r"ends in \.xlsx"):
        book.to_excel(tmp_path / "book.xls")
    assert os.listdir(tmp_path) == []


WRITERS = {"to_csv": "book.csv", "to_parquet": "book.parquet", "to_excel": "book.xlsx"}


@pytest.mark.parametrize("writer", [*WRITERS, "save"])
def test_a_file_that_is_there_is_only_replaced_when_asked(writer: str, tmp_path: Path) -> None:
    path = tmp_path / WRITERS.get(writer, "book.json")
    path.write_text("mine")
    write = getattr(sample("trade", 5).book, writer)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write(path)
    assert path.read_text() == "mine"
    write(str(path), overwrite=True)
    assert path.read_bytes()[:4] != b"mine"
    assert os.listdir(tmp_path) == [path.name]


@needs("mkfifo")
@pytest.mark.parametrize("writer", WRITERS)
def test_no_pipe_or_device_is_replaced(writer: str, tmp_path: Path) -> None:
    pipe = tmp_path / WRITERS[writer]
    os.mkfifo(pipe)
    link = tmp_path / f"link{pipe.suffix}"
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(FileExistsError, match="not a regular file"):
            getattr(sample("trade", 5).book, writer)(path, overwrite=True)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == sorted([pipe.name, link.name])


def test_of_a_link_the_file_that_it_leads_to_is_replaced(tmp_path: Path) -> None:
    book = sample("trade", 5).book
    (tmp_path / "days").mkdir()
    day, link = tmp_path / "days" / "monday.csv", tmp_path / "latest.csv"
    day.write_text("older")
    link_to(day, link)
    book.to_csv(link, overwrite=True)
    assert link.is_symlink()
    assert day.read_bytes().decode() == book.to_csv()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_cannot_be_written_leaves_nothing(writer: str, tmp_path: Path) -> None:
    write = getattr(sample("trade", 5).book, writer)
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "absent" / WRITERS[writer])
    with pytest.raises(KeyError, match="no field"):
        write(tmp_path / WRITERS[writer], ["smybol"])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_book_can_be_written(kind: str, writer: str, tmp_path: Path) -> None:
    getattr(BOOKS[kind](), writer)(tmp_path / WRITERS[writer])
    assert os.listdir(tmp_path) == [WRITERS[writer]]
