"""The desk's day against figures computed by hand, and against an oracle that shares no code."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import DAY, at, book, trade

TWO_DAYS = book(
    trade(1, "B", 10, 1000.0),
    trade(2, "S", 4, 480.0, exch_trade_time=at(0, 1)),
    trade(3, "B", 2, 250.0, exch_trade_time=at(9, 1), product="I", segment="D"),
)


def closing(price: float) -> Callable[[Any], float]:
    """The same price for every security: the trades share a number in two segments."""
    return lambda _: price


def test_the_day_is_the_latest_and_its_sums_are_by_hand() -> None:
    day = td.day_pnl(TWO_DAYS, prices=closing(130.0), charges=[td.ChargeRate(stt_sell=0.1)])
    assert day.day == DAY + dt.timedelta(days=1)
    delivery, intraday = sorted(day, key=lambda row: row.product)
    assert (delivery.sell_quantity, delivery.sell_average, delivery.buy_average) == (4, 120.0, None)
    assert (delivery.open_quantity, delivery.open_average, delivery.price) == (6, 100.0, 130.0)
    assert (delivery.realised, delivery.unrealised, delivery.charges) == (80.0, 180.0, 48.0)
    assert (delivery.net, intraday.net) == (212.0, 10.0)
    assert (day.realised, day.unrealised, day.charges, day.net) == (80.0, 190.0, 48.0, 222.0)
    assert repr(day).startswith("DayPnl: 2026-11-21: net 222.00, realised 80.00, unrealised 190.00")


def test_sums_by_a_column_add_up() -> None:
    day = td.day_pnl(TWO_DAYS, prices=closing(130.0))
    assert {row.group: row.net for row in day.by("segment")} == {"E": 260.0, "D": 10.0}
    assert {row.group: row.net for row in day.by("product")} == {"C": 260.0, "I": 10.0}
    assert [row.group for row in day.by("kind")] == ["shares"]
    with pytest.raises(KeyError, match="no column 'sector'"):
        day.by("sector")
    with pytest.raises(TypeError, match="net is not text"):
        day.by("net")


def test_what_has_no_price_is_in_no_sum() -> None:
    day = td.day_pnl(TWO_DAYS, prices=lambda row: 130.0 if row.segment == "E" else None)
    assert [row.product for row in day.unpriced] == ["I"]
    assert (day.unpriced[0].unrealised, day.unpriced[0].net) == (None, 0.0)
    assert (day.unrealised, day.net) == (180.0, 260.0)
    assert "1 open row without a price, not included" in repr(day)
    assert len(td.day_pnl(TWO_DAYS).unpriced) == 2
    assert day.by("segment").filter(group="D")[0].unpriced == 1


def test_changes_of_several_days_add_up() -> None:
    monday = td.day_pnl(TWO_DAYS, day=DAY, prices=closing(110.0), previous_prices={})
    tuesday = td.day_pnl(TWO_DAYS, prices=closing(130.0), previous_prices=closing(110.0))
    assert (monday.change, tuesday.change) == (100.0, 170.0)
    assert td.day_pnl(TWO_DAYS, prices=closing(130.0)).change is None
    assert td.day_pnl(TWO_DAYS, prices=closing(130.0), previous_prices={}).change is None


def test_a_day_starts_with_the_opening() -> None:
    monday = td.day_pnl(TWO_DAYS, day=DAY)
    tuesday = TWO_DAYS.filter(exch_trade_time__gt=DAY)
    chained = td.day_pnl(tuesday, opening=monday.pnl.open_lots, prices=closing(130.0))
    assert chained == td.day_pnl(TWO_DAYS, prices=closing(130.0))


def test_a_day_without_trades_values_the_opening() -> None:
    opening = td.day_pnl(TWO_DAYS, day=DAY).pnl.open_lots
    day = td.day_pnl(book(), opening=opening, prices=closing(101.0))
    assert (day.day, day.net) == (None, 10.0)
    assert len(td.day_pnl(book())) == 0


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
    made: list[td.Trade], day: dt.date, prices: dict[str, float], settle: Any, merge: bool
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
        shares = held[row.security_id, None if merge else row.product]
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
    merge = rng.random() < 0.5
    found = td.day_pnl(
        td.TradeBook(made),
        day=day,
        prices=prices,
        settle=None if settle is None else {"20": settle},
        charges=RATES,
        merge={"product"} if merge else (),
    )
    realised, unrealised, charges = oracle(made, day, prices, settle, merge)
    assert (found.realised, found.unrealised) == (float(realised), float(unrealised))
    # The sum of the rows, each of which is the nearest float.
    assert found.charges == pytest.approx(float(charges), rel=1e-12)
    assert found.net == pytest.approx(float(realised + unrealised - charges), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_a_day_is_what_the_oracle_computes(seed: int) -> None:
    check(seed)
