"""Rows are equal where their values are, whichever table holds them and wherever they lie in it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from sample_records import PAN
from service import as_json, envelope

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.DataWarning"),
]
pa = pytest.importorskip("pyarrow")
ROWS = 5_000  # more than are compared at once
PLACES = (0, 127, 128, 4223, 4224, ROWS - 1)
VALUES: dict[str, list[Any]] = {
    "order_no": [f"an order number of {row}" for row in range(ROWS)],
    "symbol": [str(row % 7) for row in range(ROWS)],
    "quantity": [row % 3 or None for row in range(ROWS)],
    "traded_price": [float(row % 2) for row in range(ROWS)],
    "expiry_date": [date(2026, 1, 1 + row % 5) if row % 3 else None for row in range(ROWS)],
}
OTHERS: list[tuple[str, Any]] = [
    ("order_no", "an order number of 499X"),
    ("order_no", "an order number of 49999"),
    ("order_no", "short"),
    ("order_no", ""),
    ("order_no", None),
    ("symbol", "another"),
    ("quantity", -1),
    ("quantity", 0),
    ("traded_price", 0.5),
    ("traded_price", None),
    ("expiry_date", date(2026, 2, 1)),
]


def book_of(values: dict[str, list[Any]]) -> td.TradeBook:
    return td.TradeBook.from_arrow(pa.table(values), constants={"exchange": "NSE"})


BOOK = book_of(VALUES)


@pytest.mark.parametrize(("field", "value"), OTHERS)
def test_one_other_value_makes_a_row_and_its_book_differ(field: str, value: Any) -> None:
    for row in PLACES:
        column = [*VALUES[field]]
        column[row] = value
        other = book_of(VALUES | {field: column})
        assert other != BOOK
        assert other[row] != BOOK[row]
        assert hash(other[row]) != hash(BOOK[row])
        assert other[:row] == BOOK[:row]
        assert other[row + 1 :] == BOOK[row + 1 :]
        assert other == book_of(VALUES | {field: column})


def test_the_place_of_a_text_does_not_matter() -> None:
    body = as_json(
        envelope(json.loads(BOOK.to_json(columns=BOOK.columns[:-1])))
    )  # without the account
    for same in (
        td.TradeBook.from_json(body),
        td.TradeBook(list(BOOK)),
        td.concat([BOOK[:7], BOOK[7:]]),
        BOOK[::-1][::-1],
    ):
        assert same == BOOK
        assert [hash(row) for row in same[:50]] == [hash(row) for row in BOOK[:50]]


def test_one_other_unknown_field_makes_books_differ() -> None:
    books = [
        td.TradeBook.from_json(as_json(envelope([{"symbol": "INFY"}, {"symbol": "TCS", **extra}])))
        for extra in ({}, {"new": 1.5}, {"new": 1.50, "more": 1}, {"other": 1.5}, {"new": "1.5"})
    ]
    for place, book in enumerate(books):
        assert [other == book for other in books] == [place == at for at in range(len(books))]
        assert book == td.TradeBook(list(book))


def test_very_many_unknown_fields_are_compared_and_copied_in_one_pass() -> None:
    """A look at all of them for each one would take minutes."""
    names = [f"x{number}" for number in range(50_000)]
    rows = [dict.fromkeys(names, 1), dict.fromkeys(reversed(names), 1)]
    stocks = td.StockList.from_json(json.dumps(rows))
    assert stocks[0] == stocks[1]
    copied = stocks[::-1]
    assert len(copied.extra_fields) == len(names)
    assert copied == stocks


def test_a_book_is_masked_only_if_all_its_parts_are(tmp_path: Path) -> None:
    body = as_json(envelope([{"pan_no": PAN}]))
    hidden = td.TradeBook.from_json(body)
    kept = td.TradeBook.from_json(body, keep_personal_data=True)
    for number, parts in enumerate(([hidden, kept], [kept, hidden], [hidden, hidden])):
        file = tmp_path / f"{number}.json"
        td.concat(parts).save(file)
        again = td.TradeBook.load(file, keep_personal_data=True)
        assert again.column("pan_no") == [part[0].pan_no for part in parts]
        assert set(td.TradeBook.load(file).column("pan_no")) == {"ABXXXXXX4F"}
