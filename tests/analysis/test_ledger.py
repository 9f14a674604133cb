"""One fold over time: what a ledger has of any moment, and cases that are wrong without a timeline.

``L1`` to ``L19`` are small books with their right values.
"""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tradingdata as td
from analysis_samples import DAY, TIME, book, on_day, trade, unwarned
from cases import problems
from tradingdata.analysis.keys import CONTRACT, REQUIRED
from tradingdata.analysis.results import Problem

ID, EXPIRY, SEGMENT = CONTRACT[2], CONTRACT[3], CONTRACT[1]
NEXT = DAY + dt.timedelta(days=1)
LOT: dict[str, Any] = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}
OPTION: dict[str, Any] = {ID: "40", SEGMENT: "D", "strike_price": 100.0}
IDLE: dict[str, Any] = {ID: "9"}


def made(number: int, side: str, quantity: int, value: float, day: str, **fields: Any) -> td.Trade:
    time = dt.datetime.fromisoformat(f"{day} 10:00")
    return trade(number, side, quantity, value)._replace(**{TIME: time} | fields)


def lot(quantity: int, value: float, day: str | None = None, **fields: Any) -> dict[str, Any]:
    time = day and dt.datetime.fromisoformat(day)
    return {**LOT, "quantity": quantity, "value": value, "time": time, **fields}


def test_a_lot_arrives_at_its_time() -> None:
    """L1: a bonus of March is not sold in February."""
    rows = book(made(1, "B", 50, 500.0, "2026-01-01"), made(2, "S", 50, 600.0, "2026-02-01"))
    ledger = td.Ledger(rows, [lot(100, 0.0, "2026-03-01")])
    assert (ledger.realised().realised, [m.held for m in ledger.matches]) == (100.0, [31])
    assert [each.quantity for each in ledger.open_lots()] == [100]
    assert len(ledger.open_lots("2026-02-28")) == 0
    assert len(ledger.issues) == 0


def test_a_bonus_changes_nothing_on_its_day() -> None:
    """L2: 10 of 1,000 become 20 of 500."""
    rows = book(made(1, "B", 10, 10000.0, "2026-02-28"))
    closes = {dt.date(2026, 2, 28): {"10": 1000.0}, dt.date(2026, 3, 1): {"10": 500.0}}
    daily = td.daily_pnl(rows, opening=[lot(10, 0.0, "2026-03-01")], prices=closes)
    assert [row.net for row in daily] == [0.0, 0.0]


@pytest.mark.parametrize("changes", [[], [td.LotChange("2026-02-28", where={ID: "77"}, ratio=2)]])
def test_dated_lots_are_in_the_order_of_their_time(changes: list[td.LotChange]) -> None:
    """L3: given newest first, and a change of something else."""
    lots = [lot(10, 2000.0, "2024-01-01"), lot(10, 1000.0, "2023-01-01")]
    rows = book(made(1, "S", 10, 3000.0, "2026-02-28"))
    assert unwarned(lambda: td.realised_pnl(rows, lots, changes=changes)).realised == 2000.0


def test_a_settlement_before_the_first_trade_is_in_the_days() -> None:
    """L4"""
    option = OPTION | {EXPIRY: dt.date(2026, 11, 24)}
    rows = book(made(1, "B", 1, 1.0, "2026-11-26", **IDLE))
    ledger = td.Ledger(rows, [lot(10, 50.0, **option, multiplier=1)], settle={"40": 9.0})
    before, day = dt.date(2026, 11, 23), dt.date(2026, 11, 24)
    daily = ledger.daily({before: {"40": 6.0}, day: {"9": 1.0}, dt.date(2026, 11, 26): {"9": 1.0}})
    assert [(row.day, row.realised, row.net) for row in daily] == [
        *((day, 40.0, 30.0), (dt.date(2026, 11, 26), 0.0, 0.0))
    ]
    assert (daily.net, daily.pnl.realised) == (30.0, 40.0)


def test_without_trades_the_last_day_is_that_of_the_lots() -> None:
    """Of the day that a lot is as of, or else of its time."""
    opened = lot(10, 100.0, "2026-03-01")
    assert td.Ledger(td.TradeBook(), opening=[opened]).until == dt.date(2026, 3, 1)
    known = {**opened, "as_of": dt.datetime(2026, 3, 4, 9)}
    assert td.Ledger(td.TradeBook(), opening=[known]).until == dt.date(2026, 3, 4)


