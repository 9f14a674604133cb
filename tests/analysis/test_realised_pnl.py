"""Realised profit and loss: each trade closes the oldest lots of the other side."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from analysis_samples import TIME, TRADE, at, book, on_day, paise, trade, trades
from tradingdata.analysis.keys import REQUIRED
from tradingdata.analysis.results import ATTRIBUTES

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning"),
]

NOON = dt.datetime(2026, 11, 19, 12, tzinfo=ZoneInfo("Asia/Kolkata"))
LOT: dict[str, Any] = {name: TRADE[name] for name in REQUIRED} | {"quantity": 10, "value": 900.0}


def matches(result: td.analysis.RealisedPnl) -> list[tuple[str | None, str | None, int, float]]:
    return [
        (match.buy_trade_no, match.sell_trade_no, match.quantity, match.realised)
        for match in result.matches
    ]


SHORT_DAY = (trade(1, "S", 10, 1000.0, 0), trade(2, "B", 4, 380.0, 5), trade(3, "S", 6, 660.0, 9))


def test_a_purchase_closes_the_oldest_short_lots() -> None:
    result = td.realised_pnl(book(*SHORT_DAY))
    (match,) = result.matches
    assert (match.side, match.sell_trade_no, match.buy_trade_no) == ("short", "1", "2")
    assert (match.sell_time, match.buy_time, match.close_time) == (at(0), at(5), at(5))
    assert (match.quantity, match.cost, match.proceeds, match.realised) == (4, 380, 400, 20)
    assert [(lot.side, lot.trade_no, lot.quantity, lot.value) for lot in result.open_lots] == [
        ("short", "1", 6, 600.0),
        ("short", "3", 6, 660.0),
    ]
    (row,) = result
    assert (row.matched_quantity, row.realised, row.unmatched_quantity) == (4, 20.0, 0)
    assert (row.open_quantity, row.open_value) == (-12, -1260.0)
    assert len(result.unmatched) == 0


@pytest.mark.parametrize("shorts", [False, (), {"I"}])
def test_without_shorts_a_sale_of_holdings_is_listed_and_not_realised(shorts: Any) -> None:
    result = td.realised_pnl(book(*SHORT_DAY), shorts=shorts)
    assert matches(result) == [("2", "3", 4, 60.0)]
    assert [(lot.trade_no, lot.quantity, lot.value) for lot in result.unmatched] == [
        ("1", 10, 1000.0),
        ("3", 2, 220.0),
    ]
    assert (result[0].unmatched_quantity, result[0].unmatched_value) == (12, 1220.0)
    assert {lot.side for lot in result.unmatched} == {"unmatched"}
    assert "sold without an opening: 2" in repr(result)
    assert "realised 60.00 before charges" in repr(result)


def test_shorts_can_be_limited_to_products() -> None:
    intraday = [row._replace(product="I", trade_no=f"I{row.trade_no}") for row in SHORT_DAY]
    result = td.realised_pnl(book(*SHORT_DAY, *intraday), shorts={"I", "M"})
    found = {row.product: (row.realised, row.unmatched_quantity) for row in result}
    assert found == {"C": (60.0, 12), "I": (20.0, 0)}
    for wrong in ("I", 1, {1}, None):
        with pytest.raises(TypeError, match="shorts must be True, False or a collection of"):
            td.realised_pnl(book(), shorts=wrong)  # type: ignore[arg-type]


def test_short_lots_from_before_are_closed_even_without_shorts() -> None:
    opening = [{**LOT, "side": "short"}]
    for shorts in (True, False):
        result = td.realised_pnl(book(trade(1, "B", 4, 400.0)), opening, shorts=shorts)
        assert [(match.side, match.realised) for match in result.matches] == [("short", -40.0)]
        assert result[0].open_quantity == -6


def test_unmatched_sales_are_refused_as_an_opening() -> None:
    unmatched = td.realised_pnl(book(*SHORT_DAY), shorts=False).unmatched
    for opening in (unmatched, list(unmatched), unmatched.to_dicts()):
        with pytest.raises(
            ValueError, match="lot 0: side must be 'long' or 'short', not 'unmatched'"
        ):
            td.realised_pnl(book(), opening)


def test_lots_from_before_go_first_in_the_order_given() -> None:
    result = td.realised_pnl(
        book(trade(1, "B", 10, 1000.0), trade(2, "S", 25, 2750.0, 1)),
        opening=[LOT, {**LOT, "value": 950.0, "trade_no": "old"}],
    )
    assert matches(result) == [(None, "2", 10, 200.0), ("old", "2", 10, 150.0), ("1", "2", 5, 50.0)]
    assert result.matches[0].buy_time is None


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
    ("opening", "error", "message"),
    [
        ("C1", TypeError, "opening takes lots, not str: pass the open_lots"),
        (LOT, TypeError, "opening takes lots, not dict"),
        ([5], TypeError, r"not int \(lot 0\)"),
        ([{**LOT, "price": 90.0}], TypeError, "lot 0: Lot has no field 'price'"),
        ([{**LOT, "side": "S"}], ValueError, "lot 0: side must be 'long' or 'short', not 'S'"),
        ([LOT, {**LOT, "value": None}], ValueError, "lot 1 has no value"),
        ([{**LOT, "quantity": float("nan")}], ValueError, "lot 0 has no quantity"),
        ([{**LOT, "quantity": 1.5}], TypeError, "lot 0: quantity takes an int or None, not 1.5"),
        ([{**LOT, "quantity": -5}], ValueError, "at least 1, not -5 and 0; side='short'"),
        (
            [{**LOT, "value": float("inf")}],
            ValueError,
            "value cannot be inf: it takes finite numbers",
        ),
        ([{**LOT, "quantity": "12"}], TypeError, "quantity takes an int or None, not '12'"),
        ([{**LOT, "quantity": float("inf")}], TypeError, "takes an int or None, not inf"),
        ([{**LOT, "quantity": True}], TypeError, "takes an int or None, not True"),
        ([{**LOT, "value": "12,500"}], TypeError, "value takes a float or None, not '12,500'"),
        ([{**LOT, "value": 10**400}], ValueError, "lot 0: value cannot be 1000"),
        ([{**LOT, "time": "monday"}], TypeError, "lot 0: time takes a datetime or None"),
        (
            [{**LOT, "time": NOON}],
            ValueError,
            "its time has a zone, but the trades have none: localize",
        ),
        ([{**LOT, "product": 5}], TypeError, "product takes a str or None, not 5"),
    ],
)
def test_what_is_no_lot_is_refused(opening: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
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


@given(trades(), st.booleans())
def test_a_part_costs_its_share_to_the_paisa(made: list[td.Trade], shorts: bool) -> None:
    """Each part is a difference of two rounded shares of a fill's value."""
    values = {row.trade_no: (row.quantity or 0, paise(row.trade_value or 0)) for row in made}
    for part in td.realised_pnl(td.TradeBook(made), shorts=shorts).matches:
        for number, amount in ((part.buy_trade_no, part.cost), (part.sell_trade_no, part.proceeds)):
            quantity, value = values[number]
            assert abs(paise(amount) * quantity - value * part.quantity) <= quantity


