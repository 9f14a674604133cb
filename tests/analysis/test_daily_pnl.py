"""Profit and loss by day: every day against a ledger of single shares, and days that add up."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import tradingdata as td
from analysis_samples import DAY, TIME, at, book, on_day, trade, unwarned
from tradingdata.analysis.keys import CONTRACT, KEY, REQUIRED
from tradingdata.analysis.results import Problem
from worlds.sixty_days import CONTRACTS, DAYS, Ledger, LedgerWorld, ledger_world

OF_ORDERS: dict[str, Any] = {"minimum": 0.5, "cap": 2.5, "per_order": 1, "gst_on": ["brokerage"]}
RATE = td.ChargeRate(brokerage=0.003, stt_sell=0.001, gst=0.18, **OF_ORDERS)
ID, EXPIRY, ACCOUNT = CONTRACT[2], CONTRACT[3], KEY[0]
MONDAY, TUESDAY, WEDNESDAY = (DAY + dt.timedelta(days=number) for number in range(3))
LOT: dict[str, Any] = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}


def exact(value: float | None) -> Fraction:
    assert value is not None
    return Fraction(repr(value))


def arguments(made: LedgerWorld) -> dict[str, Any]:
    def price(day: dt.date, row: Any) -> float | None:
        found = made.prices.get((day, (row.security_id, row.expiry_date)))
        return None if found is None else float(found)

    def settled(row: Any) -> float | None:
        found = made.settlements.get((row.security_id, row.expiry_date))
        return None if found is None else float(found)

    return {"prices": price, "settle": settled, "changes": made.changes, "charges": [RATE]}


def check(made: LedgerWorld) -> None:
    found = unwarned(lambda: td.daily_pnl(made.book, days=DAYS, **arguments(made)))
    ledger = Ledger(made, DAYS)
    rows = {(row.account, row.client_id, row.day): row for row in found}
    assert len(found) == len(rows) == len(DAYS) * len(ledger.holders)
    assert [row.day for row in found] == sorted(row.day for row in found)
    whole = Fraction(0)
    for holder in ledger.holders:
        total = [Fraction(0)] * 3
        known = Fraction(0), Fraction(0)
        for day in DAYS:
            row = rows[*holder, day]
            before = list(total)
            total[0] += ledger.realised[holder][day]
            total[1] = ledger.unrealised[holder][day]
            total[2] += ledger.charges[holder][day]
            realised, _, charges = (
                round(now, 6) - round(then, 6) for now, then in zip(total, before, strict=True)
            )
            assert (exact(row.realised), exact(row.charges)) == (realised, charges), (holder, day)
            now = round(total[0], 6) - round(total[2], 6)
            if day in ledger.unpriced[holder]:
                assert (row.unrealised, row.change, row.net) == (None, None, None)
                assert day != DAYS[-1] or found.net is None
                continue
            worth = round(total[1], 6)
            assert exact(row.unrealised) == worth, (holder, day)
            assert exact(row.change) == worth - known[0]
            assert exact(row.net) == now + worth - known[1]
            known = worth, now + worth
        whole += known[1]
    assert exact(found._sum("net")) == whole
    assert found.net in (None, found._sum("net"))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(50, 500, 50))]
)
def test_every_day_is_what_the_ledger_of_single_shares_has(seed: int) -> None:
    for number in range(seed, seed + 12):
        check(ledger_world(random.Random(number)))


@pytest.mark.parametrize("seed", range(6))
def test_two_halves_add_up_to_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    made = ledger_world(rng)
    places = [(day, each.place) for day in DAYS for each in CONTRACTS]
    made.prices = {place: Fraction(rng.randint(1, 9999), 100) for place in places}
    more = arguments(made)
    middle = dt.datetime.combine(DAYS[30], dt.time())
    first, second = (made.book.filter(**{f"{TIME}__{side}": middle}) for side in ("lt", "ge"))
    whole = unwarned(lambda: td.daily_pnl(made.book, days=DAYS, **more))
    before = unwarned(lambda: td.daily_pnl(first, days=DAYS[:30], **more))
    more["opening"] = before.pnl.open_lots
    after = unwarned(lambda: td.daily_pnl(second, days=DAYS[30:], **more))
    assert exact(before.net) + exact(after.net) == exact(whole.net)


def test_a_frame_of_prices_is_as_good_as_a_function() -> None:
    made = ledger_world(random.Random(3))
    more = arguments(made)
    rows = [
        {"day": day, ID: place[0], EXPIRY: place[1], "price": float(price)}
        for (day, place), price in made.prices.items()
    ]
    expected = unwarned(lambda: td.daily_pnl(made.book, days=DAYS, **more))
    by_day: dict[dt.date, Any] = {}
    for (day, place), price in made.prices.items():
        by_day.setdefault(day, {})[place] = float(price)
    frame = pl.DataFrame(rows, schema_overrides={EXPIRY: pl.Date})
    for prices in (rows, frame, frame.to_pandas(), frame.to_arrow(), by_day):
        more["prices"] = prices
        assert unwarned(lambda: td.daily_pnl(made.book, days=DAYS, **more)) == expected


def held(second: int = 0) -> td.TradeBook:
    later = on_day([trade(2, "S", 4, 480.0)], 2)
    return book(trade(1, "B", 10, 1000.0, second), *later)


def rows_of(found: Any) -> list[tuple[Any, ...]]:
    return [(row.day.day, row.realised, row.change, row.net) for row in found]


def test_days_of_a_frame_without_trades_are_reported() -> None:
    prices = {MONDAY: {"10": 101.0}, TUESDAY: {"10": 105.0}, WEDNESDAY: {"10": 121.0}}
    found = td.daily_pnl(held(), prices=prices)
    assert rows_of(found) == [(20, 0.0, 10.0, 10.0), (21, 0.0, 40.0, 40.0), (22, 80.0, 76.0, 156.0)]
    assert (found.net, found.realised, found.pnl.realised) == (206.0, 80.0, 80.0)
    assert found.filter(day=TUESDAY).net == 40.0
    assert "2026-11-20 to 2026-11-22 (3 days): net 206.00" in repr(found)
    assert len(td.daily_pnl(held(), prices=lambda day, row: 100.0)) == 2  # of days with trades
    assert len(td.daily_pnl(book(), prices={})) == 0


def test_a_missing_price_is_carried_and_named() -> None:
    prices = {MONDAY: {"10": 101.0}, TUESDAY: {"10": None}, WEDNESDAY: {}}
    with pytest.warns(td.DataWarning, match=rf"{Problem.STALE}: 2 \(10 \(INFY\): 2 days\)"):
        found = td.daily_pnl(held(), prices=prices)
    assert rows_of(found)[1:] == [(21, 0.0, 0.0, 0.0), (22, 80.0, -4.0, 76.0)]
    with pytest.warns(td.DataWarning, match=f"{Problem.UNPRICED}: 1"):
        found = td.daily_pnl(held(), prices={TUESDAY: {"10": 105.0}, WEDNESDAY: {"10": 105.0}})
    assert rows_of(found) == [(20, 0.0, None, None), (21, 0.0, 50.0, 50.0), (22, 80.0, -20.0, 60.0)]
    assert found.net == 110.0  # what the first day earned is in the next
    assert unwarned(lambda: td.daily_pnl(held(), prices={})).net is None


def test_a_key_that_matched_nothing_is_named() -> None:
    prices = {day: {"INFY": 101.0} for day in (MONDAY, WEDNESDAY)}
    with pytest.warns(td.DataWarning, match="prices has 'INFY', which names no contract here"):
        td.daily_pnl(held(), prices=prices)


def test_opening_lots_are_measured_from_the_day_before() -> None:
    lots = [{**LOT, "quantity": 4, "value": 400.0}]
    sold = book(*on_day([trade(2, "S", 4, 480.0)], 2))
    found = td.daily_pnl(sold, opening=lots, prices={MONDAY: {"10": 110.0}, WEDNESDAY: {"10": 1.0}})
    assert rows_of(found) == [(22, 80.0, -40.0, 40.0)]
    asked = []

    def price(day: dt.date, row: Any) -> float | None:
        asked.append(day)
        return 110.0 if day == MONDAY else None

    assert td.daily_pnl(sold, opening=lots, prices=price).net == 40.0
    assert asked == [TUESDAY, MONDAY]
    with pytest.warns(td.DataWarning, match=Problem.FROM_COST):
        assert td.daily_pnl(sold, opening=lots, prices={}).net == 80.0


def test_accounts_are_rows_of_their_own_and_filter_what_belongs() -> None:
    first = trade(1, "B", 10, 1000.0)._replace(**{ACCOUNT: "desk1"})
    second = trade(2, "S", 5, 600.0, 1)._replace(**{ACCOUNT: "desk2"})
    found = unwarned(lambda: td.daily_pnl(book(first, second), prices={}))
    assert [row.account for row in found] == ["desk1", "desk2"]
    part = found.filter(account="desk2")
    assert [issue.account for issue in part.issues] == ["desk2"]
    assert [row.account for row in part.pnl] == ["desk2"]


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (5, "prices must be a mapping or a Series by security_id, a function"),
        ("closes.csv", "prices must be a mapping"),
        ([{"day": MONDAY, "price": 1.0}], "prices must have the columns security_id"),
    ],
)
def test_prices_that_cannot_be_meant_are_refused(prices: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        td.daily_pnl(held(), prices=prices)


def test_a_price_that_is_given_twice_is_refused() -> None:
    row = {"day": MONDAY, ID: "10", "price": 1.0}
    with pytest.raises(ValueError, match="prices has '10' twice on 2026-11-20"):
        td.daily_pnl(held(), prices=[row, {**row, "price": 2.0}])


def test_days_with_a_zone_and_shorts_and_isins() -> None:
    aware = held(5).localize("Asia/Kolkata")
    prices: Callable[..., float] = lambda day, row: 100.0  # noqa: E731
    assert td.daily_pnl(aware, prices=prices).net == 80.0
    assert td.daily_pnl(aware, prices=prices, match_by="isin", shorts=False).net == 80.0
    assert at(0).date() == td.daily_pnl(aware, prices=prices)[0].day
