"""Realised profit and loss: sales close the oldest lots, and nothing is lost on the way."""

from __future__ import annotations

import datetime as dt
from collections import deque
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import TRADE, at, book, paise, trade, trades
from tradingdata.analysis import Lot
from tradingdata.analysis.keys import KEY

NOON = dt.datetime(2026, 11, 19, 12, tzinfo=ZoneInfo("Asia/Kolkata"))
LOT: dict[str, Any] = {name: TRADE[name] for name in KEY} | {"quantity": 10, "value": 900.0}


def matches(result: td.analysis.RealisedPnl) -> list[tuple[str | None, str | None, int, float]]:
    return [
        (match.buy_trade_no, match.sell_trade_no, match.quantity, match.realised)
        for match in result.matches
    ]


def test_a_sale_closes_the_oldest_lots() -> None:
    result = td.realised_pnl(
        book(
            trade(1, "B", 10, 1000.0, 0),
            trade(2, "B", 10, 1100.0, 5),
            trade(3, "S", 15, 1800.0, 9),
        )
    )
    assert matches(result) == [("1", "3", 10, 200.0), ("2", "3", 5, 50.0)]
    (row,) = result
    assert (row.matched_quantity, row.cost, row.proceeds, row.realised) == (15, 1550, 1800, 250)
    assert (row.unmatched_quantity, row.open_quantity, row.open_value) == (0, 5, 550.0)
    assert result.realised == 250.0
    assert [(lot.trade_no, lot.quantity, lot.value) for lot in result.open_lots] == [("2", 5, 550)]


def test_several_sales_close_one_lot_and_their_parts_add_up() -> None:
    result = td.realised_pnl(
        book(
            trade(1, "B", 3, 100.0, 0),
            *(trade(number, "S", 1, 40.0, number) for number in (2, 3, 4)),
        )
    )
    assert sorted(match.cost for match in result.matches) == [33.33, 33.33, 33.34]
    assert (result[0].cost, result.realised) == (100.0, 20.0)


def test_what_is_sold_without_an_opening_is_listed_and_not_shorted() -> None:
    result = td.realised_pnl(
        book(
            trade(1, "S", 10, 1000.0, 0),
            trade(2, "B", 4, 380.0, 5),
            trade(3, "S", 6, 660.0, 9),
        )
    )
    assert matches(result) == [("2", "3", 4, 60.0)]
    assert [(lot.trade_no, lot.quantity, lot.value) for lot in result.unmatched] == [
        ("1", 10, 1000.0),
        ("3", 2, 220.0),
    ]
    assert (result[0].unmatched_quantity, result[0].unmatched_value) == (12, 1220.0)
    assert "12 sold without an opening (see .unmatched)" in repr(result)
    assert "realised 60.00 before charges" in repr(result)


def test_lots_from_before_go_first_in_the_order_given() -> None:
    result = td.realised_pnl(
        book(trade(1, "B", 10, 1000.0), trade(2, "S", 25, 2750.0, 1)),
        opening=[LOT, {**LOT, "value": 950.0, "trade_no": "old"}],
    )
    assert matches(result) == [(None, "2", 10, 200.0), ("old", "2", 10, 150.0), ("1", "2", 5, 50.0)]
    assert result.matches[0].buy_time is None


def test_an_opening_that_is_not_touched_stays_open() -> None:
    result = td.realised_pnl(book(), opening=[{**LOT, "symbol": "INFY"}])
    assert [(lot.symbol, lot.quantity, lot.value) for lot in result.open_lots] == [
        ("INFY", 10, 900.0)
    ]
    assert (len(result), result.realised) == (1, 0.0)


def test_a_day_goes_on_with_the_open_lots_of_the_day_before() -> None:
    monday = td.realised_pnl(book(trade(1, "B", 10, 1000.0), trade(2, "B", 10, 1100.0, 1)))
    tuesday = book(trade(3, "S", 12, 1440.0, 86400))
    through_frame: list[Any] = monday.open_lots.to_pandas().to_dict("records")
    openings: list[Any] = [monday.open_lots, list(monday.open_lots), through_frame]
    for opening in openings:
        result = td.realised_pnl(tuesday, opening)
        assert matches(result) == [("1", "3", 10, 200.0), ("2", "3", 2, 20.0)]
        assert result.matches[0].buy_time == at(0)


