"""What went wrong in other ledgers, by public report, with the right value.

Each test names the report: repository and number.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, on_day, trade, unwarned
from tradingdata.analysis.keys import CONTRACT, KEY, REQUIRED

ID, EXCHANGE = CONTRACT[2], CONTRACT[0]
ACCOUNT, PRODUCT = KEY[0], KEY[-1]
LOT: dict[str, Any] = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}
NEXT = DAY + dt.timedelta(days=1)


def later(days: int, *made: Any) -> td.Trade:
    (row,) = on_day([trade(*made)], days)
    return row


def lots(result: Any) -> list[tuple[int, float]]:
    return [(lot.quantity, lot.value) for lot in result.open_lots]


def test_a_split_is_no_purchase_without_cost() -> None:
    """cgt-calc/capital-gains-calculator#511: a gain of 16 for 7, as the split was bought for 0."""
    rows = book(trade(1, "B", 2, 20.0), later(1, 2, "S", 10, 27.0))
    result = td.realised_pnl(rows, changes=[td.LotChange(NEXT, ratio=5)])
    assert (result.realised, lots(result)) == (7.0, [])


def test_a_sale_on_the_day_of_a_split_is_of_that_day_s_shares() -> None:
    """cgt-calc/capital-gains-calculator#1045: 5 of 11 sold on the day, cost 631.73 for 7,178.75."""
    bought = trade(1, "B", 11, 15793.25)
    split = [td.LotChange(at(3600, 1), ratio=20)]  # after the sale
    before = td.realised_pnl(book(bought, later(1, 2, "S", 5, 9622.32)), changes=split)
    after = td.realised_pnl(book(bought, later(1, 2, "S", 100, 9622.32, 7200)), changes=split)
    assert [match.cost for match in before.matches] == [7178.75]
    assert [match.cost for match in after.matches] == [7178.75]
    assert lots(before) == lots(after) == [(120, 8614.5)]


@pytest.mark.parametrize(("sold", "expected"), [(0, 10.0), (5, 5.0)])
def test_a_demerger_moves_cost_not_proceeds(sold: int, expected: float) -> None:
    """cgt-calc/capital-gains-calculator#933: 0 for 5 after half was sold at a profit."""
    rows = [trade(1, "B", 10, 100.0)]
    if sold:
        rows.append(trade(2, "S", sold, 500.0, 9))
    rows.append(later(1, 3, "B", 1, 1.0))
    change = td.LotChange(NEXT, into={ID: "11"}, cost=0.1)
    result = td.realised_pnl(book(*rows), changes=[change])
    assert sum(lot.value for lot in result.filter(**{ID: "11"}).open_lots) == expected


def test_what_a_demerger_moves_is_rounded_as_the_broker_rounds_it() -> None:
    """portfolio-performance/portfolio#5830: the cost that stayed was 1,604.61."""
    change = td.LotChange(NEXT, into={"security_id": "11"}, cost=0.194793)
    ledger = td.Ledger(book(trade(1, "B", 94, 1992.8)), changes=[change], until=NEXT)
    assert [lot.value for lot in ledger.open_lots()] == [1604.62, 388.18]


def test_a_calculation_again_splits_nothing_again() -> None:
    """wealthfolio/wealthfolio#541, stadlmax/pyFIFOtax#14: applied twice."""
    split = [td.LotChange(NEXT, ratio=10)]
    first = td.realised_pnl(book(trade(1, "B", 10, 550.0), later(1, 2, "B", 1, 6.0)), changes=split)
    again = td.realised_pnl(book(later(2, 3, "S", 1, 7.0)), opening=first.open_lots, changes=split)
    assert sum(lot.quantity for lot in again.open_lots) == 100
    value = td.Ledger(td.TradeBook(), again.open_lots, changes=split).unrealised({"10": 6.0})
    assert value[0].quantity == 100


