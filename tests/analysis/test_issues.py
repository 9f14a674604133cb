"""Every result says what it left out, with the key and the rows that it is about."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from analysis_samples import unwarned
from cases import made, problems


def test_a_price_that_matches_nothing_is_named() -> None:
    trades = td.TradeBook([made(1, "B", 10, 100, "20 10:00", symbol="RELIANCE")])
    with pytest.warns(td.DataWarning, match="without a price: 1 .*'RELIANCE'"):
        day = td.day_pnl(trades, prices={"RELIANCE": 130.0})
    assert problems(day) == ["without a price", "key that matched nothing"]
    assert problems(day.filter(product="M")) == problems(day)
    assert "without a price: 1" in " ".join(repr(day).split())
    closes = {"43210": 130.0, "1": 5.0}  # as a list of all closing prices has them
    assert problems(td.day_pnl(trades, prices=closes)) == []
    other = made(2, "B", 1, 100, "20 10:00", security_id="9")
    day = unwarned(lambda: td.day_pnl(td.TradeBook([*trades, other]), prices=closes))
    assert [day.net, day.unrealised, *day.column("net")] == [None, None, 300.0, None]


def test_a_sale_without_an_opening_is_in_the_heading_of_the_day() -> None:
    """Also at midnight, where all trades are that have their day alone."""
    trades = td.TradeBook([made(1, "S", 10, 100, "20 00:00", product="C")])
    day = unwarned(lambda: td.day_pnl(trades, shorts={"I", "M"}))
    assert "sold without an opening: 1" in " ".join(repr(day).split())
    assert [(issue.product, issue.count) for issue in day.issues] == [("C", 1)]


def test_a_day_before_all_that_is_known_is_an_error() -> None:
    trades = td.TradeBook([made(1, "B", 10, 100, "20 10:00")])
    for calculate in (td.day_pnl, td.realised_pnl, td.positions):
        with pytest.raises(ValueError, match="2026-11-13 is before all that is known: 2026-11-20"):
            calculate(trades, day="2026-11-13")
    with pytest.warns(td.DataWarning, match="no trades on the day: 1 .none on 2026-11-21; the"):
        day = td.day_pnl(trades, day="2026-11-21", prices={"43210": 101.0})
    assert (day.unrealised, problems(day)) == (10.0, ["no trades on the day"])
    for calculate in (td.realised_pnl, td.positions):
        with pytest.warns(td.DataWarning, match="none on 2026-11-21; the"):
            calculate(trades, day="2026-11-21")


def test_a_price_of_zero_is_an_issue() -> None:
    trades = td.TradeBook([made(1, "B", 10, 0, "20 10:00"), made(2, "S", 10, 105, "20 11:00")])
    result = unwarned(lambda: td.realised_pnl(trades))
    assert (result.realised, problems(result)) == (1050.0, ["price of 0"])
    assert [(issue.field, issue.row) for issue in trades.check()] == [("traded_price", 0)]


def test_messages_number_rows_as_the_book_does() -> None:
    other: dict[str, Any] = {"security_id": "7", "product": "C"}
    earlier = [made(number, "B", 1, 10, f"19 10:0{number}", **other) for number in range(5)]
    later = [
        made(8, "B", 1, 10, "20 10:00", 500, lot_size=50),
        made(9, "B", 50, 10, "20 10:01", 500, lot_size=50),
    ]
    book = td.TradeBook([*earlier, *later])
    for day in (None, "2026-11-20"):
        with pytest.raises(ValueError, match=r"50 in row 5 and .* 1 in row 6"):
            td.positions(book, day=day)
    rates = [td.ChargeRate(where={"product": "C"})]
    fine = td.TradeBook([*earlier, made(8, "B", 1, 10, "20 10:00")])
    with pytest.raises(ValueError, match="no rate applies to the trade in row 5"):
        td.charges(fine, rates, day="2026-11-20")


def test_codes_that_differ_in_case_or_spaces_are_named() -> None:
    trades = td.TradeBook(
        [
            made(1, "B", 10, 100, "20 10:00", product="C"),
            made(2, "S", 10, 110, "20 11:00", product="C "),
            made(3, "B", 10, 100, "20 12:00", product="C", client_id="c1"),
        ]
    )
    with pytest.warns(td.DataWarning, match=r"'C1' and 'c1' .* 'C' and 'C ' count as different"):
        assert len(td.positions(trades)) == 3