def test_a_settlement_says_until_when_time_runs() -> None:
    """L5: an option that expires after the last trade."""
    rows = book(made(1, "B", 50, 10507.5, "2026-06-07", **OPTION, **{EXPIRY: dt.date(2026, 6, 9)}))
    ledger = td.Ledger(rows, settle={"40": 28})
    assert (ledger.until, ledger.realised().realised) == (dt.date(2026, 6, 9), -9107.5)
    (settled,) = ledger.settlements
    assert (settled.trade_no, settled.order_no, settled.trade_value) == (None, None, 1400.0)
    assert unwarned(lambda: ledger.realised("2026-06-08")).realised == 0.0
    assert problems(unwarned(lambda: td.realised_pnl(rows, settle={"41": 28}))) == [Problem.UNUSED]
    limited = td.Ledger(rows, settle={"40": 28}, until="2026-06-08")
    assert problems(limited) == [Problem.LATE]
    assert (unwarned(limited.realised).realised, len(limited.open_lots())) == (0.0, 1)


def test_a_change_of_the_multiplier_is_not_undone() -> None:
    """L6: the trade proves 500 until the change."""
    future: dict[str, Any] = {ID: "30", SEGMENT: "D", EXPIRY: dt.date(2026, 12, 24)}
    first = made(1, "B", 1, 300000.0, "2026-11-20", traded_price=600.0, lot_size=500, **future)
    change = td.LotChange("2026-11-21", where={ID: "30"}, replace={"multiplier": 375})
    rows = book(first, made(2, "B", 1, 1.0, "2026-11-23", **IDLE))
    ledger = td.Ledger(rows, changes=[change])
    assert ledger.unrealised({"30": 810.0, "9": 1.0}).unrealised == 3750.0
    assert [ledger.open_lots(day)[0].multiplier for day in (DAY, None)] == [500, 375]
    later = made(3, "S", 1, 303750.0, "2026-11-24", traded_price=810.0, lot_size=375, **future)
    assert td.Ledger(book(*rows, later), changes=[change]).realised().realised == 3750.0
    odd = later._replace(trade_value=405000.0, lot_size=500)
    with pytest.raises(ValueError, match="has the multiplier 500, but other lots or trades of it"):
        td.Ledger(book(*rows, odd), changes=[change])
    with pytest.raises(ValueError, match="leave out quantity"):
        td.LotChange("2026-11-21", replace={"multiplier": 375}, quantity=1)


def test_who_gets_no_whole_share_is_named_and_stops_nobody() -> None:
    """L8: a rights entitlement of one for 15."""
    rows = book(
        *(trade(1, "B", 10, 1000.0), trade(2, "B", 30, 3000.0, 1, client_id="C2")),
        *on_day([trade(3, "B", 1, 1.0, **IDLE)], 3),
    )
    change = td.LotChange(NEXT, where={ID: "10"}, into={ID: "11"}, ratio=(1, 15), cost=0)
    ledger = td.Ledger(rows, changes=[change])
    assert [
        (each.client_id, each.quantity) for each in ledger.open_lots().filter(**{ID: "11"})
    ] == [("C2", 2)]
    assert [(issue.client_id, issue.problem) for issue in ledger.issues] == [
        ("C1", Problem.FRACTION)
    ]
    assert sum(each.value for each in ledger.open_lots()) == 4001.0


def test_cash_ends_a_fraction_and_realises_its_gain() -> None:
    """L9: 42 shares for 25, of 30 shares of 2,000."""
    rows = book(trade(1, "B", 30, 60000.0), *on_day([trade(3, "B", 1, 1.0, **IDLE)], 3))
    change = td.LotChange(NEXT, where={ID: "10"}, replace={ID: "11"}, ratio=(42, 25), cash=1820.475)
    ledger = td.Ledger(rows, changes=[change])
    (paid,) = ledger.matches
    assert (paid.cost, paid.proceeds, paid.realised) == (476.19, 728.19, 252.0)
    merged = ledger.open_lots().filter(**{ID: "11"})[0]
    assert (merged.quantity, merged.value, len(ledger.issues)) == (50, 59523.81, 0)
    daily = ledger.daily(lambda day, row: 1000.0)
    values = ledger.unrealised(lambda row: 1000.0)
    assert daily.net == 252.0 + td.required(values.unrealised)


def test_what_is_rounded_in_a_demerger_is_rounded_once() -> None:
    """L10: a thousand lots, none of them off by more than a paisa."""
    rows = [trade(number, "B", 1, 100.01) for number in range(1, 1001)]
    change = td.LotChange(NEXT, where={ID: "10"}, into={ID: "11"}, cost=0.3115)
    idle = on_day([trade(3000, "B", 1, 1.0, **IDLE)], 3)
    lots = td.Ledger(book(*rows, *idle), changes=[change]).open_lots()
    parts = [Fraction(repr(each.value)) for each in lots.filter(**{ID: "11"})]
    assert (sum(parts), {*map(float, parts)}) == (Fraction("31153.12"), {31.15, 31.16})