def test_a_later_split_changes_nothing_that_was_sold_before() -> None:
    """TheInfiniteKind/moneydance_open#70: 100 bought, -100 shown before a split."""
    rows = [trade(1, "B", 100, 1000.0), later(1, 2, "B", 50, 600.0), later(2, 3, "S", 50, 700.0)]
    split = [td.LotChange(DAY + dt.timedelta(days=3), ratio=2)]
    everything = book(*rows, later(4, 4, "S", 200, 1500.0))
    before = td.realised_pnl(everything, day=at(0, 2), changes=split)
    assert lots(before) == [(50, 500.0), (50, 600.0)]
    assert td.realised_pnl(everything, changes=split).realised == 200.0 + 400.0
    assert len(td.realised_pnl(everything, changes=split).open_lots) == 0


def test_moved_lots_keep_their_place_in_time() -> None:
    """portfolio-performance/portfolio#1292: first in, first out by transfer, not by purchase."""
    elsewhere: dict[str, Any] = {PRODUCT: "M"}
    older = trade(1, "B", 5, 500.0, **elsewhere)
    rows = book(older, trade(2, "B", 5, 600.0, 5), later(1, 3, "S", 5, 700.0))
    move = td.LotChange(at(9), where=elsewhere, replace={PRODUCT: "C"})
    assert [match.buy_trade_no for match in td.realised_pnl(rows, changes=[move]).matches] == ["1"]


def test_lots_moved_twice_keep_their_place_in_time() -> None:
    """portfolio-performance/portfolio#4446: the second purchase was sold first."""
    there: dict[str, Any] = {PRODUCT: "M"}
    rows = [trade(1, "B", 1, 100.0, 1, **there), trade(2, "B", 1, 200.0, 2)]
    rows += [trade(3, "B", 1, 300.0, 3, **there), trade(4, "S", 1, 1000.0, 60, **there)]
    moves = [
        td.LotChange(at(10), where=there, replace={PRODUCT: "C"}),
        td.LotChange(at(20), where={PRODUCT: "C"}, replace=there, quantity=1),
    ]
    result = td.realised_pnl(book(*rows), changes=moves)
    assert [match.cost for match in result.matches] == [100.0]


def test_a_part_of_several_lots_moves_with_its_cost() -> None:
    """beancount/beancount#476: 15 of 20 were to be moved with what they cost."""
    there: dict[str, Any] = {PRODUCT: "M"}
    bought = [trade(1, "B", 10, 100.0, 1, **there), trade(2, "B", 10, 10.0, 2, **there)]
    move = td.LotChange(at(10), where=there, replace={PRODUCT: "C"}, quantity=15)
    result = td.realised_pnl(book(*bought, trade(3, "S", 10, 1000.0, 60)), changes=[move])
    assert (result.realised, lots(result)) == (900.0, [(5, 5.0), (5, 5.0)])


@pytest.mark.parametrize("match_by", ["security_id", "isin"])
def test_a_new_isin_keeps_the_holding(match_by: str) -> None:
    """pviotti/degiro-bookkeeper#91, tacgomes/investir#17, ib-edavki/ib-edavki#181: an error."""
    old: dict[str, Any] = {"isin": "GB00BZ09BD16", ID: "20"}
    new: dict[str, Any] = {"isin": "US0494681010", ID: "21"}
    rows = book(trade(1, "B", 4, 400.0, **old), later(1, 2, "S", 4, 500.0)._replace(**new))
    change = td.LotChange(NEXT, where={"isin": "GB00BZ09BD16"}, replace=new)
    result = td.realised_pnl(rows, changes=[change], match_by=match_by)
    assert (result.realised, result.matches[0].isin) == (100.0, "US0494681010")


def test_one_isin_of_two_accounts_is_two_holdings() -> None:
    """GeiserX/DeclaRenta#67: one pool of lots for two brokers."""
    one = trade(1, "B", 5, 500.0)._replace(**{ACCOUNT: "a", "isin": "INE000A01011"})
    two = trade(2, "S", 5, 600.0, 5)._replace(
        **{ACCOUNT: "b", "isin": "INE000A01011", EXCHANGE: "BSE"}
    )
    result = td.realised_pnl(book(one, two), match_by="isin")
    assert (result.realised, len(result.open_lots), len(result.issues)) == (0.0, 2, 0)


