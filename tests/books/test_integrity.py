"""Good JSON that does not agree with itself is reported by `check()`, and only there."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from service import as_json, envelope, orders, trades


def trade_book(changes: dict[str, Any], row: int = 2) -> td.TradeBook:
    rows = trades(5)
    rows[row] |= changes
    return td.TradeBook.from_json(as_json(envelope(rows)))


def order_book(changes: dict[str, Any], row: int = 2) -> td.OrderBook:
    rows = orders(5)
    rows[row] |= changes
    return td.OrderBook.from_json(as_json(envelope(rows)))


def test_a_day_of_the_sandbox_agrees_with_itself() -> None:
    with td.sandbox.start(orders=300) as service, service.client() as client:
        orders, trades = client.order_book(), client.trade_book()
    assert len(orders) == 300
    assert len(trades) > 50
    assert orders.check() == trades.check() == ()


def test_a_value_that_is_not_quantity_times_price_is_reported() -> None:
    sound = {"quantity": 50, "traded_price": 101.35, "trade_value": 5067.5, "lot_size": 1}
    assert trade_book(sound).check() == ()
    book = trade_book(sound | {"trade_value": 5967.5})
    (issue,) = book.check()
    assert (issue.field, issue.count, issue.row, issue.raw) == ("trade_value", 1, 2, "5967.5")
    assert not issue.lost
    assert book.issues == ()


@pytest.mark.parametrize(
    "sound",
    [
        {"quantity": 2, "traded_price": 101.35, "trade_value": 202.7 * 75, "lot_size": 75},
        {"quantity": 3, "traded_price": 33.33, "trade_value": 100.0, "lot_size": 1},
        {"quantity": None, "traded_price": 33.33, "trade_value": 100.0},
    ],
    ids=["lots", "rounded price", "unknown quantity"],
)
def test_lots_rounding_and_unknown_values_are_no_disagreement(sound: dict[str, Any]) -> None:
    assert trade_book(sound).check() == ()


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"rem_qty_tot_qty": "40/100"}, []),
        ({"rem_qty_tot_qty": "40.0/100"}, []),
        ({"rem_qty_tot_qty": None}, []),
        ({"rem_qty_tot_qty": "41/100"}, ["rem_qty_tot_qty"]),
        ({"rem_qty_tot_qty": "forty/100"}, ["rem_qty_tot_qty"]),
        ({"rem_qty_tot_qty": "40/100", "traded_qty": 61}, ["traded_qty"]),
    ],
)
def test_quantities_of_an_order(changes: dict[str, Any], fields: list[str]) -> None:
    sound = {"quantity": 100, "remaining_quantity": 40, "traded_qty": 60}
    assert [issue.field for issue in order_book(sound | changes).check()] == fields


def test_row_numbers_that_repeat_or_are_missing_are_reported_for_a_complete_response() -> None:
    numbers = [7, 3, 4, 4, 9]
    rows = [row | {"row_no": number} for row, number in zip(trades(5), numbers, strict=True)]
    book = td.TradeBook.from_json(as_json(envelope(rows)))
    reported = [(issue.problem, issue.count, issue.row, issue.raw) for issue in book.check()]
    assert reported == [
        ("comes more than once", 1, 3, "4"),
        ("numbers before it are left out", 2, 0, "7"),
    ]
    assert book[:4].check() == ()