def test_a_bonus_that_meets_a_short_is_named() -> None:
    """It is that client's; the others get theirs."""
    rows = book(trade(1, "S", 10, 1000.0), trade(2, "B", 10, 1000.0, 1, client_id="C2"))
    bonus = [lot(10, 0.0, "2026-11-20 12:00", client_id=name) for name in ("C1", "C2")]
    ledger = td.Ledger(rows, bonus)
    assert [(issue.client_id, issue.problem) for issue in ledger.issues] == [("C1", Problem.MEETS)]
    assert [(each.side, each.quantity) for each in ledger.open_lots()] == [
        *(("short", 10), ("long", 10), ("long", 10))
    ]


def test_a_lot_after_the_last_day_is_named() -> None:
    rows = book(trade(1, "B", 10, 1000.0))
    ledger = td.Ledger(rows, [lot(10, 0.0, "2026-12-01")], until=DAY)
    assert (problems(ledger), len(ledger.open_lots())) == ([Problem.LATE], 1)


def test_days_of_prices_are_those_of_india() -> None:
    """L17: midnights of India held in UTC, dates as times, and times that are no days."""
    rows = book(trade(1, "B", 10, 1000.0), *on_day([trade(2, "B", 1, 1.0, **IDLE)], 1))
    days = pd.to_datetime(["2026-11-20", "2026-11-21"])
    frame = pd.DataFrame({"day": days, ID: "10", "price": [101.0, 105.0]})
    idle = pd.DataFrame({"day": days, ID: "9", "price": 1.0})
    frame = pd.concat([frame, idle])
    expected = td.daily_pnl(rows, prices=frame)
    assert [row.net for row in expected] == [10.0, 40.0]
    in_utc: Any = frame.assign(day=frame["day"].dt.tz_localize("Asia/Kolkata").dt.tz_convert("UTC"))
    of_utc: Any = frame.assign(day=frame["day"].dt.tz_localize("UTC"))
    for other in (in_utc, of_utc):
        assert td.daily_pnl(rows, prices=other) == expected
    naive = frame.assign(day=frame["day"] - pd.Timedelta(hours=5, minutes=30))
    with pytest.raises(
        ValueError, match="prices has the day 2026-11-19 18:30:00, which is no midn"
    ):
        td.daily_pnl(rows, prices=naive)


def test_prices_have_one_form_everywhere() -> None:
    """L18"""
    ledger = td.Ledger(book(trade(1, "B", 10, 1000.0), *on_day([trade(2, "S", 4, 480.0)], 1)))
    by_day = {DAY: {"10": 101.0}, NEXT: {"10": 105.0}}
    rows = [{"day": day, ID: "10", "price": of_day["10"]} for day, of_day in by_day.items()]
    of_days: list[Any] = [by_day, rows, pd.DataFrame(rows), lambda day, row: by_day[day]["10"]]
    for prices in of_days:
        assert [row.net for row in ledger.daily(prices)] == [10.0, 100.0]
        assert ledger.day(NEXT, prices=prices).unrealised == 30.0
        assert ledger.unrealised(prices, at=DAY).unrealised == 10.0
    every: list[Any] = [
        *({"10": 105.0}, pd.Series({"10": 105.0}), lambda row: {"INFY": 105.0}[row.symbol]),
        *({("NSE", "E", "10"): Decimal(105)}, {("NSE", "E", "10"): 105, "11": 1}),
        pd.Series([105], index=pd.MultiIndex.from_tuples([("NSE", "E", "10")])),
        *(pd.DataFrame({ID: ["10"], "price": [105.0]}), [{ID: "10", "price": 105.0}]),
    ]
    for prices in every:
        assert ledger.daily(prices).net == 110.0
        assert ledger.day(prices=prices).unrealised == 30.0
        assert td.unrealised_pnl(ledger.open_lots(), prices).unrealised == 30.0
    with pytest.raises(ValueError, match="prices has several days"):
        ledger.unrealised(by_day)
    with pytest.raises(TypeError, match="security_id as text, not 10"):
        ledger.day(prices=pd.DataFrame({ID: [10], "price": [105.0]}))


