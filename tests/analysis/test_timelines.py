"""Random timelines against an oracle in fractions, at any moment, and cuts of one ledger."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl
import pytest

import tradingdata as td
from analysis_samples import TIME, unwarned
from worlds.timeline import (
    DAYS,
    EXPIRY,
    FUTURE,
    ID,
    OPTIONS,
    UNDATED,
    Key,
    Oracle,
    Timeline,
    key_of,
    quantities_of,
    timeline,
)

ROUNDING = Fraction(60, 100)  # of all parts of a key, each to the paisa
RATES = [
    td.ChargeRate(where={"settled": True}, stt_sell=0.001),
    td.ChargeRate(brokerage=0.003, minimum=0.5, cap=2.5, per_order=1, stt_sell=0.001, gst=0.18),
]
PERS = [(), ("by",), ("security_id", "expiry_date"), ("by", "product", "security_id")]


def dicts_of(prices: Any) -> list[dict[str, Any]]:
    """Prices of days and contracts as dicts, in which a future has its expiry."""
    names = ("day", "security_id", "expiry_date", "price")
    rows: list[Any] = []
    for day, of_day in prices.items():
        for key, price in of_day.items():
            expiry = FUTURE[EXPIRY] if key == FUTURE[ID] else None
            rows.append((day, *(key if isinstance(key, tuple) else (key, expiry)), price))
    return [dict(zip(names, row, strict=True)) for row in rows]


def frame_of(prices: Any) -> pl.DataFrame:
    types = {"day": pl.Date, "security_id": pl.String, "expiry_date": pl.Date, "price": pl.Float64}
    return pl.DataFrame(dicts_of(prices), schema=types)


FORMS: list[Callable[[Any], Any]] = [
    *(dicts_of, frame_of, lambda prices: frame_of(prices).to_pandas()),
    lambda prices: frame_of(prices).to_arrow(),
]


def state(made: Timeline, ledger: td.Ledger, stop: dt.datetime) -> Oracle:
    """What the oracle has before a moment, as far as the ledger's time runs."""
    return Oracle(made, stop, max(ledger.until, (stop - dt.timedelta(microseconds=1)).date()))


def same_amounts(found: dict[Any, Fraction], expected: dict[Any, Fraction]) -> None:
    for key in {*found, *expected}:
        apart = found.get(key, Fraction(0)) - expected.get(key, Fraction(0))
        assert abs(apart) <= ROUNDING, key


def check_lots(made: Timeline, ledger: td.Ledger, stop: dt.datetime) -> None:
    """A cut at a moment has the lots that the oracle has then, and their value at any prices."""
    last = (stop - dt.timedelta(microseconds=1)).date()
    lots = [
        (key, lot)
        for key, of_key in state(made, ledger, stop).held.items()
        for lot in of_key
        if not key[2] or key[2] >= last
    ]
    at = last if stop.time() == dt.time() else stop
    found = [*ledger.open_lots(at)]
    signs = [1 if lot.side == "long" else -1 for lot in found]
    counts: Counter[Any] = Counter()
    costs: dict[Key, Fraction] = defaultdict(Fraction)
    for lot, sign in zip(found, signs, strict=True):
        counts[key_of(lot), sign, lot.time or UNDATED] += lot.quantity
        costs[key_of(lot)] += sign * Fraction(repr(lot.value))
    assert counts == quantities_of(lots)
    expected: dict[Key, Fraction] = defaultdict(Fraction)
    worth: dict[Key, Fraction] = defaultdict(Fraction)
    for key, lot in lots:
        expected[key] += lot.sign * lot.cost
        price = 17 * lot.quantity * made.unit(key[1], stop - dt.timedelta(microseconds=1))
        worth[key] += lot.sign * (price - lot.cost)
    same_amounts(costs, expected)
    valued = unwarned(partial(ledger.unrealised, lambda row: 17.0, at))
    same_amounts({key_of(row): Fraction(repr(row.unrealised)) for row in valued}, worth)


def check_day(made: Timeline, ledger: td.Ledger, day: dt.date) -> None:
    after = dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1)
    of_days = state(made, ledger, after).realised
    rows = unwarned(partial(ledger.realised, day))
    found = {key_of(row): Fraction(repr(row.realised)) for row in rows}
    same_amounts(found, {key: amount for (key, on), amount in of_days.items() if on == day})
    matched = dict.fromkeys(found, Fraction(0))
    for match in rows.matches:
        matched[key_of(match)] += Fraction(repr(match.realised))
    assert matched == found


