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
EARLIER = made(0, "B", 1, 100, "20 09:59", product="I")
MORNING, LATER = (
    EARLIER[TIME].replace(hour=9, minute=30),
    made(4, "B", 1, 90, "20 11:00", product="I"),
)
DIRECTIONS = {
    "as received": lambda book: book,
    "sorted by price": lambda book: book.sort("traded_price"),
    "sorted by side": lambda book: book.sort("txn_type", "-traded_price"),
    "sorted by time": lambda book: book.sort(TIME),
    "sorted by time, newest first": lambda book: book.sort("-" + TIME),
    "joined": lambda book: td.concat([book[2:], book[:2]]),
    "through Arrow": lambda book: td.TradeBook.from_arrow(book.to_arrow()),
}


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
def test_a_second_is_in_the_order_of_its_trade_numbers(seen: Any) -> None:
    assert td.realised_pnl(seen(NEWEST_FIRST)).realised == 50.0


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
def test_a_second_is_in_the_direction_of_its_row_numbers(seen: Any) -> None:
    """Whatever the trade numbers are."""
    rows = [
        row._replace(trade_no=f"T{row.trade_no}", row_no=number)
        for number, row in enumerate([*NEWEST_FIRST, EARLIER], 1)
    ]
    assert td.realised_pnl(seen(td.TradeBook(rows))).realised == 50.0


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
@pytest.mark.parametrize("other", [{"exchange": "BSE"}, {"segment": "E"}], ids=str)
def test_each_exchange_and_segment_has_its_own_trade_numbers(seen: Any, other: Any) -> None:
    """Two exchanges in one response: together, their numbers contradict the times."""
    elsewhere = [
        EARLIER._replace(trade_no="500", **other),
        EARLIER._replace(trade_no="400", **other | {TIME: MORNING}),
    ]
    book = td.TradeBook([*NEWEST_FIRST, *elsewhere])
    assert td.realised_pnl(seen(book)).realised == 50.0


@pytest.mark.parametrize("seen", DIRECTIONS.values(), ids=DIRECTIONS)
def test_a_second_that_only_places_order_is_an_issue(seen: Any) -> None:
    """A book sorted by time looks like a response that runs with time."""
    rows = [row._replace(trade_no=f"T{row.trade_no}") for row in [*NEWEST_FIRST, EARLIER]]
    with pytest.warns(td.DataWarning, match="order within a second unknown"):
        td.realised_pnl(seen(td.TradeBook(rows)))


def test_two_responses_of_a_day_are_in_the_order_of_trade_numbers() -> None:
    """Both count their rows from 1, so the rows of an archive of both do not decide."""
    first = [row._replace(row_no=number) for number, row in enumerate(NEWEST_FIRST, 1)]
    book = td.TradeBook([*first, LATER._replace(row_no=1)])
    for seen in (book, book.sort(TIME), book.sort("-" + TIME), book.sort("traded_price")):
        assert td.realised_pnl(seen).realised == 50.0


UNDECIDED: dict[str, list[str | None]] = {
    "one twice": ["1", "2", "2"],
    "one missing": ["1", "2", None],
    "the first missing": [None, "2", "1"],
    "one that is no number": ["1", "2", "3x"],
    "neither rising nor falling": ["2", "3", "1", "0"],
}


@pytest.mark.parametrize("numbers", UNDECIDED.values(), ids=UNDECIDED)
def test_a_second_that_nothing_decides_is_an_issue(numbers: list[str | None]) -> None:
    times = ("09:59", "10:00", "10:00", "10:01")
    trades = [
        made(1, side, 10, 100, f"20 {time}")._replace(trade_no=number)
        for number, side, time in zip(numbers, "BSBB", times, strict=False)
    ]
    with pytest.warns(
        td.DataWarning, match=r"order within a second unknown: 2 .43210: row 1, row 2"
    ):
        td.realised_pnl(td.TradeBook(trades))


def test_rows_of_one_second_are_in_the_order_of_their_numbers() -> None:
    rows = [
        row._replace(trade_no=None, row_no=number)
        for row, number in zip(NEWEST_FIRST, (3, 2, 1), strict=True)
    ]
    assert td.realised_pnl(td.TradeBook(rows)).realised == 50.0


def test_an_order_that_is_of_one_side_is_no_issue() -> None:
    """It decides which lot is closed first, but not whether one is."""
    rows = [row._replace(trade_no=None, txn_type="B") for row in NEWEST_FIRST]
    assert len(td.realised_pnl(td.TradeBook(rows)).open_lots) == 3


def test_a_sale_that_stands_before_its_purchase_is_matched() -> None:
    trades = td.TradeBook(
        [
            made(2, "S", 10, 110, "20 10:00", product="C"),
            made(1, "B", 10, 100, "20 10:00", product="C"),
        ]
    )
    result = td.realised_pnl(trades, shorts={"I"})
    assert (result.realised, len(result.unmatched)) == (100.0, 0)


def test_an_empty_book_joins_localized_ones() -> None:
    local = NEWEST_FIRST.localize("Asia/Kolkata")
    assert td.concat([td.TradeBook(), local]) == local == td.concat([local, td.TradeBook()])