def test_a_flip_closes_and_opens() -> None:
    """Eleven-Trading/TradeNote#130, cdump/investments#8: a position through zero, in one or two."""
    one = book(trade(1, "S", 5, 500.0), trade(2, "B", 8, 720.0, 3), trade(3, "S", 3, 330.0, 6))
    two = book(
        *(trade(1, "S", 5, 500.0), trade(2, "B", 5, 450.0, 3)),
        *(trade(4, "B", 3, 270.0, 3), trade(3, "S", 3, 330.0, 6)),
    )
    assert td.realised_pnl(one).realised == td.realised_pnl(two).realised == 110.0


def test_a_position_opened_again_starts_from_zero() -> None:
    """marketcalls/openalgo#1100, #1328: by averages of the day."""
    rows = book(
        trade(1, "B", 65, 3250.0), trade(2, "S", 65, 2750.0, 3), trade(3, "B", 65, 2600.0, 6)
    )
    day = td.day_pnl(rows, prices={"10": 41.0})
    assert (day.realised, day.unrealised) == (-500.0, 65.0)


def test_each_day_has_its_own_part() -> None:
    """braverock/blotter#8; polakowo/vectorbt#344: profit of a position by day, after fees."""
    rows = book(trade(1, "B", 36, 829.8), later(2, 2, "S", 36, 831.24))
    closes = {NEXT - dt.timedelta(days=1): {"10": 23.05}, NEXT: {"10": 23.06}}
    found = td.daily_pnl(rows, prices=closes, charges=[td.ChargeRate(per_order=1)])
    assert [row.net for row in found] == [-1.0, 0.36, 0.08]
    assert found.net == -0.56


def test_a_period_has_the_change_of_what_is_unrealised() -> None:
    """andreasgerstmayr/fava-portfolio-returns#148, syllogic-ai/syllogic#107: from cost."""
    held = [{**LOT, "quantity": 1, "value": 10.0}]
    closes = {DAY: {"10": 100.0}, NEXT: {"10": 101.0, "11": 1.0}}
    idle = book(later(1, 1, "B", 1, 1.0)._replace(**{ID: "11"}))
    found = unwarned(lambda: td.daily_pnl(idle, opening=held, prices=closes, days=[NEXT]))
    assert [(row.day, row.net) for row in found] == [(NEXT, 1.0)]


def test_a_minimum_is_for_each_order() -> None:
    """quantopian/zipline#141, edtechre/pybroker#61: charged for each fill."""
    fills = book(*(trade(n, "B", 1, 100.0, n, order_no="one") for n in range(1, 5)))
    assert td.charges(fills, [td.ChargeRate(brokerage=0.0003, minimum=5)]).total == 5.0


def test_charges_on_either_side_are_there() -> None:
    """yccheok/jstock#9, mayankkom-dev/spike#19: levies of 0, or left out."""
    rate = td.ChargeRate(stamp_buy=0.001, other_buy=0.0003, other_sell=0.0003)
    (row,) = td.charges(book(trade(1, "B", 1, 1000.0), trade(2, "S", 1, 1000.0, 5)), [rate])
    assert (row.stamp, row.other) == (1.0, 0.6)


def test_an_intraday_pair_is_not_delivery() -> None:
    """Eleven-Trading/TradeNote#171: guessed from the matches."""
    held = [{**LOT, "quantity": 10, "value": 900.0}]
    rates = [
        td.ChargeRate(where={"squared_off": True}, stt_sell=0.00025),
        td.ChargeRate(stt_buy=0.001, stt_sell=0.001),
    ]
    both = book(trade(1, "B", 10, 1000.0), trade(2, "S", 10, 1010.0, 5))
    assert td.realised_pnl(both, opening=held).matches[0].realised == 110.0  # first in, first out
    assert td.charges(both, rates).total == 0.2525


def test_a_scrip_dividend_is_not_sold_before_it_arrives() -> None:
    """GeiserX/DeclaRenta#10: lots of the dividend were added before all trades."""
    scrip = {**LOT, "quantity": 5, "value": 0.0, "time": at(0, 2)}
    rows = book(trade(1, "B", 5, 500.0), later(1, 2, "S", 5, 600.0), later(3, 3, "S", 5, 300.0))
    assert [match.cost for match in td.realised_pnl(rows, [scrip]).matches] == [500.0, 0.0]