def test_what_nobody_priced_is_none() -> None:
    """L19"""
    rows = book(trade(1, "B", 10, 1000.0), trade(2, "B", 5, 600.0, 1, **IDLE))
    day = unwarned(lambda: td.day_pnl(rows, prices={"10": 110.0}))
    assert (day.unrealised, day.net, problems(day)) == (None, None, [Problem.UNPRICED])
    assert [row.net for row in day.unpriced] == [None]
    assert day.filter(**{ID: "10"}).net == 100.0
    text = " ".join(repr(day).split())
    assert "net unknown (100.00 of what has one), realised 0.00, unrealised unknown" in text
    lots = td.realised_pnl(rows)
    with pytest.warns(td.DataWarning, match=r"without a price: 1 \(9 \(INFY\): in no sum\)"):
        value = td.unrealised_pnl(lots, {"10": 110.0, "9": float("nan")})
    assert (value.unrealised, [row.market_value for row in value.unpriced]) == (None, [None])
    assert "unrealised unknown (100.00 of what has one)" in " ".join(repr(value).split())
    nothing = unwarned(lambda: td.day_pnl(rows))
    assert "net unknown, realised 0.00" in " ".join(repr(nothing).split())


def test_a_ledger_has_a_display_pickles_and_does_not_change() -> None:
    rows = book(trade(1, "B", 10, 1000.0), trade(2, "S", 4, 480.0, 1))
    ledger = td.Ledger(rows, [lot(5, 400.0)], settle={"40": 1.0})
    assert repr(ledger) == "Ledger: 2026-11-20: 2 trades, 1 opening lot, until 2026-11-20"
    assert copy.copy(ledger) is copy.deepcopy(ledger) is ledger
    again = pickle.loads(pickle.dumps(ledger))
    assert again.realised() == ledger.realised()
    assert again.matches == ledger.matches
    with pytest.raises(AttributeError, match="a Ledger cannot be changed"):
        ledger.until = DAY  # type: ignore[misc]
    with pytest.raises(AttributeError, match="a Ledger cannot be changed"):
        del ledger._run
    with pytest.raises(TypeError, match="unexpected keyword argument 'chnages'"):
        td.realised_pnl(rows, chnages=[])  # type: ignore[call-arg]


def test_what_a_caller_changes_later_changes_no_ledger() -> None:
    """A cut after the last day begins anew, with the arguments as they were."""
    option = made(1, "B", 50, 10507.5, DAY.isoformat(), **OPTION, **{EXPIRY: NEXT})
    given, settle, tags = [lot(5, 400.0, by="a")], {"40": 28.0}, {"1": "a"}
    changes = [td.LotChange(DAY, where={ID: "10"}, ratio=2)]
    options: dict[str, Any] = {"changes": changes, "settle": settle, "by": tags}
    ledger = td.Ledger(book(option), given, **options)
    once = td.Ledger(book(option), iter(given), settle=iter([{ID: "40", "price": 28.0}]))
    given[0]["quantity"] = 7
    for argument in (given, settle, tags, changes):
        argument.clear()
    later = NEXT + dt.timedelta(days=1)
    assert [(each.quantity, each.by) for each in ledger.open_lots(later)] == [(10, "a")]
    assert [each.quantity for each in once.open_lots(later)] == [5]
    again = [pickle.loads(pickle.dumps(one)) for one in (ledger, once)]
    assert [one.realised().realised for one in again] == [-9107.5, -9107.5]


def test_days_after_the_last_do_not_count() -> None:
    rows = book(trade(1, "B", 10, 1000.0), made(2, "S", 10, 1100.0, NEXT.isoformat()))
    ledger = td.Ledger(rows, until=DAY)
    assert ledger.realised().days == (DAY,)
    assert (ledger.realised().realised, len(ledger.matches)) == (0.0, 0)
    assert (ledger.day(prices={"10": 105.0}).day, ledger.day(prices={"10": 105.0}).net) == (DAY, 50)
    closes = {DAY: {"10": 105.0}, NEXT: {"10": 110.0}}
    assert [(row.day, row.net) for row in ledger.daily(closes)] == [(DAY, 50.0)]
    for cut in (ledger.realised, ledger.day, ledger.open_lots):
        with pytest.raises(ValueError, match="2026-11-21 is after the last day, 2026-11-20: pass"):
            cut(NEXT)
    with pytest.raises(ValueError, match="2026-11-21 is after the last day"):
        ledger.daily(closes, days=[NEXT])


