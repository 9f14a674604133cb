"""What trades are charged, trade by trade, written from the docstrings of ``ChargeRate`` and
``charges``.

It uses nothing of the package's calculations: a trade is its row, a rate is applied to it by plain
Python, and each executed order is added up on its own.
"""

from __future__ import annotations

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
Meets = Callable[[Any], bool]


@dataclass
class Rate:
    """A rate, and what its conditions on a trade say."""

    rate: td.ChargeRate
    meets: Meets
    squared_off: bool | None = None

    def number(self, name: str) -> Fraction:
        return Fraction(repr(getattr(self.rate, name)))


@dataclass
class _Part:
    trade: Any
    rate: Rate
    rank: int
    value: Fraction
    share: Fraction  # of the trade


def random_rates(rng: random.Random) -> list[Rate]:
    """Some rates, the last of which covers everything; GST is the same in all of them."""
    conditions: list[tuple[dict[str, Any], Meets]] = [
        ({"product": "I"}, lambda row: row.product == "I"),
        ({"segment": "E"}, lambda row: row.segment == "E"),
        ({"exchange": {"BSE"}}, lambda row: row.exchange == "BSE"),
        ({"trade_value__lt": 60}, lambda row: row.trade_value < 60),
        ({"quantity__between": (2, 5)}, lambda row: 2 <= row.quantity <= 5),
        ({"expiry_date__ne": None}, lambda row: row.expiry_date is not None),
    ]
    taxed = rng.sample([levy for levy in LEVIES if levy != "gst"], rng.randint(1, 4))
    chosen: list[tuple[dict[str, Any], Meets]] = [
        *rng.sample(conditions, rng.randint(0, 3)),
        ({}, lambda row: True),
    ]
    rates = []
    for where, meets in chosen:
        squared = rng.choice([None, None, True, False]) if where else None
        given = where if squared is None else where | {"squared_off": squared}
        fractions = {
            name: rng.randint(0, 40) / 10000
            for name in ("brokerage", "stt_buy", "stt_sell", "exchange", "sebi", "stamp_buy")
        }
        least = rng.choice([0.0, 0.05])
        rate = td.ChargeRate(
            where=given,
            minimum=least,
            cap=rng.choice([None, 0.1, 2.5]),
            per_order=rng.choice([0.0, 1.0]),
            other_buy=rng.choice([0.0, 0.001]),
            other_sell=rng.choice([0.0, 0.002]),
            gst=0.18,
            gst_on=taxed,
            **fractions,
        )
        rates.append(Rate(rate, meets, squared))
    return rates


def order_of(row: Any) -> tuple[Any, ...]:
    """Which executed order a trade is of."""
    day = row.exch_trade_time.date()
    return row.account, row.client_id, day, row.exchange, row.segment, row.order_no, row.txn_type


def note_of(row: Any) -> tuple[Any, ...]:
    """On which contract note a trade is."""
    return row.account, row.client_id, row.exch_trade_time.date(), row.exchange, row.segment


def charged(trades: Iterable[Any], rates: list[Rate]) -> dict[Any, dict[str, Fraction]]:
    """The levies of each contract note."""
    rows = list(trades)
    traded: dict[Any, int] = defaultdict(int)
    for row in rows:
        traded[_contract_day(row), row.txn_type] += row.quantity
    orders: dict[Any, list[_Part]] = defaultdict(list)
    for row in rows:
        own = traded[_contract_day(row), row.txn_type]
        offset = Fraction(min(own, traded[_contract_day(row), "BS".replace(row.txn_type, "")]), own)
        for squared, share in ((True, offset), (False, 1 - offset)):
            if share:
                rank, rate = next(
                    (rank, rate)
                    for rank, rate in enumerate(rates)
                    if rate.squared_off in (None, squared) and rate.meets(row)
                )
                value = abs(Fraction(repr(row.trade_value))) * share
                orders[order_of(row)].append(_Part(row, rate, rank, value, share))
    notes: dict[Any, dict[str, Fraction]] = defaultdict(lambda: dict.fromkeys(LEVIES, Fraction(0)))
    for parts in orders.values():
        levies = notes[note_of(parts[0].trade)]
        before = dict(levies)
        first = min(parts, key=lambda part: part.rank).rate
        brokerage = sum(part.value * part.rate.number("brokerage") for part in parts)
        cap: Any = math.inf if first.rate.cap is None else first.number("cap")
        levies["brokerage"] += max(first.number("minimum"), min(brokerage, cap))
        levies["brokerage"] += first.number("per_order")
        for part in parts:
            for levy, (on_purchase, on_sale) in BY_SIDE.items():
                name = on_purchase if part.trade.txn_type == "B" else on_sale
                levies[levy] += part.value * part.rate.number(name) if name else 0
        taxed = sum(levies[name] - before[name] for name in first.rate.gst_on)
        levies["gst"] += taxed * first.number("gst")
    return notes


def _contract_day(row: Any) -> tuple[Any, ...]:
    """What sales must share with purchases to offset them, which products are no part of."""
    contract = row.exchange, row.segment, row.security_id, row.expiry_date
    return row.account, row.client_id, contract, row.exch_trade_time.date()


def half_up(amount: Fraction, unit: Fraction) -> Fraction:
    return math.floor(amount / unit + Fraction(1, 2)) * unit


def as_on_notes(levies: dict[str, Fraction]) -> dict[str, Fraction]:
    """STT and stamp duty to the rupee, the others to the paisa."""
    return {
        name: half_up(amount, Fraction(1) if name in ("stt", "stamp") else Fraction(1, 100))
        for name, amount in levies.items()
    }
