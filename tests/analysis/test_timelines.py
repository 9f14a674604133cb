"""Random timelines against an oracle of single shares, at any moment, and cuts of one ledger."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import TIME, unwarned
from worlds.timeline import DAYS, Key, Oracle, Timeline, key_of, shares_of, timeline

PAISA = Fraction(1, 100)


def check(made: Timeline, ledger: td.Ledger, stop: dt.datetime) -> None:
    """A cut at a moment has what the oracle has then; each part is rounded to the paisa."""
    last = stop.date() - dt.timedelta(days=stop.time() == dt.time())
    oracle = Oracle(made, stop, max(ledger.until, last))
    held = {key: shares for key, shares in oracle.held.items() if not key[2] or key[2] >= last}
    counts = Counter(
        (key, share.sign, share.time) for key, shares in held.items() for share in shares
    )
    costs: dict[Key, Fraction] = defaultdict(Fraction)
    for key, shares in held.items():
        costs[key] += sum(share.sign * share.cost for share in shares)
    found, found_costs = shares_of(ledger.open_lots(stop if stop.time() != dt.time() else last))
    assert found == counts
    for key in {*costs, *found_costs}:
        assert abs(costs[key] - found_costs[key]) <= PAISA * 40


def check_day(made: Timeline, ledger: td.Ledger, day: dt.date) -> None:
    after = dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1)
    oracle = Oracle(made, after, max(ledger.until, day))
    realised: dict[Key, Fraction] = defaultdict(Fraction)
    for (key, on), amount in oracle.realised.items():
        if on == day:
            realised[key] += amount
    found: dict[Key, Fraction] = defaultdict(Fraction)
    for row in unwarned(partial(ledger.realised, day)):
        found[key_of(row)] += Fraction(repr(row.realised))
    for key in {*realised, *found}:
        assert abs(realised[key] - found[key]) <= PAISA * 40, (key, day)


def ledger_of(made: Timeline) -> td.Ledger | None:
    """The ledger of a timeline, unless a key has lots of both sides at once, which is refused."""
    try:
        return td.Ledger(td.TradeBook(made.trades), **made.arguments)
    except ValueError as error:
        if "long and short lots" not in str(error):
            raise
        assert Oracle(made, dt.datetime.max, dt.date(9000, 1, 1)).sides
        return None


@pytest.mark.parametrize(
    "seed",
    [0, 50, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(100, 1000, 50))],
)
def test_every_moment_is_what_single_shares_have(seed: int) -> None:
    checked = 0
    for number in range(seed, seed + 50):
        rng = random.Random(number)
        made = timeline(rng)
        ledger = ledger_of(made)
        if ledger is None:
            continue
        for day in rng.sample(DAYS, 4):
            if day >= min(row[TIME] for row in made.trades).date():
                checked += 1
                check_day(made, ledger, day)
                check(made, ledger, dt.datetime.combine(day, dt.time(12, 0, 1)))
                check(made, ledger, dt.datetime.combine(day, dt.time()) + dt.timedelta(days=1))
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