def check_days(made: Timeline, ledger: td.Ledger, rng: random.Random) -> None:
    """Each day has what was realised on it and what is open then, at the last price that is known.

    Prices are those of a function, a mapping of days, dicts or a frame; some are missing. Charges
    are those of each trade.
    """
    prices: Any = {
        day: {
            one: float(rng.randint(5, 90)) for one in ("10", "11", "12", "30") if rng.random() < 0.8
        }
        | {("40", expiry): 30.0 for expiry, _ in OPTIONS}
        for day in DAYS
    }

    def price(day: dt.date, security: str | None, expiry: dt.date | None) -> float | None:
        of_day = prices.get(day, {})
        found: float | None = of_day.get((security, expiry), of_day.get(security))
        return found

    per = rng.choice(PERS)
    given = rng.choice([prices, partial(price_of_row, price), rng.choice(FORMS)(prices)])
    daily = unwarned(partial(ledger.daily, given, days=DAYS, charges=RATES, per=per))
    found = {(group_of(row, per), row.day): row for row in daily}
    for day in DAYS:
        after = dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1)
        oracle = state(made, ledger, after)
        realised: dict[Any, Fraction] = defaultdict(Fraction)
        worth: dict[Any, Fraction] = defaultdict(Fraction)
        unknown = set()
        for (key, on), amount in oracle.realised.items():
            realised[group_of_key(key, per)] += amount if on == day else 0
        for key, lots in oracle.held.items():
            days = [one for one in DAYS if oracle.seen.get(key, day) <= one <= day]
            known = [price(one, key[1], key[2]) for one in days]
            last = next((one for one in reversed(known) if one is not None), None)
            for lot in lots if not key[2] or key[2] >= day else ():
                unit = made.unit(key[1], after - dt.timedelta(microseconds=1))
                value = Fraction(last or 0) * lot.quantity * unit
                worth[group_of_key(key, per)] += lot.sign * (value - lot.cost)
                unknown |= {group_of_key(key, per)} if last is None else set()
        for group in {*worth, *realised, *(group for group, on in found if on == day)}:
            row: Any = found.get((group, day))
            amounts: Any = (row.realised, row.unrealised) if row else (0.0, 0.0)
            assert abs(float(realised[group]) - amounts[0]) <= ROUNDING
            assert (amounts[1] is None) == (group in unknown)
            assert group in unknown or abs(float(worth[group]) - amounts[1]) <= ROUNDING
    owed: dict[Any, float] = defaultdict(
        float
    )  # settlements of opening lots do not say whose they are
    for row in daily:
        owed[row.client_id, row.day] += row.charges
    charged = td.TradeBook([*made.trades, *unwarned(lambda: ledger.settlements)])
    options: Any = {"multipliers": {FUTURE[ID]: 1}}
    for share in unwarned(lambda: td.charges(charged, RATES, per="trade", **options)):
        owed[share.client_id, share.time.date()] -= share.total
    assert [each for each in owed.values() if abs(each) > 1e-5] == []
    totals: dict[Any, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for row in daily:  # net adds up to what was realised and what is unrealised, exactly
        total = totals[group_of(row, per)]
        total[0] += Fraction(repr(row.realised)) - Fraction(repr(row.charges))
        total[1] += Fraction(repr(row.net or 0.0))
        if row.unrealised is not None:
            assert total[1] == total[0] + Fraction(repr(row.unrealised))


def price_of_row(
    price: Callable[[dt.date, Any, Any], float | None], day: dt.date, row: Any
) -> float | None:
    return price(day, row.security_id, row.expiry_date)


def group_of(row: Any, per: tuple[str, ...]) -> tuple[Any, ...]:
    return row.client_id, *(row[name] for name in sorted(per))


def group_of_key(key: Key, per: tuple[str, ...]) -> tuple[Any, ...]:
    names = {"security_id": key[1], "expiry_date": key[2], "by": key[3], "product": key[4]}
    return key[0], *(names[name] for name in sorted(per))


def ledger_of(made: Timeline) -> td.Ledger | None:
    """The ledger of a timeline, unless a key has lots of both sides at once, which is refused."""
    try:
        return td.Ledger(td.TradeBook(made.trades), **made.arguments)
    except ValueError as error:
        if "opening has long and short lots" not in str(error):
            raise
        assert Oracle(made, dt.datetime.max, dt.date(9000, 1, 1)).sides
        return None


@pytest.mark.parametrize(
    "seed",
    [0, 50, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(100, 1000, 50))],
)
def test_every_moment_is_what_the_oracle_has(seed: int) -> None:
    checked = 0
    for number in range(seed, seed + 50):
        rng = random.Random(number)
        made = timeline(rng)
        ledger = ledger_of(made)
        if ledger is None:
            continue
        check_days(made, ledger, rng)
        changed = [each._moment().date() for each in made.changes]
        for day in {*rng.sample(DAYS, 3), *changed} & {*DAYS}:
            if day >= min(row[TIME] for row in made.trades).date():
                checked += 1
                check_day(made, ledger, day)
                check_lots(made, ledger, dt.datetime.combine(day, dt.time(12, 0, 1)))
                check_lots(made, ledger, dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1))
    assert checked > 50


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(25, 350, 25))]
)
def test_a_cut_is_what_the_trades_until_then_have(seed: int) -> None:
    """The same question, asked of a ledger of the trades and changes until the end of a day."""
    for number in range(seed, seed + 25):
        rng = random.Random(number)
        made = timeline(rng)
        ledger = ledger_of(made)
        if ledger is None:
            continue
        first = min(row[TIME] for row in made.trades).date()
        for day in rng.sample([day for day in DAYS if day >= first], 3):
            stop = dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1)
            early = td.TradeBook(row for row in made.trades if row[TIME] < stop)
            arguments = made.arguments | {
                "changes": [each for each in made.changes if each._moment() < stop],
                "opening": [lot for lot in made.opening if not lot["time"] or lot["time"] < stop],
                "settle": {key: price for key, price in made.settlements.items() if key[1] <= day},
            }
            until = unwarned(partial(td.Ledger, early, **arguments, until=day))
            same(ledger, until, day)
            check_next_days(made, ledger, day)


