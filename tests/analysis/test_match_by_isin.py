"""Shares matched by ISIN: across exchanges, series and ids, and never by accident."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import TIME, at, book, on_day, trade
from tradingdata.analysis.keys import CONTRACT, KEY, REQUIRED
from tradingdata.analysis.results import ATTRIBUTES, Problem

EXCHANGE, ID, ISIN, PRODUCT = CONTRACT[0], CONTRACT[2], ATTRIBUTES[2], KEY[-1]
ON_BSE: dict[str, Any] = {EXCHANGE: "BSE", ID: "500010", ISIN: "INE000A01011"}
FIRST: dict[str, Any] = {ISIN: "INE000A01011"}
SECOND: dict[str, Any] = {ISIN: "INE000A01029"}
BOUGHT = trade(1, "B", 100, 10000.0, **FIRST)
SOLD = trade(2, "S", 100, 10100.0, 5, **ON_BSE)


def test_bought_on_one_exchange_and_sold_on_the_other() -> None:
    both = book(BOUGHT, SOLD)
    result = td.realised_pnl(both, match_by="isin")
    assert (result.realised, len(result.open_lots), len(result.issues)) == (100.0, 0, 0)
    assert (result[0].exchange, result[0].security_id) == ("BSE", "500010")  # of the last trade
    rates = [td.ChargeRate(where={EXCHANGE: "NSE"}, per_order=1), td.ChargeRate(per_order=2)]
    day = td.day_pnl(both, match_by="isin", charges=rates)
    assert (day.realised, day.charges, len(day)) == (100.0, 3.0, 1)
    with pytest.warns(td.DataWarning, match=r'same ISIN under another id: 1 .*match_by="isin"'):
        apart = td.realised_pnl(both)
    assert (apart.realised, len(apart.open_lots)) == (0.0, 2)
    assert [issue.problem for issue in apart.issues] == [Problem.ELSEWHERE]
    assert re.search(r"on NSE and .* on BSE: match_by=\"isin\" closes them", str(apart.issues[0]))
    with pytest.warns(td.DataWarning, match=Problem.ELSEWHERE):
        td.realised_pnl(both, shorts=False)


def test_intraday_positions_stay_on_their_exchange() -> None:
    both = book(*(row._replace(**{PRODUCT: "I"}) for row in (BOUGHT, SOLD)))
    assert len(td.realised_pnl(both, match_by="isin").open_lots) == 2
    series = SOLD._replace(**{PRODUCT: "I", EXCHANGE: "NSE"})
    assert td.realised_pnl(book(both[0], series), match_by="isin").realised == 100.0


def test_an_id_links_the_old_isin_with_the_new() -> None:
    renamed = trade(3, "S", 50, 5200.0, 3, **SECOND)
    on_bse = trade(4, "S", 50, 5300.0, 9, **{**ON_BSE, ISIN: "INE000A01029"})
    result = td.realised_pnl(book(BOUGHT, renamed, on_bse), match_by="isin")
    assert (result.realised, len(result.open_lots)) == (500.0, 0)
    without = trade(5, "S", 100, 10100.0, 5)  # a row without an ISIN has its id
    assert td.realised_pnl(book(BOUGHT, without), match_by="isin").realised == 100.0


def test_a_price_serves_under_any_id_of_the_security() -> None:
    part = book(BOUGHT, SOLD._replace(quantity=40, trade_value=4040.0))
    for prices in ({"10": 102.0}, {"500010": 102.0}, {"10": 102.0, "500010": 102.0}):
        day = td.day_pnl(part, prices=prices, match_by="isin")
        assert (day.realised, day.unrealised) == (40.0, 120.0)
        assert td.daily_pnl(part, prices=prices, match_by="isin").net == 160.0
    with pytest.raises(ValueError, match="different values for the ids of one security"):
        td.day_pnl(part, prices={"10": 102.0, "500010": 103.0}, match_by="isin")
    same_id = book(BOUGHT, part[1]._replace(**{ID: "10"}))
    assert td.day_pnl(same_id, prices={"10": 102.0}, match_by="isin").unrealised == 120.0
    with pytest.raises(ValueError, match="match_by must be 'security_id' or 'isin', not 'symbol'"):
        td.realised_pnl(part, match_by="symbol")


@pytest.mark.parametrize("security", ["10", "500010"])
def test_a_multiplier_serves_under_any_id_of_the_security(security: str) -> None:
    odd = BOUGHT._replace(trade_value=9300.0)
    found = td.realised_pnl(book(odd, SOLD), match_by="isin", multipliers={security: 1})
    assert (found.realised, len(found.issues)) == (800.0, 0)


def test_opening_lots_and_derivatives() -> None:
    lot = {name: BOUGHT[name] for name in REQUIRED} | {"quantity": 100, "value": 9000.0, **FIRST}
    result = td.realised_pnl(book(SOLD), opening=[lot], match_by="isin")
    assert (result.realised, result.matches[0].isin) == (1100.0, "INE000A01011")
    assert [lot.quantity for lot in result.open_lots] == []


@pytest.mark.parametrize("where", [{ID: "10"}, {ID: "500010"}, {EXCHANGE: "NSE"}, FIRST])
def test_a_change_finds_lots_under_any_id_of_their_security(where: dict[str, Any]) -> None:
    """A later trade gives the security its id, under which the change was not announced."""
    ten = BOUGHT._replace(quantity=10, traded_price=1000.0, trade_value=10000.0)
    sold = on_day([SOLD._replace(traded_price=110.0, trade_value=11000.0)], 2)
    split = td.LotChange(at(0, 1), where=where, ratio=10)
    found = td.realised_pnl(book(ten, *sold), changes=[split], match_by="isin")
    assert (found.realised, len(found.open_lots), len(found.issues)) == (1000.0, 0, 0)
    opening = [{**row, "as_of": None} for row in td.realised_pnl(book(ten)).open_lots.to_dicts()]
    changes = [td.LotChange(at(0, 2).date(), where=where, ratio=10)]
    found = td.realised_pnl(book(*sold), opening=opening, changes=changes, match_by="isin")
    assert (found.realised, len(found.open_lots), len(found.issues)) == (1000.0, 0, 0)


@pytest.mark.parametrize(
    "text", ["NA", "-", "ine000a01011", "INE000A01011 ", "0" * 12, "INE000A0101X"]
)
def test_what_is_no_isin_joins_nothing(text: str) -> None:
    both = book(BOUGHT._replace(**{ISIN: text}), SOLD._replace(**{ISIN: text}))
    with pytest.warns(td.DataWarning, match="not an ISIN: 2 .10: "):
        found = td.realised_pnl(both, match_by="isin")
    assert (found.realised, len(found.open_lots)) == (0.0, 2)
    assert len(td.realised_pnl(both).issues) == 0  # nothing that the other choice would match


def test_the_order_of_one_second_on_two_exchanges_is_unknown() -> None:
    """Each exchange counts its trades on its own."""
    bought, sold = (
        BOUGHT._replace(trade_no="900"),
        SOLD._replace(trade_no="5", **{TIME: BOUGHT[TIME]}),
    )
    for rows in ((bought, sold), (sold, bought)):
        with pytest.warns(td.DataWarning, match=Problem.TIED):
            td.realised_pnl(book(*rows), match_by="isin")
    earlier = trade(1, "B", 1, 1.0, -60, row_no=0, **{ID: "77"})  # so rows follow time
    second, third = bought._replace(row_no=1), sold._replace(row_no=2)
    assert td.realised_pnl(book(third, earlier, second), match_by="isin").realised == 100.0


class Rest:
    """What is left of a lot or of a trade: its quantity, and its part of the value in paise."""

    def __init__(self, number: int, sign: int, quantity: int, paise: int) -> None:
        self.number, self.sign, self.quantity, self.left = number, sign, quantity, quantity
        self.paise = self.value = paise

    def take(self, quantity: int) -> int:
        """Takes a quantity, whose value is the whole one less what is left, rounded half up."""
        self.left -= quantity
        before, self.value = (
            self.value,
            math.floor(Fraction(self.paise * self.left, self.quantity) + Fraction(1, 2)),
        )
        return before - self.value


@pytest.mark.parametrize("seed", range(40))
def test_books_of_one_isin_are_matched_to_the_paisa(seed: int) -> None:
    """Parts of a value are rounded so that they add up to it, whatever id their trades have."""
    rng = random.Random(seed)
    rows: list[td.Trade] = []
    lots: list[Rest] = []
    matches: list[Any] = []
    for number in range(1, rng.randint(2, 30)):
        place: dict[str, Any] = rng.choice([{}, ON_BSE, {ID: "11"}]) | FIRST
        sign, paise = rng.choice([1, -1]), rng.randint(-(10**6), 10**6)
        closing = Rest(number, sign, rng.randint(1, 20), paise)
        side = "B" if sign > 0 else "S"
        rows.append(trade(number, side, closing.quantity, paise / 100, number, **place))
        while closing.left and lots and lots[0].sign != closing.sign:
            quantity = min(closing.left, lots[0].left)
            bought, sold = sorted((lots[0], closing), key=lambda each: -each.sign)
            amounts = [each.take(quantity) / 100 for each in (bought, sold)]
            matches.append((str(bought.number), str(sold.number), quantity, *amounts))
            lots = [lot for lot in lots if lot.left]
        lots += [closing] if closing.left else []
    found = td.realised_pnl(book(*rows), match_by="isin")
    assert [
        (match.buy_trade_no, match.sell_trade_no, match.quantity, match.cost, match.proceeds)
        for match in found.matches
    ] == matches
    assert [lot.value for lot in found.open_lots] == [lot.value / 100 for lot in lots]
    assert {row.security_id for row in found} == {rows[-1].security_id}
