"""Trades of one second are in the direction of their response, however a book is sorted."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from analysis_samples import TIME
from cases import made

NEWEST_FIRST = td.TradeBook(
    [
        made(3, "S", 10, 108, "20 10:00"),
        made(2, "B", 10, 105, "20 10:00"),
        made(1, "S", 10, 110, "20 10:00"),
    ]
)
DIRECTIONS = {
    "as received": lambda book: book,
    "sorted by price": lambda book: book.sort("traded_price"),
    "sorted by side": lambda book: book.sort("txn_type", "-traded_price"),
    "sorted by time": lambda book: book.sort(TIME),
    "joined": lambda book: td.concat([book[2:], book[:2]]),
    "through Arrow": lambda book: td.TradeBook.from_arrow(book.to_arrow()),
}


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
def test_a_second_is_in_the_order_of_its_trade_numbers(seen: Any) -> None:
    """C8"""
    assert td.realised_pnl(seen(NEWEST_FIRST)).realised == 50.0


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
@pytest.mark.parametrize("counted", [True, False])
def test_a_second_is_in_the_direction_of_its_response(seen: Any, counted: bool) -> None:
    """C8: whatever the trade numbers are, if rows are counted; else the rows themselves."""
    earlier = made(9, "B", 1, 100, "20 09:59", product="I")
    rows = [
        row._replace(trade_no=f"T{row.trade_no}", row_no=number if counted else None)
        for number, row in enumerate([*NEWEST_FIRST, earlier], 1)
    ]
    book = td.TradeBook(rows)
    if counted or seen(book) == book:
        assert td.realised_pnl(seen(book)).realised == 50.0


def test_a_second_that_nothing_decides_is_an_issue() -> None:
    rows = [row._replace(trade_no=f"T{row.trade_no}") for row in NEWEST_FIRST]
    with pytest.warns(td.DataWarning, match="order within a second unknown: 3 .*row 0, row 1, row"):
        td.realised_pnl(td.TradeBook(rows))


def test_a_sale_that_stands_before_its_purchase_is_matched() -> None:
    """C9"""
    trades = td.TradeBook(
        [
            made(2, "S", 10, 110, "20 10:00", product="C"),
            made(1, "B", 10, 100, "20 10:00", product="C"),
        ]
    )
    result = td.realised_pnl(trades, shorts={"I"})
    assert (result.realised, len(result.unmatched)) == (100.0, 0)


def test_an_empty_book_joins_localized_ones() -> None:
    """C33"""
    local = NEWEST_FIRST.localize("Asia/Kolkata")
    assert td.concat([td.TradeBook(), local]) == local == td.concat([local, td.TradeBook()])