def check_next_days(made: Timeline, ledger: td.Ledger, day: dt.date) -> None:
    """The lots of a day open the days after it, whose changes are passed with the earlier ones."""
    stop = dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1)
    rest = td.TradeBook(row for row in made.trades if row[TIME] >= stop)
    arrivals = [lot for lot in made.opening if lot["time"] and lot["time"] >= stop]
    first = min((row[TIME].date() for row in rest), default=dt.date.max)
    if not rest or any(lot["time"].date() < first for lot in arrivals):
        return  # a lot that is older than all trades does not arrive
    arguments = made.arguments | {"opening": ledger.open_lots(day).to_dicts() + arrivals}
    then = unwarned(partial(td.Ledger, rest, **arguments, until=ledger.until))
    lots: list[dict[Any, Fraction]] = [defaultdict(Fraction) for _ in "ab"]
    realised: list[dict[Any, Fraction]] = [defaultdict(Fraction) for _ in "ab"]
    for at, each in enumerate((ledger, then)):
        for lot in each.open_lots():
            lots[at][key_of(lot), lot.side, lot.quantity] += Fraction(repr(lot.value))
        for on in DAYS:
            for row in unwarned(partial(each.realised, on)) if day < on <= ledger.until else ():
                realised[at][key_of(row), on] += Fraction(repr(row.realised))
    same_amounts(*lots)
    same_amounts(*realised)


def same(ledger: td.Ledger, until: td.Ledger, day: dt.date) -> None:
    cut, whole = (unwarned(partial(each.realised, day)) for each in (ledger, until))
    assert rows(cut) == rows(whole)
    assert rows(cut.matches) == rows(whole.matches)
    assert rows(cut.open_lots) == rows(whole.open_lots)
    assert rows(cut.expired) == rows(whole.expired)
    price = 17.25
    one, other = (
        unwarned(partial(each.day, day, prices=lambda row: price)) for each in (ledger, until)
    )
    assert rows(one) == rows(other)
    assert (one.realised, one.unrealised, one.net) == (other.realised, other.unrealised, other.net)


def rows(table: Any) -> list[str]:
    """The rows of a table, which may be in another order."""
    return sorted(map(repr, table))


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_the_days_of_a_timeline_add_up(seed: int) -> None:
    for number in range(seed, seed + 20):
        made = timeline(random.Random(number))
        ledger = ledger_of(made)
        contracts = {contract_of(row) for row in (*made.trades, *made.opening)}
        expiring = {contract for contract in contracts if contract[1] is not None}
        if ledger is None or not expiring <= made.settlements.keys():
            continue
        daily = unwarned(partial(ledger.daily, lambda row: 10.0, days=DAYS))
        end = unwarned(partial(ledger.unrealised, lambda row: 10.0))
        last = {}
        for row in daily:
            last[row.client_id] = Fraction(repr(row.unrealised))
        assert sum(last.values()) == Fraction(repr(end.unrealised))
        assert daily.realised == unwarned(ledger.realised).realised


def contract_of(row: Any) -> tuple[str, Any]:
    fields = row if isinstance(row, dict) else row._asdict()
    return fields["security_id"], fields.get("expiry_date")