def test_a_split_before_a_scrip_dividend_does_not_split_it() -> None:
    """GeiserX/DeclaRenta#10: earlier splits changed later lots."""
    scrip = {**LOT, "quantity": 5, "value": 0.0, "time": at(0, 3)}
    split = [td.LotChange(at(0, 2), ratio=2)]
    rows = book(trade(1, "B", 5, 500.0), later(4, 2, "B", 1, 1.0))
    assert lots(td.realised_pnl(rows, [scrip], changes=split)) == [(10, 500.0), (5, 0.0), (1, 1.0)]


def test_a_return_of_capital_lowers_the_cost() -> None:
    """alexpung/UK-Investment-tax-calculator#188: the pool of the shares stayed as it was."""
    rows = book(trade(1, "B", 100, 9800.0), later(2, 2, "S", 100, 9900.0))
    repaid = [td.LotChange(NEXT, add=-2.5)]
    assert td.realised_pnl(rows, changes=repaid).realised == 350.0


def test_cash_for_a_fraction_has_the_cost_of_the_fraction() -> None:
    """hickeng/financial#78, wligithub/tax-tool#4: a fraction of a share taken for an amount."""
    rows = book(trade(1, "B", 9, 900.0), later(2, 2, "B", 1, 1.0)._replace(**{ID: "11"}))
    merger = [td.LotChange(NEXT, where={ID: "10"}, ratio=(1, 4), cash=420.0)]
    ledger = td.Ledger(rows, changes=merger)
    assert [(m.cost, m.proceeds, m.realised) for m in ledger.matches] == [(100.0, 105.0, 5.0)]
    assert lots(ledger.realised())[0] == (2, 800.0)


@pytest.mark.parametrize(("price", "realised"), [(0.0, -500.0), (7.5, 250.0)])
def test_an_expired_option_is_closed_once(price: float, realised: float) -> None:
    """QuantConnect/Lean#5016, mike840609/assets_tracker#732, wealthfolio/wealthfolio#1378."""
    option: dict[str, Any] = {CONTRACT[3]: NEXT, CONTRACT[1]: "D", "strike_price": 90.0}
    other = later(3, 2, "B", 1, 1.0)._replace(**{ID: "11"})
    ledger = td.Ledger(book(trade(1, "B", 100, 500.0, **option), other), settle={"10": price})
    assert [unwarned(lambda day=day: ledger.realised(day)).realised for day in DAYS] == [  # type: ignore[misc]
        *(0.0, realised, 0.0, 0.0)
    ]
    assert (ledger.realised().realised, len(ledger.open_lots()), len(ledger.expired)) == (
        *(realised, 1, 0),
    )


DAYS = [DAY + dt.timedelta(days=number) for number in range(4)]


def test_two_strategies_of_one_security_are_apart() -> None:
    """pmorissette/bt#345, marketcalls/openalgo#1694: netted, or one of them is lost."""
    rows = book(trade(1, "B", 10, 1000.0, algo_id="x"), trade(2, "S", 10, 1100.0, 1, algo_id="y"))
    found = td.realised_pnl(rows, by="algo_id")
    assert {row.by: row.open_quantity for row in found} == {"x": 10, "y": -10}
    assert len(td.realised_pnl(rows).open_lots) == 0


def test_exercise_is_charged_where_a_rate_says_so() -> None:
    """The tax on exercised options is on the settlement, not on the premium."""
    option: dict[str, Any] = {CONTRACT[3]: DAY, CONTRACT[1]: "D", "strike_price": 90.0}
    rows = book(trade(1, "B", 50, 10507.5, **option))
    exercise = td.ChargeRate(where={"settled": True}, stt_sell=0.00125)
    for by in (None, "algo_id"):
        ledger = td.Ledger(rows, settle={"10": 28.0}, by=by)
        day = ledger.day(charges=[exercise, td.ChargeRate(per_order=20)])
        assert (day.realised, day.charges) == (-9107.5, 21.75)
        assert ledger.day(charges=td.ChargeRate(per_order=20)).charges == 20.0
        daily = ledger.daily({}, charges=[exercise, td.ChargeRate(per_order=20)])
        assert daily.net == -9129.25