def test_a_moment_may_be_text() -> None:
    rows = book(made(1, "B", 10, 1000.0, DAY.isoformat()))
    ledger = td.Ledger(rows)
    texts = [f"{DAY}T10:00", f"{DAY} 10:00:01", str(DAY)]
    assert [len(ledger.open_lots(text)) for text in texts] == [0, 1, 1]
    zoned = td.Ledger(rows.localize("Asia/Kolkata"))
    assert len(zoned.open_lots(f"{DAY}T04:30:01+00:00")) == 1
    assert zoned.unrealised({"10": 101.0}, f"{DAY}T04:30+00:00").unrealised == 0.0
    with pytest.raises(
        ValueError, match="at must be a date, a time or ISO text, not '2026-11-20T'"
    ):
        ledger.open_lots("2026-11-20T")


def test_a_settlement_that_meets_an_expiry_moved_later_is_named() -> None:
    """An exchange moves an expiry: the price is that of a contract without lots."""
    option = {**OPTION, EXPIRY: NEXT}
    moved = NEXT + dt.timedelta(days=2)
    change = td.LotChange(DAY, where={ID: "40"}, replace={"expiry_date": moved})
    before = lot(50, 500.0, multiplier=1, **option)
    rows = book(made(1, "B", 1, 1.0, DAY.isoformat(), **IDLE))
    assert problems(td.Ledger(rows, [before], changes=[change], settle={"40": 28.0})) == [
        Problem.LATE
    ]
    exact = {("40", moved): 28.0}
    ledger = td.Ledger(rows, [before], changes=[change], settle=exact, until=moved)
    assert (ledger.realised().realised, problems(ledger)) == (900.0, [])


def test_a_total_of_days_is_that_of_the_last_day_in_any_order() -> None:
    rows = book(trade(1, "B", 10, 1000.0))
    daily = unwarned(lambda: td.Ledger(rows).daily({NEXT: {"10": 105.0}}))
    assert ([row.net for row in daily], daily.net) == ([None, 50.0], 50.0)
    assert daily.sort("-day").net == daily.sort("day").net == 50.0


def test_a_day_of_settlements_is_a_day() -> None:
    rows = book(made(1, "B", 50, 500.0, DAY.isoformat(), **OPTION, **{EXPIRY: NEXT}))
    ledger = td.Ledger(rows, settle={"40": 28.0})
    assert (ledger.day(NEXT).net, problems(ledger.day(NEXT))) == (900.0, [])
    assert problems(unwarned(lambda: ledger.day(NEXT + dt.timedelta(days=1)))) == [Problem.IDLE]


def test_a_lot_that_arrives_after_its_settlement_is_settled_when_it_arrives() -> None:
    later = NEXT + dt.timedelta(days=2)
    rows = book(*(made(n, "B", 1, 1.0, str(day), **IDLE) for n, day in ((1, DAY), (2, later))))
    option = OPTION | {EXPIRY: NEXT, "multiplier": 1}
    ledger = td.Ledger(rows, [lot(10, 50.0, f"{later} 11:00", **option)], settle={"40": 9.0})
    (match,) = ledger.matches
    assert (match.close_time, match.realised) == (dt.datetime.combine(later, dt.time(11)), 40.0)
    rates = [td.ChargeRate(where={"settled": True}, stt_sell=0.1), td.ChargeRate()]
    daily = unwarned(lambda: ledger.daily({"9": 1.0, "40": 5.0}, charges=rates))
    assert [(row.day, row.realised, row.charges) for row in daily] == [
        *((DAY, 0.0, 0.0), (later, 40.0, 9.0))
    ]


def test_a_multiplier_that_a_change_gives_is_proved_from_then_on() -> None:
    future: dict[str, Any] = {ID: "30", SEGMENT: "D", EXPIRY: dt.date(2026, 12, 24)}
    rows = book(made(1, "B", 2, 290.0, str(DAY), traded_price=100.0, lot_size=50, **future))
    change = td.LotChange(NEXT, where={ID: "30"}, replace={"multiplier": 50})
    ledger = td.Ledger(rows, changes=[change], until=NEXT)
    assert problems(unwarned(lambda: ledger.realised(DAY))) == [Problem.UNPROVED]
    assert Problem.UNPROVED not in problems(unwarned(ledger.realised))


def test_the_unit_of_what_arrives_after_another_multiplier_changed_is_known() -> None:
    future = {ID: "30", SEGMENT: "D", EXPIRY: NEXT, "lot_size": 1}
    rows = book(made(1, "B", 1, 25.0, str(DAY), traded_price=1.0, **future))
    change = td.LotChange(NEXT, where={ID: "30"}, replace={"multiplier": 40})
    ledger = td.Ledger(rows, [lot(2, 10.0, f"{NEXT} 11:00")], changes=[change])
    assert [row.multiplier for row in ledger.unrealised({"30": 2.0, "10": 6.0})] == [40, 1]
