"""The desk's day against an oracle that shares no code: single shares, in exact fractions."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict, deque
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, trade

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.errors.DataWarning")

RATES = [
    td.ChargeRate(where={"product": "I"}, brokerage=0.0003, cap=20, stt_sell=0.00025, gst=0.18),
    td.ChargeRate(per_order=5, stt_buy=0.001, stt_sell=0.001, exchange=0.0000297, gst=0.18),
]


def random_book(rng: random.Random) -> list[td.Trade]:
    """Trades of several days; security 20 is an option that expires on the second."""
    made = []
    for number in range(rng.randint(1, 25)):
        security = rng.choice(["10", "11", "20"])
        day = rng.randint(0, 1 if security == "20" else 3)
        quantity = rng.randint(1, 9)
        contract: dict[str, Any] = {}
        if security == "20":
            contract = {"expiry_date": DAY + dt.timedelta(days=1), "strike_price": 100.0}
        row = trade(
            number,
            rng.choice("BS"),
            quantity,
            quantity * rng.randint(1, 99999) / 100,  # a price in whole paise
            security_id=security,
            product=rng.choice("CI"),
            order_no=f"O{rng.randint(0, 9)}",
            exch_trade_time=at(number, day),
            **contract,
        )
        made.append(row)
    return made


def price_of(row: td.Trade) -> Fraction:
    return Fraction(str(row.trade_value)) / (row.quantity or 1)


def charge_of(value: dict[str, Fraction], product: str) -> Fraction:
    total = value["B"] + value["S"]
    if product == "I":
        brokerage = min(Fraction(20), total * 3 / 10000)
        return brokerage * 118 / 100 + value["S"] * 25 / 100000
    fee = total * 297 / 10**7
    return (5 + fee) * 118 / 100 + total / 1000


def oracle(
    made: list[td.Trade], day: dt.date, prices: dict[str, float], settle: Any
) -> tuple[Fraction, Fraction, Fraction]:
    """Realised, unrealised and charges of the day."""
    held: dict[Any, deque[tuple[int, Fraction]]] = defaultdict(deque)
    realised = charges = Fraction(0)
    orders: dict[Any, dict[str, Fraction]] = defaultdict(lambda: dict.fromkeys("BS", Fraction(0)))
    for row in sorted(made, key=lambda row: row.exch_trade_time or at(0)):
        assert row.exch_trade_time is not None
        on = row.exch_trade_time.date()
        if on > day:
            continue
        sign = 1 if row.txn_type == "B" else -1
        shares = held[row.security_id, row.product]
        for _ in range(row.quantity or 0):
            if shares and shares[0][0] == -sign:
                _, opened = shares.popleft()
                realised += (opened - price_of(row)) * sign if on == day else 0
            else:
                shares.append((sign, price_of(row)))
        if on == day:
            order = orders[row.order_no, row.product, row.security_id]
            order[str(row.txn_type)] += Fraction(str(row.trade_value))
    for (_, product, _), value in orders.items():
        charges += charge_of(value, str(product))
    unrealised = Fraction(0)
    expiry = DAY + dt.timedelta(days=1)
    for (security, _), shares in held.items():
        for sign, opened in shares:
            if security == "20" and settle is not None and expiry <= day:
                realised += (Fraction(str(settle)) - opened) * sign if expiry == day else 0
            elif security != "20" or expiry >= day:
                unrealised += (Fraction(str(prices[str(security)])) - opened) * sign
    return realised, unrealised, charges


def check(seed: int) -> None:
    rng = random.Random(seed)
    made = random_book(rng)
    day = DAY + dt.timedelta(days=rng.randint(0, 3))
    prices = {name: rng.randint(1, 99999) / 100 for name in ("10", "11", "20")}
    settle = rng.choice([None, 0, 12.35])
    found = td.day_pnl(
        td.TradeBook(made),
        day=day,
        prices=prices,
        settle=None if settle is None else {"20": settle},
        charges=RATES,
    )
    realised, unrealised, charges = oracle(made, day, prices, settle)
    assert (found.realised, found.unrealised) == (float(realised), float(unrealised))
    # The sum of the rows, each of which is the nearest float.
    assert found.charges == pytest.approx(float(charges), rel=1e-12)
    assert found.net == pytest.approx(float(realised + unrealised - charges), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_a_day_is_what_the_oracle_computes(seed: int) -> None:
    check(seed)
