"""Charges of random worlds at random rates, against an oracle that charges trade by trade."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, unwarned
from worlds import EXPIRY, FUTURE, LOTS, World, world
from worlds.charges import LEVIES, as_on_notes, charged, random_rates

NAMES = {"exchange": "exchange_charges"}


def sums(found: Iterable[Any], *by: str) -> dict[Any, dict[str, Fraction]]:
    """The levies of each client, exchange and segment, say."""
    totals: dict[Any, dict[str, Fraction]] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for row in found:
        levies = totals[tuple(row[name] for name in by)]
        for name in LEVIES:
            levies[name] += Fraction(repr(row[NAMES.get(name, name)]))
    return totals


def with_negative_values(made: World, rng: random.Random) -> list[td.Trade]:
    """The trades, of which some futures have a negative price, as a spread may."""
    return [
        row._replace(
            trade_value=-td.required(row.trade_value), traded_price=-td.required(row.traded_price)
        )
        if row[EXPIRY] and rng.random() < 0.1
        else row
        for row in (event.row for event in made.events)
    ]


@pytest.mark.parametrize(
    "seed", [0, 50, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(100, 2000, 50))]
)
def test_charges_are_those_of_each_order_on_its_own(seed: int) -> None:
    for number in range(seed, seed + 50):
        check(random.Random(number))


def check(rng: random.Random) -> None:
    made = world(rng)
    rows, rates = with_negative_values(made, rng), random_rates(rng)
    trades = td.TradeBook(rows)
    known_rows = [
        row._replace(**{EXPIRY: event.contract.expiry})
        for row, event in zip(rows, made.events, strict=True)
    ]
    given = [each.rate for each in rates]
    known = {"30": FUTURE.multiplier, "40": LOTS.multiplier}
    by = ("account", "client_id", "exchange", "segment")
    notes = charged(known_rows, rates)
    expected: dict[Any, Any] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for (account, client, _, *place), levies in notes.items():
        for name in LEVIES:
            expected[account, client, *place][name] += levies[name]
    found = unwarned(lambda: td.charges(trades, given, multipliers=known))
    for key, levies in sums(found, *by).items():
        for name in LEVIES:
            assert float(levies[name]) == pytest.approx(float(expected[key][name]), abs=1e-9)
    noted: Any = unwarned(
        lambda: td.charges(trades, given, multipliers=known, day=DAY, rounding="note")
    )
    on_day = {key[:2] + key[3:]: value for key, value in notes.items() if key[2] == DAY}
    assert sums(noted, *by) == {key: as_on_notes(levies) for key, levies in on_day.items()}
    assert min((row[NAMES.get(name, name)] for row in noted for name in LEVIES), default=0) >= 0