@given(trades(whole_prices=True), trades(whole_prices=True), st.booleans())
def test_day_by_day_is_the_same_as_all_at_once(
    monday: list[td.Trade], tuesday: list[td.Trade], shorts: bool
) -> None:
    moved = on_day(tuesday, 1)
    at_once = td.realised_pnl(td.TradeBook([*monday, *moved]), shorts=shorts)
    first = td.realised_pnl(td.TradeBook(monday), shorts=shorts)
    second = td.realised_pnl(td.TradeBook(moved), first.open_lots, shorts=shorts)
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


def test_a_match_has_the_isin_and_the_days_that_it_was_held() -> None:
    isin = ATTRIBUTES[-1]
    later: list[dict[str, Any]] = [{TIME: at(second, 400)} for second in range(4)]
    old: dict[str, Any] = {isin: "INE009A01021"}
    new: dict[str, Any] = {isin: "INE009A01099"}
    lots = [{**LOT, "quantity": 5, **old}]
    trades = book(
        trade(1, "B", 10, 1000.0, **old),
        trade(2, "S", 8, 960.0, **later[0]),
        trade(3, "S", 7, 840.0, **later[1], **new),
        trade(4, "S", 1, 120.0, **later[2]),
        trade(5, "B", 1, 110.0, **later[3]),
    )
    found = td.realised_pnl(trades, opening=lots).matches
    assert [(match.quantity, match.held, match.isin) for match in found] == [
        (5, None, "INE009A01021"),
        (3, 400, "INE009A01021"),
        (7, 400, "INE009A01099"),  # as the sale has it
        (1, 0, None),
    ]