@pytest.mark.parametrize(
    ("opening", "error", "told"),
    [
        ("C1", TypeError, "opening takes lots: .* not str"),
        (LOT, TypeError, "opening takes lots: .* not dict"),
        ([5], TypeError, r"not int \(lot 0\)"),
        ([{**LOT, "price": 90.0}], ValueError, "lot 0 has 'price'; a lot has client_id, "),
        ([LOT, {**LOT, "value": None}], ValueError, "lot 1 has no value"),
        ([{**LOT, "quantity": float("nan")}], ValueError, "lot 0 has no quantity"),
        ([{**LOT, "quantity": 1.5}], ValueError, "whole number from 1 on, not 1.5"),
        ([{**LOT, "quantity": -5}], ValueError, "whole number from 1 on, not -5"),
        ([{**LOT, "value": float("inf")}], ValueError, "value is a finite number"),
        ([{**LOT, "quantity": "12"}], ValueError, "whole number from 1 on, not '12'"),
        ([{**LOT, "quantity": "dozen"}], ValueError, "whole number from 1 on, not 'dozen'"),
        ([{**LOT, "quantity": float("inf")}], ValueError, "whole number from 1 on, not inf"),
        ([{**LOT, "quantity": True}], ValueError, "whole number from 1 on, not True"),
        ([{**LOT, "value": "12,500"}], ValueError, "value is a finite number, not '12,500'"),
        ([{**LOT, "value": 10**400}], ValueError, "value is a finite number"),
        ([{**LOT, "time": "monday"}], TypeError, "lot 0: time is a datetime, not 'monday'"),
        ([{**LOT, "time": NOON}], ValueError, "its time has a zone, and those of the trades"),
        ([{**LOT, "product": 5}], TypeError, "product is text, not 5"),
    ],
)
def test_what_is_no_lot_is_refused(opening: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        td.realised_pnl(book(), opening)  # type: ignore[arg-type]


@pytest.mark.parametrize("time", [NOON, NOON.replace(tzinfo=None), NOON.astimezone(dt.UTC)])
def test_times_of_lots_are_on_the_clock_of_localized_trades(time: dt.datetime) -> None:
    pytest.importorskip("polars")
    trades = book(trade(1, "S", 4, 400.0, 0)).localize("Asia/Kolkata")
    (match,) = td.realised_pnl(trades, [{**LOT, "time": time}]).matches
    assert match.buy_time == NOON
    left = td.realised_pnl(trades, [{**LOT, "time": time}]).open_lots
    assert left.to_pandas()["time"][0] == NOON
    assert left.to_polars()["time"][0] == NOON


def test_what_pandas_does_not_have_is_nothing_in_a_lot() -> None:
    pandas = pytest.importorskip("pandas")
    lot = {**LOT, "trade_no": pandas.NA, "time": pandas.NaT, "symbol": float("nan")}
    assert td.realised_pnl(book(), [lot]) == td.realised_pnl(book(), [LOT])
    with pytest.raises(ValueError, match="lot 0 has no quantity"):
        td.realised_pnl(book(), [{**LOT, "quantity": pandas.NA}])


def test_a_missing_time_is_an_error() -> None:
    with pytest.raises(ValueError, match="exch_trade_time is missing in row 0"):
        td.realised_pnl(book(trade(1, "B", 5, 50.0, exch_trade_time=None)))


def test_within_a_second_purchases_go_first_and_then_trade_numbers() -> None:
    result = td.realised_pnl(
        book(
            trade(11, "S", 2, 30.0),
            trade(10, "B", 1, 12.0),
            trade(9, "B", 1, 10.0),
            trade(8, "S", 1, 20.0),
        )
    )
    assert matches(result) == [("9", "8", 1, 10.0), ("10", "11", 1, 3.0)]


def totals(result: td.analysis.RealisedPnl) -> dict[tuple[str, str], tuple[int, ...]]:
    return {
        (row.security_id, row.product): (
            row.matched_quantity + row.open_quantity,
            row.matched_quantity + row.unmatched_quantity,
            paise(row.cost) + paise(row.open_value),
            paise(row.proceeds) + paise(row.unmatched_value),
        )
        for row in result
    }


@given(trades(), st.integers(0, 50), st.integers(0, 10**6))
def test_quantity_and_cash_are_conserved(
    made: list[td.Trade], opening_quantity: int, opening_units: int
) -> None:
    opening = {**LOT, "quantity": opening_quantity, "value": opening_units / 100}
    result = td.realised_pnl(td.TradeBook(made), [opening] if opening_quantity else None)
    expected: dict[tuple[str, str], list[int]] = {}
    if opening_quantity:
        expected["10", "C"] = [opening_quantity, 0, opening_units, 0]
    for row in made:
        found = expected.setdefault((str(row.security_id), str(row.product)), [0, 0, 0, 0])
        side = 0 if row.txn_type == "B" else 1
        found[side] += row.quantity or 0
        found[side + 2] += paise(row.trade_value or 0)
    assert totals(result) == {key: tuple(values) for key, values in expected.items()}
    for earned in result:
        assert paise(earned.realised) == paise(earned.proceeds) - paise(earned.cost)
    parts = list(result.matches)
    assert sum(paise(part.realised) for part in parts) == paise(result.realised)
    assert sum(part.quantity for part in parts) == sum(row.matched_quantity for row in result)
    assert sum(paise(lot.value) for lot in result.open_lots) == sum(
        paise(row.open_value) for row in result
    )
    assert sum(paise(lot.value) for lot in result.unmatched) == sum(
        paise(row.unmatched_value) for row in result
    )


def share_by_share(made: list[td.Trade]) -> dict[tuple[str | None, str | None], int]:
    """How many shares each sale took of each purchase, one share at a time."""
    held: dict[tuple[str | None, str | None], deque[str | None]] = {}
    taken: dict[tuple[str | None, str | None], int] = {}
    in_time = sorted(
        made,
        key=lambda row: (row.exch_trade_time, row.txn_type == "S", int(row.trade_no or 0)),
    )
    for row in in_time:
        lots = held.setdefault((row.security_id, row.product), deque())
        for _ in range(row.quantity or 0):
            if row.txn_type == "B":
                lots.append(row.trade_no)
            elif lots:
                pair = (lots.popleft(), row.trade_no)
                taken[pair] = taken.get(pair, 0) + 1
    return taken


@given(trades(), st.randoms(use_true_random=False))
def test_the_oldest_share_goes_first_in_whatever_order_the_book_is(
    made: list[td.Trade], random: object
) -> None:
    result = td.realised_pnl(td.TradeBook(made))
    found = {(part.buy_trade_no, part.sell_trade_no): part.quantity for part in result.matches}
    assert found == share_by_share(made)
    shuffled = list(made)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = td.realised_pnl(td.TradeBook(shuffled))
    assert list(again.matches) == list(result.matches)
    assert again.realised == result.realised


@given(trades())
def test_a_part_costs_its_share_to_the_paisa(made: list[td.Trade]) -> None:
    """Each part is a difference of two rounded shares of a fill's value."""
    values = {row.trade_no: (row.quantity or 0, paise(row.trade_value or 0)) for row in made}
    for part in td.realised_pnl(td.TradeBook(made)).matches:
        for number, amount in ((part.buy_trade_no, part.cost), (part.sell_trade_no, part.proceeds)):
            quantity, value = values[number]
            assert abs(paise(amount) * quantity - value * part.quantity) <= quantity


@given(trades(whole_prices=True), trades(whole_prices=True))
def test_day_by_day_is_the_same_as_all_at_once(
    monday: list[td.Trade], tuesday: list[td.Trade]
) -> None:
    moved = [
        row._replace(exch_trade_time=(row.exch_trade_time or at(0)) + dt.timedelta(days=1))
        for row in tuesday
    ]
    at_once = td.realised_pnl(td.TradeBook([*monday, *moved]))
    first = td.realised_pnl(td.TradeBook(monday))
    second = td.realised_pnl(td.TradeBook(moved), first.open_lots)
    assert paise(first.realised) + paise(second.realised) == paise(at_once.realised)
    # A key's lots stand together, and which key came first may differ.
    left = sorted(map(repr, at_once.open_lots))
    assert sorted(map(repr, second.open_lots)) == left


def test_times_keep_their_zone() -> None:
    local = book(trade(1, "B", 1, 1.0), trade(2, "S", 1, 2.0, 1)).localize("Asia/Kolkata")
    result = td.realised_pnl(local)
    assert str(result.matches[0].sell_time) == "2026-11-20 09:15:01+05:30"
    assert str(result.matches.to_pandas()["sell_time"].dtype) == "datetime64[us, Asia/Kolkata]"
    assert str(result.matches.to_polars()["sell_time"][0]) == "2026-11-20 09:15:01+05:30"


def test_a_lot_is_a_plain_dataclass() -> None:
    lot = td.realised_pnl(book(trade(1, "B", 5, 50.0))).open_lots[0]
    assert isinstance(lot, Lot)
    assert (lot.quantity, lot.value) == (5, 50.0)
