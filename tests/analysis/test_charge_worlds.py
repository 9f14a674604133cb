"""Charges of random worlds at random rates, against an oracle that charges trade by trade."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, TIME, unwarned
from worlds import EXPIRY, FUTURE, LOTS, World, world
from worlds.charges import (
    LEVIES,
    as_on_notes,
    is_settlement,
    levied,
    note_of,
    on_notes,
    random_rates,
)

NAMES = {"exchange": "exchange_charges"}
KNOWN: dict[Any, int] = {"30": FUTURE.multiplier, "40": LOTS.multiplier}
KNOWN |= {(exchange, "E", "10"): 1 for exchange in ("NSE", "BSE")}
BY_NOTE = ("account", "client_id", "exchange", "segment")
NIGHT = [dt.time(23, 59), dt.time(0, 1), dt.time(5, 59), dt.time(6), dt.time(9, 15)]


def sums(found: Iterable[Any], *by: str) -> dict[Any, dict[str, Fraction]]:
    """The levies of each client, exchange and segment, say."""
    totals: dict[Any, dict[str, Fraction]] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for row in found:
        levies = totals[tuple(row[name] for name in by)]
        for name in LEVIES:
            levies[name] += Fraction(repr(row[NAMES.get(name, name)]))
    return totals


def charged_rows(made: World, rng: random.Random) -> list[td.Trade]:
    """The trades: some at night, some spreads of a negative price, some settlements."""
    at_night = rng.random() < 0.4
    settles = rng.random() < 0.4
    rows = []
    for event in made.events:
        row = event.row
        if row.lot_size is None:
            row = row._replace(lot_size=4)
        if row[EXPIRY] and rng.random() < 0.1:
            row = row._replace(
                trade_value=-td.required(row.trade_value),
                traded_price=-td.required(row.traded_price),
            )
        if at_night:
            day = td.required(row[TIME]).date()
            row = row._replace(**{TIME: dt.datetime.combine(day, rng.choice(NIGHT))})
        if settles and row[EXPIRY] and rng.random() < 0.2:
            row = row._replace(order_no=None, trade_no=None)
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "seed", [0, 50, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(100, 2000, 50))]
)
def test_charges_are_those_of_each_order_on_its_own(seed: int) -> None:
    for number in range(seed, seed + 50):
        check(random.Random(number))


def check(rng: random.Random) -> None:
    made = world(rng)
    rows = charged_rows(made, rng)
    settled = any(map(is_settlement, rows)) and rng.random() < 0.5
    rates = random_rates(rng, settled=settled)
    trades, given = td.TradeBook(rows), [each.rate for each in rates]
    known_rows = [
        row._replace(**{EXPIRY: event.contract.expiry})
        for row, event in zip(rows, made.events, strict=True)
    ]
    lots = [
        Fraction(
            td.required(row.quantity),
            td.required(row.lot_size) if event.contract.multiplier == 1 else 1,
        )
        for row, event in zip(rows, made.events, strict=True)
    ]
    levies = levied(known_rows, rates, lots)
    notes = on_notes(known_rows, levies)
    expected: dict[Any, Any] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for (account, client, _, *place), of_note in notes.items():
        for name in LEVIES:
            expected[account, client, *place][name] += of_note[name]
    found = unwarned(lambda: td.charges(trades, given, multipliers=KNOWN))
    for key, of_key in sums(found, *BY_NOTE).items():
        for name in LEVIES:
            assert float(of_key[name]) == pytest.approx(float(expected[key][name]), abs=1e-9)
    noted: Any = unwarned(
        lambda: td.charges(trades, given, multipliers=KNOWN, day=DAY, rounding="note")
    )
    on_day = {key[:2] + key[3:]: value for key, value in notes.items() if key[2] == DAY}
    assert sums(noted, *BY_NOTE) == {key: as_on_notes(of) for key, of in on_day.items()}
    assert min((row[NAMES.get(name, name)] for row in noted for name in LEVIES), default=0) >= 0
    check_trades(trades, given, known_rows, levies)


def check_trades(trades: td.TradeBook, rates: list[Any], rows: list[Any], levies: Any) -> None:
    """Each trade has its share, and trades add up to what their keys and notes are charged."""
    shares: Any = unwarned(lambda: td.charges(trades, rates, multipliers=KNOWN, per="trade"))
    assert [share.time for share in shares] == [row[TIME] for row in rows]
    for share, of_trade, row in zip(shares, levies, rows, strict=True):
        for name in LEVIES:
            if row.trade_value:
                amount = share[NAMES.get(name, name)]
                assert amount == pytest.approx(float(of_trade[name]), abs=1e-6)
    names = (*BY_NOTE, "security_id", "expiry_date", "product")
    by_key: Any = unwarned(lambda: td.charges(trades, rates, multipliers=KNOWN))
    of_trades, of_keys = sums(shares, *names), sums(by_key, *names)
    for key, of_key in of_keys.items():
        for name in LEVIES:
            assert float(of_trades[key][name]) == pytest.approx(float(of_key[name]))
    options: Any = {"multipliers": KNOWN, "rounding": "note"}
    noted: Any = unwarned(lambda: td.charges(trades, rates, per="trade", **options))
    by_key = unwarned(lambda: td.charges(trades, rates, **options))
    assert sums(noted, *names) == sums(by_key, *names)
    notes: dict[Any, Any] = defaultdict(lambda: dict.fromkeys(LEVIES, Decimal(0)))
    for share, row in zip(noted, rows, strict=True):
        for name in LEVIES:
            notes[note_of(row)][name] += Decimal(repr(share[NAMES.get(name, name)]))
    assert notes == {key: as_on_notes(of) for key, of in on_notes(rows, levies).items()}
    assert min(share.total for share in noted) >= 0
