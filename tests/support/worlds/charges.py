"""What trades are charged, trade by trade, written from the docstrings of ``ChargeRate`` and
``charges``.

It uses nothing of the package's calculations: a trade is its row, a rate is applied to it by plain
Python, and each executed order is added up on its own.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import tradingdata as td

BY_SIDE = {  # levy: its fields for purchases and for sales
    "stt": ("stt_buy", "stt_sell"),
    "exchange": ("exchange", "exchange"),
    "sebi": ("sebi", "sebi"),
    "stamp": ("stamp_buy", None),
    "other": ("other_buy", "other_sell"),
}
LEVIES = ("brokerage", *BY_SIDE, "gst")
Levies = dict[str, Fraction]
Meets = Callable[[Any], bool]


@dataclass
class Rate:
    """A rate, and what its conditions on a trade and on the value of an order say."""

    rate: td.ChargeRate
    meets: Meets
    squared_off: bool | None = None
    settled: bool | None = None
    order_value: Callable[[Fraction], bool] = lambda value: True

    def number(self, name: str) -> Fraction:
        return Fraction(repr(getattr(self.rate, name)))


@dataclass
class _Part:
    """The part of a trade that has one rate."""

    at: int
    rate: Rate
    rank: int
    value: Fraction
    share: Fraction


def random_rates(rng: random.Random, *, settled: bool = False) -> list[Rate]:
    """Some rates, the last of which covers everything; GST is the same in all of them."""
    conditions: list[tuple[dict[str, Any], Meets]] = [
        ({"product": "I"}, lambda row: row.product == "I"),
        ({"segment": "E"}, lambda row: row.segment == "E"),
        ({"exchange": {"BSE"}}, lambda row: row.exchange == "BSE"),
        ({"trade_value__lt": 60}, lambda row: row.trade_value < 60),
        ({"quantity__between": (2, 5)}, lambda row: 2 <= row.quantity <= 5),
        ({"expiry_date__ne": None}, lambda row: row.expiry_date is not None),
    ]
    slabs: list[tuple[dict[str, Any], Callable[[Fraction], bool]]] = [
        ({"order_value__lt": 100}, lambda value: value < 100),
        ({"order_value__between": (50, 400)}, lambda value: 50 <= value <= 400),
    ]
    taxed = rng.sample([levy for levy in LEVIES if levy != "gst"], rng.randint(1, 4))
    chosen: list[tuple[dict[str, Any], Meets]] = [
        *rng.sample(conditions, rng.randint(0, 3)),
        ({}, lambda row: True),
    ]
    rates = []
    if settled:
        rate = td.ChargeRate(where={"settled": True}, **_numbers(rng), gst=0.18, gst_on=taxed)
        rates.append(Rate(rate, lambda row: True, settled=True))
    for where, meets in chosen:
        squared = rng.choice([None, None, True, False]) if where else None
        given = where if squared is None else where | {"squared_off": squared}
        made = Rate(td.ChargeRate(), meets, squared)
        if where and rng.random() < 0.3:
            slab, made.order_value = rng.choice(slabs)
            given = given | slab
        numbers = _numbers(rng)
        average = rng.random() < 0.3
        made.rate = td.ChargeRate(where=given, gst=0.18, gst_on=taxed, average=average, **numbers)
        rates.append(made)
    return rates


def _numbers(rng: random.Random) -> dict[str, Any]:
    names = ("brokerage", "stt_buy", "stt_sell", "exchange", "sebi", "stamp_buy")
    return {name: rng.randint(0, 40) / 10000 for name in names} | {
        "minimum": rng.choice([0.0, 0.05]),
        "minimum_per_lot": rng.choice([0.0, 0.0, 0.0, 0.02]),
        "cap": rng.choice([None, 0.1, 2.5]),
        "cap_per_lot": rng.choice([None, None, None, 0.4]),
        "per_order": rng.choice([0.0, 1.0]),
        "per_lot": rng.choice([0.0, 0.0, 0.01]),
        "other_buy": rng.choice([0.0, 0.001]),
        "other_sell": rng.choice([0.0, 0.002]),
    }


def is_settlement(row: Any) -> bool:
    """Whether a row is the settlement of an expired contract."""
    return row.order_no is None and row.trade_no is None


def order_of(row: Any) -> tuple[Any, ...]:
    """Which executed order a trade is of; a settlement is one of its own."""
    if is_settlement(row):
        return (*_contract_day(row), row.product, row.txn_type)
    day = (row.exch_trade_time - dt.timedelta(hours=6)).date()
    return row.account, row.client_id, day, row.exchange, row.segment, row.order_no, row.txn_type


def note_of(row: Any) -> tuple[Any, ...]:
    """On which contract note a trade is."""
    return row.account, row.client_id, row.exch_trade_time.date(), row.exchange, row.segment


def levied(rows: list[Any], rates: list[Rate], lots: list[Fraction]) -> list[Levies]:
    """The levies of each trade; what its order owes is divided among those of its first day."""
    traded: dict[Any, Fraction] = defaultdict(Fraction)
    turnover: dict[Any, Fraction] = defaultdict(Fraction)
    members: dict[Any, list[int]] = defaultdict(list)
    values = [abs(Fraction(repr(row.trade_value))) for row in rows]
    for at, row in enumerate(rows):
        members[order_of(row)].append(at)
        if not is_settlement(row):
            traded[_contract_day(row), row.txn_type] += row.quantity
            turnover[_contract_day(row)] += values[at]
    parts: dict[int, list[_Part]] = defaultdict(list)
    for of_order in members.values():
        total = sum((values[at] for at in of_order), Fraction(0))
        for at in of_order:
            for squared, share in _halves(rows[at], traded):
                rank, rate = _first_of(rates, rows[at], squared, total)
                parts[at].append(_Part(at, rate, rank, values[at] * share, share))
    levies = [dict.fromkeys(LEVIES, Fraction(0)) for _ in rows]
    for of_order in members.values():
        _charge_order(rows, of_order, parts, lots, values, levies)
    for at, row in enumerate(rows):
        side = "BS".index(row.txn_type)
        contract = _contract_day(row)
        for part in parts[at]:
            for levy, fields in BY_SIDE.items():
                base = part.value
                if levy == "stt" and part.rate.rate.average:
                    both = traded[contract, "B"] + traded[contract, "S"]
                    price = turnover[contract] / both if both else Fraction(0)
                    price = Fraction(0) if is_settlement(row) else price
                    base = price * row.quantity * part.share
                name = fields[side]
                levies[at][levy] += base * part.rate.number(name) if name else 0
        rate = parts[at][0].rate
        taxed = sum(levies[at][name] for name in rate.rate.gst_on)
        levies[at]["gst"] = taxed * rate.number("gst")
    return levies


def _halves(row: Any, traded: dict[Any, Fraction]) -> list[tuple[bool, Fraction]]:
    """The part of a trade that is squared off, and the other one."""
    if is_settlement(row):
        return [(False, Fraction(1))]
    contract = _contract_day(row)
    own, other = traded[contract, row.txn_type], traded[contract, "BS".replace(row.txn_type, "")]
    offset = min(own, other) / own
    return [half for half in ((True, offset), (False, 1 - offset)) if half[1]]


def _first_of(rates: list[Rate], row: Any, squared: bool, total: Fraction) -> tuple[int, Rate]:
    of_settlements = any(rate.settled for rate in rates)
    wanted: tuple[bool | None, bool] = (None, False)
    if is_settlement(row):
        wanted = (True, True) if of_settlements else (None, True)
    for rank, rate in enumerate(rates):
        is_for_all = rate.squared_off in (None, squared) and rate.settled in wanted
        if is_for_all and rate.meets(row) and rate.order_value(total):
            return rank, rate
    raise AssertionError("the last rate covers everything")


def _charge_order(
    rows: list[Any],
    of_order: list[int],
    parts: dict[int, list[_Part]],
    lots: list[Fraction],
    values: list[Fraction],
    levies: list[Levies],
) -> None:
    all_parts = [part for at in of_order for part in parts[at]]
    first = min(all_parts, key=lambda part: part.rank).rate
    owed = {
        at: sum((part.value * part.rate.number("brokerage") for part in parts[at]), Fraction(0))
        for at in of_order
    }
    count = sum(lots[at] for at in of_order)
    least = max(first.number("minimum"), first.number("minimum_per_lot") * count)
    most: Any = math.inf
    if first.rate.cap is not None:
        most = first.number("cap")
    if first.rate.cap_per_lot is not None:
        most = min(most, first.number("cap_per_lot") * count)
    limited = min(most, max(least, sum(owed.values())))
    of_lots = {
        at: sum(lots[at] * part.share * part.rate.number("per_lot") for part in parts[at])
        for at in of_order
    }
    day = min(rows[at].exch_trade_time.date() for at in of_order)
    payers = [at for at in of_order if rows[at].exch_trade_time.date() == day]
    total = limited + sum(of_lots.values()) + first.number("per_order")
    assert payers
    if len(payers) == 1:
        levies[payers[0]]["brokerage"] = total
        return
    by_value = _weights([values[at] for at in payers])
    by_brokerage = _weights([owed[at] for at in payers]) or by_value
    for number, at in enumerate(payers):
        if by_value is None or by_brokerage is None:  # nothing says whose it is
            levies[at]["brokerage"] = total / len(payers)
            continue
        more = of_lots[at]
        if len(payers) < len(of_order):
            more = sum(of_lots.values()) * by_brokerage[number]
        levies[at]["brokerage"] = limited * by_brokerage[number] + more
        levies[at]["brokerage"] += first.number("per_order") * by_value[number]


def _weights(amounts: list[Fraction]) -> list[Fraction] | None:
    total = sum(amounts)
    return [amount / total for amount in amounts] if total else None


def _contract_day(row: Any) -> tuple[Any, ...]:
    """What sales must share with purchases to offset them, which products are no part of."""
    contract = row.exchange, row.segment, row.security_id, row.expiry_date
    return row.account, row.client_id, contract, row.exch_trade_time.date()


def on_notes(rows: Iterable[Any], levies: Iterable[Levies]) -> dict[Any, Levies]:
    """The levies of each contract note."""
    notes: dict[Any, Levies] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for row, of_trade in zip(rows, levies, strict=True):
        for name, levy in of_trade.items():
            notes[note_of(row)][name] += levy
    return notes


def half_up(amount: Fraction, unit: Fraction) -> Fraction:
    return math.floor(amount / unit + Fraction(1, 2)) * unit


def as_on_notes(levies: Levies) -> Levies:
    """STT and stamp duty to the rupee, the others to the paisa."""
    return {
        name: half_up(amount, Fraction(1) if name in ("stt", "stamp") else Fraction(1, 100))
        for name, amount in levies.items()
    }
